# Printed by a node at each difference: "@@ OLD NEW END KIND" (its own clock, nanoseconds: when the reading before began, when
# this one began and ended), the dump, "@@ end"; on standard error whatever nft monitor says. It ends with its standard input,
# so that nothing stays behind on a node, and waits for its children, since kube-proxy as PID 1 would not.
# INTERVAL is replaced by the seconds between two readings.
# shellcheck shell=sh
monitor=
if command -v nft >/dev/null 2>&1; then nft monitor </dev/null >&2 2>/dev/null & monitor=$!; fi
trap '[ -z "$monitor" ] || kill "$monitor" 2>/dev/null; wait; exit 0' TERM
exec 3<&0
{ cat <&3 >/dev/null 2>&1; kill $$; } &
read_table() {
  if nft list table ip kube-proxy >/dev/null 2>&1 || nft list table ip6 kube-proxy >/dev/null 2>&1; then
    kind=nft-list; nft list table ip kube-proxy 2>/dev/null; nft list table ip6 kube-proxy 2>/dev/null
  else
    kind=iptables-save; iptables-save -t nat; echo @6; ip6tables-save -t nat 2>/dev/null
  fi
}
old=; before=$(date +%s%N)
while :; do
  now=$(date +%s%N)
  table=$(read_table | grep -v '^#')
  end=$(date +%s%N)
  case "$table" in table*) kind=nft-list;; *) kind=iptables-save;; esac
  bare=$(printf '%s' "$table" | sed 's/\[[0-9]*:[0-9]*\]//; s/expires [0-9a-z]*//g')
  if [ "$bare" != "$old" ]; then
    printf '@@ %s %s %s %s\n%s\n@@ end\n' "$before" "$now" "$end" "$kind" "$table"
    old=$bare
  fi
  before=$now
  sleep INTERVAL
done
