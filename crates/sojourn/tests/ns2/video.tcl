# A player of Hong 2015 section 4.2.2 alone on a link of 38 Mbps with room for 100 packets, on ns-2.35: the time
# of each fetch in s, for 200 s. FullTcp/Sack, an acknowledgement for each segment; a buffer of 60 s, which is
# full after some 50 s, so that there are pauses after which the window starts again.
set ns [new Simulator]
Queue/DropTail set limit_ 100000
Agent/TCP set window_ 10000
Agent/TCP set maxcwnd_ 10000
Agent/TCP/FullTcp set segsize_ 1460
Agent/TCP/FullTcp set segsperack_ 1
set router [$ns node]; set home [$ns node]; set server [$ns node]
# Frames of 1518 bytes for packets of 1500.
$ns simplex-link $router $home [expr 38e6 * 1500 / 1518] 1ms DropTail
$ns simplex-link $home $router 30Mb 1ms DropTail
$ns queue-limit $router $home 100
$ns duplex-link $server $router 1000Mb 39ms DropTail
set tcp(server) [new Agent/TCP/FullTcp/Sack]; set tcp(home) [new Agent/TCP/FullTcp/Sack]
$ns attach-agent $server $tcp(server); $ns attach-agent $home $tcp(home)
$ns connect $tcp(home) $tcp(server); $tcp(server) listen
set player [new Application/TcpApp $tcp(home)]; set source [new Application/TcpApp $tcp(server)]
$player connect $source

set ladder {0.5 1.0 2.0 3.0 4.0 5.0}
set level 0; set fetch 0; set asked 0; set held 0; set playing 0

proc ask {} {
  global ns player source ladder level fetch asked
  if {$fetch > 0} {
    set mu [expr 4.0 / $fetch]
    if {$mu > 2 && $level < 5} {
      incr level
    } elseif {$mu < 0.67} {
      set affordable [expr $mu * [lindex $ladder $level]]
      set level 0
      foreach rate $ladder { if {$rate < $affordable} { set level [lsearch $ladder $rate] } }
    }
  }
  set asked [$ns now]
  $player send 300 "$source answer [expr int([lindex $ladder $level] * 4e6 / 8)]"
}
Application/TcpApp instproc answer bytes { $self send $bytes "arrived" }
Application/TcpApp instproc arrived {} { arrived }
proc arrived {} {
  global ns fetch asked held playing
  set fetch [expr [$ns now] - $asked]; set asked 0
  puts [format %.6f $fetch]
  incr held
  if {!$playing && $held >= 2} { set playing 1; take } elseif {$held < 15} { ask }
}
proc take {} {
  global ns held asked
  incr held -1
  if {$asked == 0 && $held < 15} { ask }
  $ns at [expr [$ns now] + 4] take
}
$ns at 0.25 ask
$ns at 200 "exit 0"
$ns run
