# The files that are its arguments, as FILE:VALUE. Not the shell's own read: it reads byte by byte, and a sysctl gives its
# first byte alone then. grep reads all at once.
# shellcheck shell=sh
if command -v grep >/dev/null 2>&1; then grep -sH . "$@";
else
  for k in "$@"; do [ -r "$k" ] && echo "$k:$(cat "$k")"; done;
fi;
:
