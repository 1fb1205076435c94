# Flows of the frontends that are its arguments, an address or nodeport/NUMBER each. The whole table can be huge.
# shellcheck shell=sh
for a in "$@"; do
  case $a in
    nodeport/*)
      n=${a#nodeport/};
      for p in tcp udp; do for f in ipv4 ipv6; do conntrack -L -f $f -p $p --orig-port-dst "$n"; done; done;;
    *:*) conntrack -L -f ipv6 -d "$a";;
    *) conntrack -L -d "$a" || grep -F "dst=$a " /proc/net/nf_conntrack;;
  esac;
done
