# Each argument looked up by libc, through ping's first line, which has the address in brackets.
# shellcheck shell=sh
for n in "$@"; do
  o=$(ping -c 1 -w 1 "$n" 2>&1 | head -n 1);
  case $o in
    *\(*\)*) a=${o#*\(}; printf '%s\tok\t%s\n' "$n" "${a%%\)*}";;
    *) printf '%s\t\t%s\n' "$n" "$o";;
  esac;
done
