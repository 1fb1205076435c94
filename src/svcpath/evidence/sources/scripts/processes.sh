# The processes of the container: PID, parent, whether one of the first 64 descriptors is a socket, program, and the
# libraries that resolve names. Arguments are never read.
# shellcheck shell=sh
n=0
for d in /proc/[0-9]*; do
  p=${d#/proc/}; [ "$p" = "$$" ] && continue
  exe=$(readlink "$d/exe" 2>/dev/null) || continue
  pp=; while read -r k v _; do [ "$k" = PPid: ] && { pp=$v; break; }; done <"$d/status"
  s=0; i=0
  for f in "$d"/fd/*; do
    i=$((i+1)); [ $i -gt 64 ] && break
    case $(readlink "$f" 2>/dev/null) in socket:*) s=1; break;; esac
  done
  printf 'process\t%s\t%s\t%s\t%s\n' "$p" "$pp" "$s" "$exe"
  n=$((n+1)); [ $n -gt 40 ] && break
  [ "$pp" = 0 ] && [ "$p" != 1 ] && continue
  if command -v grep >/dev/null 2>&1; then
    grep -o '/[^ ]*\(ld-musl\|libc[.-]\|libjvm\|libcares\|libpthread\)[^ ]*' "$d/maps" 2>/dev/null | sort -u |
      while read -r l; do printf 'library\t%s\t%s\n' "$p" "$l"; done
    grep -q 'libc[.-]\|ld-musl' "$d/maps" 2>/dev/null || {
      [ -r "$d/maps" ] && grep -q -a 'Go buildinf:' "$d/exe" 2>/dev/null && printf 'go\t%s\n' "$p"; }
  fi
done
