# A home that uploads one file with FullTcp/Sack over an idle line, on ns-2.35: what the home sends, as
#   TIME_US BYTES SEQUENCE
# to its FIN. Nagle's algorithm, the handshake, the beats of delayed acknowledgements. The path is that
# of dumbbell.tcl.
set ns [new Simulator]
Agent/TCP set windowInit_ 2
Agent/TCP/FullTcp set segsize_ 1460
Agent/TCP/FullTcp set segsperack_ 2
set home [$ns node]; set router [$ns node]; set server [$ns node]
$ns simplex-link $home $router 33554432 0.244140625ms DropTail
$ns simplex-link $router $home 8589934592 0.244140625ms DropTail
$ns duplex-link $server $router 1073741824 19.53125ms DropTail
set trace [open [lindex $argv 0] w]
$ns trace-queue $home $router $trace
set client [new Agent/TCP/FullTcp/Sack]; set sink [new Agent/TCP/FullTcp/Sack]
$ns attach-agent $home $client; $ns attach-agent $server $sink
$ns connect $client $sink; $sink listen
# Opening a connection forgets that it is to close when all is sent: it is told so when it is open.
$ns at 0.125 "$client advance-bytes 10000"
$ns at 0.35 "$client sendmsg 0 MSG_EOF"
$ns at 1 "close $trace; exit 0"
$ns run
