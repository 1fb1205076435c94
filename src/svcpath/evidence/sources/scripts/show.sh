# show FILE...: `cat` where there is one, else the shell itself.
# shellcheck shell=sh
show() {
  if command -v cat >/dev/null 2>&1; then cat "$@";
  else
    for f in "$@"; do
      [ -r "$f" ] || return 1;
      while IFS= read -r l || [ -n "$l" ]; do printf '%s\n' "$l"; done <"$f";
    done;
  fi;
}
