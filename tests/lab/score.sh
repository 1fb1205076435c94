#!/bin/sh
# The whole score: every fault in both proxy modes, each mode on a dual-stack lab of its own, side by side. The labs go
# again, whatever came out. Fails on a false accusation, or when a mode has no score.
#   sh tests/lab/score.sh RESULTS.json [FOLDER that keeps the recordings]
set -u
results=$1
keep=${2:+--keep $2}
bin=.venv/bin
scratch=$(mktemp -d)
modes="iptables nftables"
running=""

down() {
    # shellcheck disable=SC2086
    [ -z "$running" ] || kill $running 2>/dev/null
    wait
    for mode in $modes; do $bin/svcpath lab down --lab "score-$mode"; done
    rm -rf "$scratch"
}
trap down EXIT
trap 'exit 130' INT TERM

for mode in $modes; do
    $bin/svcpath lab up --lab "score-$mode" --proxy-mode "$mode" --ip-family dual || exit 1
done
for mode in $modes; do
    # shellcheck disable=SC2086
    $bin/svcpath lab score --lab "score-$mode" $keep -o terminal="$scratch/$mode.txt" -o json="$scratch/$mode.json" &
    running="$running $!"
done
code=0
for process in $running; do wait "$process" || code=1; done
running=""
cat "$scratch"/*.txt
$bin/python -m tests.lab.joined "$results" "$scratch"/*.json || code=1
exit $code
