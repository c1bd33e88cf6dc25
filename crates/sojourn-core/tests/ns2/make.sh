#!/bin/sh
# Makes the traces anew: needs ns-2.35 (Debian's ns2).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

trace() {
  name=$1; shift
  ns "$here/dumbbell.tcl" "out=$work/$name" "$@" >"$work/summary"
  "$here/compact.sh" "$work/$name" >"$here/$name.txt"
  echo "$name: $(wc -l <"$here/$name.txt") lines"
}
one=starts=0.125
two="starts=0.125,0.375 delays=34.1796875,19.53125"

trace one-65 $one
trace one-65-each $one sink=none
trace one-2048 $one limit=2048 time=120
trace one-5 $one limit=5
trace two-65 $two
trace two-20 $two limit=20
trace two-2048 $two limit=2048 time=120
for agent in Reno Newreno; do
  kind=$(echo $agent | tr NR nr)
  trace one-65-$kind $one agent=$agent
  trace one-5-$kind $one agent=$agent limit=5
  trace two-65-$kind $two agent=$agent
done
