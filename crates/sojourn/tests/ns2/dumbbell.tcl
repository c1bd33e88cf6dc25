# A home that uploads over one bottleneck, on ns-2.35, after which tests/ns2_traces.rs is checked.
#
#   ns dumbbell.tcl key=value ...
#     agent=Sack1         also Reno, Newreno, Linux (which needs cc=), FullTcp/Sack
#     sink=DelAck         or none: an acknowledgement for each segment
#     limit=65            of the bottleneck's drop-tail queue, in packets
#     starts=0.125        when each flow starts, in s, by commas; or spread=2: at random within so many
#     delays=19.53125         one-way delays of the servers' links in ms, by commas
#     ecn=0 window=10000 initial=2 time=60 seed=1
#     syn=1               or 0: connections begin with data (Linux does not wait for the answer to its SYN)
#     out=trace           prefix of the files: out.queue (the bottleneck) and out.cwnd
#
# home --(2^25 bps, 1/4096 s, the queue)--> router --(2^30 bps, delay)--> server, and back over 2^33 bps.
# With such numbers every time is exact in binary: README.md says why that matters.
array set o {agent Sack1 sink DelAck limit 65 starts 0.125 spread 0 delays 19.53125 ecn 0 window 10000
             initial 2 time 60 seed 1 syn 1 out trace cc cubic}
foreach word $argv {
  if {![regexp {^(\w+)=(.*)$} $word -> key value] || ![info exists o($key)]} {
    puts stderr "unknown: $word"; exit 2
  }
  set o($key) $value
}

set ns [new Simulator]
ns-random $o(seed)
set rng [new RNG]; $rng seed $o(seed)
Queue/DropTail set limit_ 1000000
Agent/TCP set packetSize_ 1460
Agent/TCP set window_ $o(window)
Agent/TCP set windowInit_ $o(initial)
Agent/TCP set ecn_ $o(ecn)
Agent/TCP set syn_ $o(syn)
Agent/TCP/FullTcp set segsize_ 1460
Agent/TCP/FullTcp set segsperack_ [expr {$o(sink) eq "DelAck" ? 2 : 1}]

set home [$ns node]; set router [$ns node]
$ns simplex-link $home $router 33554432 0.244140625ms DropTail
$ns simplex-link $router $home 8589934592 0.244140625ms DropTail
$ns queue-limit $home $router $o(limit)
set queue [open $o(out).queue w]; set cwnd [open $o(out).cwnd w]
if {$o(spread) == 0} { $ns trace-queue $home $router $queue }
set monitor [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $home $router] $monitor

set i 0
foreach delay [split $o(delays) ,] start [split $o(starts) ,] {
  set server [$ns node]
  $ns duplex-link $server $router 1073741824 ${delay}ms DropTail
  set tcp($i) [new Agent/TCP/$o(agent)]; $tcp($i) set fid_ $i
  set kind Agent/TCPSink
  if {$o(agent) eq "Sack1" || $o(agent) eq "Linux"} { append kind /Sack1 }
  if {$o(sink) eq "DelAck"} { append kind /DelAck }
  if {$o(agent) eq "FullTcp/Sack"} { set kind Agent/TCP/FullTcp/Sack }
  set sink($i) [new $kind]
  if {$o(agent) eq "Linux"} {
    $tcp($i) set timestamps_ true; $sink($i) set ts_echo_rfc1323_ true
  }
  $ns attach-agent $home $tcp($i); $ns attach-agent $server $sink($i)
  $ns connect $tcp($i) $sink($i)
  if {$o(agent) eq "Linux"} { $ns at 0 "$tcp($i) select_ca $o(cc)" }
  if {$o(agent) eq "FullTcp/Sack"} { $sink($i) listen }
  if {$o(spread) == 0} { $tcp($i) attach $cwnd; $tcp($i) trace cwnd_ }
  set ftp [new Application/FTP]; $ftp attach-agent $tcp($i)
  if {$o(spread) > 0} { set start [$rng uniform 0 $o(spread)] }
  $ns at $start "$ftp start"
  set flow($i) [new QueueMonitor/ED/Flow]
  $flow($i) set-delay-samples [new Samples]
  [$monitor classifier] set-hash auto 0 0 $i [[$monitor classifier] installNext $flow($i)]
  incr i
}

# For each flow: packets acknowledged, packets at the queue and dropped there, mean wait in ms.
proc finish {} {
  global o ns i tcp flow queue cwnd
  close $queue; close $cwnd
  for {set n 0} {$n < $i} {incr n} {
    puts "$n [$tcp($n) set ack_] [$flow($n) set parrivals_] [$flow($n) set pdrops_]\
      [format %.4f [expr 1e3 * [[$flow($n) get-delay-samples] mean]]]"
  }
  exit 0
}
$ns at $o(time) finish
$ns run
