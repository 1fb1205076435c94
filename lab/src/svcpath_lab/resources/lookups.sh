# $word through every resolver that the client offers, a line each: PROBE NAME -> ADDRESSES or CODE TEXT.
# shellcheck shell=sh
# $word is the caller's; musl's loader, which there is one of, is run to tell its version.
# shellcheck disable=SC2154,SC2211
libc=$(getconf GNU_LIBC_VERSION 2>/dev/null | tr ' ' -);
[ -n "$libc" ] || libc=musl-$(/lib/ld-musl-*.so.1 2>&1 | sed -n 's/^Version //p');
for probe in /usr/local/bin/resolve-musl-*; do
  [ -x "$probe" ] || continue;
  "$probe" "$word" | sed "s/^/${probe##*/resolve-} /";
done;
python3 /app/resolve.py "$word" | sed "s/^/$libc /"
