# The same question as libc.sh from an ephemeral container, of the target's files through its first process.
# shellcheck shell=sh
for l in /proc/1/root/lib/ld-musl-*; do [ -e "$l" ] && echo musl; done;
for l in /proc/1/root/lib*/ld-linux-* /proc/1/root/lib/*/ld-linux-*; do [ -e "$l" ] && { echo glibc; break; }; done;
:
