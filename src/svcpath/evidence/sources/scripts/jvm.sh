# Of a JVM's arguments and of the three variables that its launcher reads (JAVA_TOOL_OPTIONS of JVMTI, the java command),
# only the properties that decide how names are cached and which family comes first leave the container.
# shellcheck shell=sh
keep='-D(sun\.net\.inetaddr\.(negative\.)?ttl|networkaddress\.cache\.(negative\.|stale\.)?ttl|java\.net\.preferIPv(4Stack|6Addresses)|java\.security\.manager)(=[A-Za-z0-9-]{0,16})?$'
for d in /proc/[0-9]*; do
  e=$(readlink "$d/exe" 2>/dev/null); case $e in */java) ;; *) continue;; esac
  p=${d#/proc/}
  printf 'jvm\t%s\n' "$p"
  { tr '\0' '\n' <"$d/environ" | grep -E '^(JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS)=' | tr ' =' '\n='; tr '\0' '\n' <"$d/cmdline"; } 2>/dev/null |
    sed 's/^[A-Z_]*=-D/-D/' | grep -E "^$keep" | while read -r l; do printf 'flag\t%s\t%s\n' "$p" "$l"; done
  h=${e%/bin/java}
  for f in "$h/conf/security/java.security" "$h/lib/security/java.security" "$h/jre/lib/security/java.security"; do
    [ -r "$f" ] && grep -E '^networkaddress\.cache\.[a-z.]+=-?[0-9]+$' "$f" | while read -r l; do printf 'property\t%s\t%s\n' "$p" "$l"; done
  done
done
:
