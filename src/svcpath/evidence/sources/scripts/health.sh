# Health checks of the ports that are its arguments, each after a line with its port. Needs fetch.sh.
# shellcheck shell=sh
for p in "$@"; do echo "port $p"; fetch localhost "$p" /healthz; echo; done
