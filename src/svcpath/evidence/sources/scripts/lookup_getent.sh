# Each argument looked up by libc, through getent: NAME, "ok" and addresses, or nothing and what it said.
# shellcheck shell=sh
for n in "$@"; do
  o=$(getent ahosts "$n" 2>&1); c=$?;
  if [ $c -eq 0 ]; then
    printf '%s\tok\t%s\n' "$n" "$(printf '%s\n' "$o" | while read -r a _; do printf '%s ' "$a"; done)";
  else
    printf '%s\t\tgetent ahosts: exit %s %s\n' "$n" $c "$o";
  fi;
done
