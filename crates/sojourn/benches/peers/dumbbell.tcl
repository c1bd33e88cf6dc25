# Cases `base` and `tiers` of the benchmark on ns-2.35, through a plain link: ns dumbbell.tcl key=value ...
#   flows=11 rtt_ms=0 (0: flow i has 30 + 10 i) mbps=38 limit=2048 access_mbps=1000 window=10000 time=200
# Prints the data packets acknowledged or received, and the events.
array set o {flows 11 rtt_ms 0 mbps 38 limit 2048 access_mbps 1000 window 10000 time 200}
foreach word $argv {
  if {![regexp {^(\w+)=(.*)$} $word -> key value] || ![info exists o($key)]} {
    puts stderr "unknown: $word"; exit 2
  }
  set o($key) $value
}

set ns [new Simulator]
set rng [new RNG]; $rng seed 1
Agent/TCP set packetSize_ 1460           ;# 1500 bytes with the header
Agent/TCP set window_ $o(window)
Agent/TCP set windowInit_ 2
Agent/TCPSink/Sack1/DelAck set interval_ 100ms
Queue/DropTail set limit_ 1000000

set cmts [$ns node]; set home [$ns node]
$ns simplex-link $cmts $home $o(mbps)Mb 0.1ms DropTail
$ns simplex-link $home $cmts 1000Mb 0.1ms DropTail
$ns queue-limit $cmts $home $o(limit)

proc server {rtt_ms} {
  global ns cmts o
  set node [$ns node]
  $ns duplex-link $node $cmts $o(access_mbps)Mb [expr $rtt_ms / 2.0 - 0.1]ms DropTail
  return $node
}

for {set i 0} {$i < $o(flows)} {incr i} {
  set server [server [expr {$o(rtt_ms) ? $o(rtt_ms) : 30 + 10 * $i}]]
  set tcp($i) [new Agent/TCP/Sack1]
  set sink [new Agent/TCPSink/Sack1/DelAck]
  $ns attach-agent $server $tcp($i); $ns attach-agent $home $sink; $ns connect $tcp($i) $sink
  set ftp [new Application/FTP]; $ftp attach-agent $tcp($i)
  $ns at [$rng uniform 0 2] "$ftp start"
}

# A call: 238 bytes every 20 ms.
set udp [new Agent/UDP]; set heard [new Agent/LossMonitor]
$ns attach-agent [server 80] $udp; $ns attach-agent $home $heard; $ns connect $udp $heard
set call [new Application/Traffic/CBR]; $call attach-agent $udp
$call set packetSize_ 238; $call set interval_ 0.02
$ns at 0.0 "$call start"

proc finish {} {
  global ns o tcp heard
  set packets [$heard set npkts_]
  for {set i 0} {$i < $o(flows)} {incr i} { incr packets [$tcp($i) set ack_] }
  # The number of an event counts all that were scheduled before it.
  puts "$packets [$ns at [expr [$ns now] + 1] {}]"
  exit 0
}
$ns at $o(time) finish
$ns run
