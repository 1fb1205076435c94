# Each URL asked with curl, sixteen at a time: URL, exit code, what it said with W= status, I= and P= own address and port,
# T= seconds to connect. telnet:// only connects.
# shellcheck shell=sh
# $(echo $o) puts what was said on one line; printf %3000s of nothing is 3000 spaces.
# shellcheck disable=SC2086,SC2116,SC2183
set -f; i=0;
for u in "$@"; do
  case $u in udp*) continue;; esac;
  {
    h=A:;
    case $u in
      tcp://*) v=telnet://${u#tcp://};;
      large://*) v=http://${u#large://}/; h=X-Pad:$(printf %3000s | tr ' ' x);;
      *) v=$u/;;
    esac;
    o=$(curl -sSk --connect-timeout 2 --max-time 6 -H "$h" -o /dev/null -w ' W=%{http_code} I=%{local_ip} P=%{local_port} T=%{time_connect}' "$v" 2>&1 </dev/null); c=$?;
    printf '%s\t%s\t%s\n' "$u" $c "$(echo $o)";
  } &
  i=$((i+1)); [ $((i % 16)) -eq 0 ] && wait;
done;
wait
