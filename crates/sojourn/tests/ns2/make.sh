#!/bin/sh
# Makes the traces anew: needs ns-2.35 (Debian's ns2).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mss=
trace() {
  name=$1; shift
  ns "$here/dumbbell.tcl" "out=$work/$name" "$@" >"$work/summary"
  "$here/compact.sh" "$work/$name" $mss >"$here/$name.txt"
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

mss=1460 full="agent=FullTcp/Sack"
trace one-65-full $one $full
trace one-65-full-each $one $full sink=none
trace one-5-full $one $full limit=5
trace one-2048-full $one $full limit=2048 time=120
trace two-65-full $two $full
trace two-20-full $two $full limit=20
mss=
ns "$here/file.tcl" "$work/file"
awk '$1 == "+" { printf "%.0f %d %d\n", $2 * 1e6, $6, $11 }' "$work/file" | head -n 10 >"$here/file-full.txt"

ns "$here/video.tcl" >"$here/video.txt"

# Linux shows a window that falls by ones while it slows down: without it. Its first segment is number 0.
for limit in 5 20 65; do
  ns "$here/dumbbell.tcl" "out=$work/linux" $one agent=Linux sink=none syn=0 limit=$limit >"$work/summary"
  "$here/compact.sh" "$work/linux" | awk '$2 != "window" { $4 += 1; print }' >"$here/one-$limit-linux.txt"
done

# Eleven flows with starts at random: LIMIT SEED MBPS LOSS_PERCENT WAIT_MS of all together.
delays=19.53125,24.4140625,29.296875,34.1796875,39.0625,43.9453125,48.828125,53.7109375
delays=$delays,58.59375,63.4765625,68.359375
for limit in 65 2048; do
  for seed in 1 2 3 4 5 6; do
    ns "$here/dumbbell.tcl" "out=$work/eleven" limit=$limit seed=$seed time=200 spread=2 \
      starts=0,0,0,0,0,0,0,0,0,0,0 delays=$delays |
      awk -v limit=$limit -v seed=$seed '{ acked += $2; sent += $3; lost += $4; wait += $5 * $3 }
        END { printf "%d %d %.4f %.4f %.3f\n", limit, seed, acked * 0.012 / 200, 100 * lost / sent,
              wait / sent }'
  done
done >"$here/eleven.txt"
