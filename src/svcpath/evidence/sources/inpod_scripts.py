"""Shell text that is run inside containers, and how its output is taken apart.

One exec carries several looks, each between marker lines with a random word, so that what a file holds can't pass for a
marker. The shell is whatever sh there is (dash, bash, BusyBox), and nothing is written or installed. Arguments of
processes are never read; of the environment only the variables that resolvers read leave the container.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

import msgspec

RESOLVER_VARIABLES = (
    "LOCALDOMAIN",
    "RES_OPTIONS",
    "HOSTALIASES",
    "GODEBUG",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "JAVA_OPTS",
)

#: `cat` where there is one, else the shell itself.
_SHOW = (
    'show() { if command -v cat >/dev/null 2>&1; then cat "$@"; else for f in "$@"; do [ -r "$f" ] || return 1; '
    'while IFS= read -r l || [ -n "$l" ]; do printf \'%s\\n\' "$l"; done <"$f"; done; fi; }; '
)

PROCESSES = r"""
n=0
for d in /proc/[0-9]*; do
  p=${d#/proc/}; [ "$p" = "$$" ] && continue
  exe=$(readlink "$d/exe" 2>/dev/null) || continue
  pp=; while read -r k v _; do [ "$k" = PPid: ] && { pp=$v; break; }; done <"$d/status"
  s=0; i=0
  for f in "$d"/fd/*; do
    i=$((i+1)); [ $i -gt 64 ] && break
    case $(readlink "$f" 2>/dev/null) in socket:*) s=1; break;; esac
  done
  printf 'process\t%s\t%s\t%s\t%s\n' "$p" "$pp" "$s" "$exe"
  n=$((n+1)); [ $n -gt 40 ] && break
  [ "$pp" = 0 ] && [ "$p" != 1 ] && continue
  if command -v grep >/dev/null 2>&1; then
    grep -o '/[^ ]*\(ld-musl\|libc[.-]\|libjvm\|libcares\|libpthread\)[^ ]*' "$d/maps" 2>/dev/null | sort -u |
      while read -r l; do printf 'library\t%s\t%s\n' "$p" "$l"; done
    grep -q 'libc[.-]\|ld-musl' "$d/maps" 2>/dev/null || {
      [ -r "$d/maps" ] && grep -q -a 'Go buildinf:' "$d/exe" 2>/dev/null && printf 'go\t%s\n' "$p"; }
  fi
done
"""

LIBC = r"""
getconf GNU_LIBC_VERSION 2>/dev/null
for l in /lib/ld-musl-*.so.1; do [ -e "$l" ] && printf 'musl %s\n' "$("$l" 2>&1 | tr '\n' ' ')"; done
for l in /lib64/ld-linux-*.so* /lib/ld-linux-*.so* /lib/*/ld-linux-*.so*; do
  [ -x "$l" ] && { "$l" --version 2>/dev/null | head -n 1; break; }
done
:
"""

#: Of a JVM's arguments and of the three variables that its launcher reads (JAVA_TOOL_OPTIONS of JVMTI, the java command), only
#: the properties that decide how names are cached and which family comes first leave the container.
JVM = r"""
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
"""

_PYTHON_LOOKUP = (
    "import socket,sys,os\n"
    "try: v=os.confstr('CS_GNU_LIBC_VERSION')\n"
    "except Exception: v=''\n"
    "print('libc\\t'+(v or 'unknown'))\n"
    "for n in sys.argv[1:]:\n"
    "  try:\n"
    "    a=[]\n"
    "    for r in socket.getaddrinfo(n,None,0,socket.SOCK_STREAM):\n"
    "      if r[4][0] not in a: a.append(r[4][0])\n"
    "    print(n+'\\tok\\t'+' '.join(a))\n"
    "  except socket.gaierror as e: print(n+'\\t'+str(e.args[0])+'\\t'+str(e.args[1]))\n"
    "  except Exception as e: print(n+'\\t\\t'+str(e))\n"
)
_NODE_LOOKUP = (
    "const d=require('dns');let c=process.argv.slice(1);"
    "c.forEach(n=>d.lookup(n,{all:true},(e,a)=>console.log(e?n+'\\t'+e.code+'\\t'+e.message:"
    "n+'\\tok\\t'+a.map(x=>x.address).join(' '))))"
)
_JAVA_LOOKUP = (
    "class L{public static void main(String[] n){for(String x:n){try{StringBuilder b=new StringBuilder();"
    'for(java.net.InetAddress a:java.net.InetAddress.getAllByName(x))b.append(a.getHostAddress()).append(" ");'
    'System.out.println(x+"\\tok\\t"+b);}catch(Exception e){System.out.println(x+"\\t\\t"+e);}}}}'
)
_PHP_LOOKUP = (
    "foreach(array_slice($argv,1) as $n){$a=gethostbynamel($n);"
    'echo $n."\\t".($a?"ok\\t".implode(" ",$a):"\\tgethostbynamel: false")."\\n";}'
)
_RUBY_LOOKUP = (
    'require "socket"; ARGV.each{|n| begin; puts n+"\\tok\\t"+Addrinfo.getaddrinfo(n,nil,nil,:STREAM).map(&:ip_address).uniq.join(" ");'
    'rescue SocketError=>e; puts n+"\\t\\t"+e.message; end}'
)
#: Program that a name is resolved with -> shell text; names are "$@". Each prints NAME, "ok" or a code, addresses or text.
LOOKUPS: Mapping[str, str] = {
    "python3": 'python3 -c "$PYTHON" "$@"',
    "python": 'python -c "$PYTHON" "$@"',
    "node": 'node -e "$NODE" "$@"',
    "java": 'printf \'%s\' "$JAVA" | java --source 11 /dev/stdin "$@"',
    "php": 'php -r "$PHP" -- "$@"',
    "ruby": 'ruby -e "$RUBY" -- "$@"',
    "getent": (
        'for n in "$@"; do o=$(getent ahosts "$n" 2>&1); c=$?; '
        'if [ $c -eq 0 ]; then printf \'%s\\tok\\t%s\\n\' "$n" "$(printf \'%s\\n\' "$o" | '
        'while read -r a _; do printf \'%s \' "$a"; done)"; '
        'else printf \'%s\\t\\tgetent ahosts: exit %s %s\\n\' "$n" $c "$o"; fi; done'
    ),
    "ping": (
        'for n in "$@"; do o=$(ping -c 1 -w 1 "$n" 2>&1 | head -n 1); case $o in '
        '*\\(*\\)*) a=${o#*\\(}; printf \'%s\\tok\\t%s\\n\' "$n" "${a%%\\)*}";; '
        '*) printf \'%s\\t\\t%s\\n\' "$n" "$o";; esac; done'
    ),
}
#: The interpreters whose own lookup is the application's, by the name of the program.
OF_RUNTIME: Mapping[str, tuple[str, ...]] = {
    "python": ("python3", "python"),
    "node": ("node",),
    "java": ("java",),
    "php": ("php",),
    "ruby": ("ruby",),
}
ANY_LIBC = ("python3", "python", "getent", "node", "php", "ruby", "ping")

_TEXTS = {
    "PYTHON": _PYTHON_LOOKUP,
    "NODE": _NODE_LOOKUP,
    "JAVA": _JAVA_LOOKUP,
    "PHP": _PHP_LOOKUP,
    "RUBY": _RUBY_LOOKUP,
}


class Section(msgspec.Struct, frozen=True):
    """What one look printed, its exit code (None: it was cut off)."""

    text: bytes
    code: int | None

    @property
    def good(self) -> bool:
        return self.code == 0

    @property
    def decoded(self) -> str:
        return self.text.decode("utf-8", "replace")


class Script(msgspec.Struct, frozen=True):
    """Shell text of several looks by name."""

    looks: Mapping[str, str]
    word: str
    texts: Mapping[str, str]

    @classmethod
    def of(cls, looks: Mapping[str, str], texts: Mapping[str, str] | None = None) -> Script:
        """``texts`` are programs by the name of the shell variable in which a look finds them."""
        return cls(looks, secrets.token_hex(8), {**_TEXTS, **(texts or {})})

    def command(self, *arguments: str) -> list[str]:
        """argv for an exec."""
        texts = "".join(
            f"{name}={_quoted(text)}; "
            for name, text in self.texts.items()
            if any(f'${name}"' in look for look in self.looks.values())
        )
        body = "".join(
            f"printf '\\n{self.word} + %s\\n' {name}; ( {look}\n) 2>/dev/null; printf '\\n{self.word} = %s\\n' $?; "
            for name, look in self.looks.items()
        )
        return ["sh", "-c", _SHOW + texts + body, "sh", *arguments]

    def sections(self, output: bytes) -> dict[str, Section]:
        """Every look whose beginning is in the output."""
        found: dict[str, Section] = {}
        start = b"\n" + self.word.encode() + b" + "
        end = b"\n" + self.word.encode() + b" = "
        for piece in output.split(start)[1:]:
            name, _, rest = piece.partition(b"\n")
            text, cut, code = rest.partition(end)
            number = code.split(b"\n", 1)[0]
            found[name.decode("utf-8", "replace")] = Section(text, int(number) if cut and number.isdigit() else None)
        return found


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def available(programs: tuple[str, ...], scripts: Mapping[str, str]) -> str:
    """Shell text that runs the first of ``programs`` that there is, after a line with its name."""
    cases = "".join(
        f"{'if' if number == 0 else 'elif'} command -v {name} >/dev/null 2>&1; then echo {name}; {scripts[name]}; "
        for number, name in enumerate(programs)
    )
    return f"{cases}else echo none; fi"


def resolving(preferred: tuple[str, ...] = ()) -> str:
    """Shell text that looks the arguments up with the first program that there is, ``preferred`` before others."""
    return available(tuple(dict.fromkeys((*preferred, *ANY_LIBC))), LOOKUPS)


def client_look(*, lookups: bool = False) -> Script:
    """Resolver files, the resolver's variables, the processes with their libraries, the libc; ``lookups`` of its arguments."""
    kept = "|".join(RESOLVER_VARIABLES)
    return Script.of(
        {
            "resolv.conf": "show /etc/resolv.conf",
            "hosts": "show /etc/hosts",
            "nsswitch.conf": "[ -e /etc/nsswitch.conf ] || exit 3; show /etc/nsswitch.conf",
            "environment": f"env | grep -E '^({kept})='; :",
            "processes": PROCESSES,
            "libc": LIBC,
            "jvm": JVM,
            **({"lookup": resolving()} if lookups else {}),
        }
    )


SOCKETS = "show /proc/net/tcp; show /proc/net/tcp6 || :; show /proc/net/udp || :; show /proc/net/udp6 || :"


def sockets_look() -> Script:
    return Script.of({name: f"show /proc/net/{name}" for name in ("tcp", "tcp6", "udp", "udp6")})


def beside_look() -> Script:
    """The same from an ephemeral container: what is the target's own is reached through its first process."""
    looks = dict(client_look().looks)
    looks["nsswitch.conf"] = "[ -e /proc/1/root/etc/nsswitch.conf ] || exit 3; show /proc/1/root/etc/nsswitch.conf"
    looks["environment"] = "exit 4"
    looks["libc"] = (
        'for l in /proc/1/root/lib/ld-musl-*; do [ -e "$l" ] && echo musl; done; '
        'for l in /proc/1/root/lib*/ld-linux-* /proc/1/root/lib/*/ld-linux-*; do [ -e "$l" ] && { echo glibc; break; }; done; :'
    )
    return Script.of(looks)
