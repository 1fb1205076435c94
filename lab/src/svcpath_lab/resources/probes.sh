# The resolvers that a client Pod offers: static musl probes, its Python on whatever libc it has, a JVM on that libc.
# shellcheck shell=sh
# musl's loader, which there is one of, is run to tell its version.
# shellcheck disable=SC2211
ls /usr/local/bin/resolve-musl-* /usr/local/bin/resolve-jvm-* 2>/dev/null;
ls /lib/ld-musl-*.so.1 >/dev/null 2>&1 && /lib/ld-musl-*.so.1 2>&1 | sed -n 's/^Version /python-musl /p';
getconf GNU_LIBC_VERSION 2>/dev/null
