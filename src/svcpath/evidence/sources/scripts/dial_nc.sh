# Each URL connected to with whichever nc there is, sixteen at a time: URL, exit code, what it said. One that knows no -v or
# -z is asked again without.
# shellcheck shell=sh
# $(echo $o) puts what was said on one line.
# shellcheck disable=SC2086,SC2116
t=; command -v timeout >/dev/null 2>&1 && t="timeout 3";
set -f; i=0;
for u in "$@"; do
  case $u in udp*) continue;; esac;
  {
    r=${u#*://}; p=${r##*:}; h=${r%:*}; h=${h#\[}; h=${h%\]};
    o=$($t nc -v -z -w 2 "$h" "$p" 2>&1 </dev/null); c=$?;
    case $o in *sage*|*nvalid*|*nknown*) o=$($t nc -w 2 "$h" "$p" 2>&1 </dev/null); c=$?;; esac;
    printf '%s\t%s\t%s\n' "$u" $c "$(echo $o)";
  } &
  i=$((i+1)); [ $((i % 16)) -eq 0 ] && wait;
done;
wait
