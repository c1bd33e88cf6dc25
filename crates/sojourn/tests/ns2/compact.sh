#!/bin/sh
# compact.sh PREFIX [MSS]: from PREFIX.queue and PREFIX.cwnd of dumbbell.tcl the lines that matter, in order:
#   TIME_US drop|again|window FLOW VALUE
# A packet dropped or a segment sent again has its number as value, a window that falls its segments.
# With MSS, sequence numbers are bytes, and bare acknowledgements are left out.
set -eu
{
  awk -v mss="${2:-0}" '
       mss && $6 < 100 { next }
       mss { $11 = ($11 - 1) / mss + 1 }
       $1 == "d" { printf "%.0f drop %d %d\n", $2 * 1e6, $8, $11 }
       $1 == "+" { if ($8 in top && $11 <= top[$8]) printf "%.0f again %d %d\n", $2 * 1e6, $8, $11
                   else top[$8] = $11 }' "$1.queue"
  awk '$6 == "cwnd_" { if ($3 in old && $7 < old[$3]) printf "%.0f window %d %s\n", $1 * 1e6, $3, $7
                       old[$3] = $7 }' "$1.cwnd"
} | sort -s -n -k1,1
