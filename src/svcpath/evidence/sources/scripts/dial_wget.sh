# Each http and https URL asked with wget (BusyBox's has no more), sixteen at a time: URL, exit code, what it said.
# shellcheck shell=sh
# $(echo $o) puts what was said on one line.
# shellcheck disable=SC2086,SC2116
t=; command -v timeout >/dev/null 2>&1 && t="timeout 3";
set -f; i=0;
for u in "$@"; do
  case $u in udp*) continue;; esac;
  {
    case $u in
      http*) o=$($t wget -T 2 -q -O /dev/null "$u/" 2>&1); c=$?; printf '%s\t%s\t%s\n' "$u" $c "$(echo $o)";;
    esac;
  } &
  i=$((i+1)); [ $((i % 16)) -eq 0 ] && wait;
done;
wait
