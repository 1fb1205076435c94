# Which libc there is, as getconf, musl's loader or glibc's loader says it.
# shellcheck shell=sh
getconf GNU_LIBC_VERSION 2>/dev/null
for l in /lib/ld-musl-*.so.1; do [ -e "$l" ] && printf 'musl %s\n' "$("$l" 2>&1 | tr '\n' ' ')"; done
for l in /lib64/ld-linux-*.so* /lib/ld-linux-*.so* /lib/*/ld-linux-*.so*; do
  [ -x "$l" ] && { "$l" --version 2>/dev/null | head -n 1; break; }
done
:
