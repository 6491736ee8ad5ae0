# Training workload: lists, dictionaries, strings, patterns, arithmetic; argument = rounds.
set seed 12345
proc rnd n { global seed; set seed [expr {($seed * 1103515245 + 12345) % 2147483648}]; expr {$seed / 256 % $n} }
proc word {} { set s ""; for {set n [expr {2 + [rnd 7]}]} {$n} {incr n -1} { append s [string index abcdefghijklmnopqrstuvwxyz [rnd 26]] }; return $s }
proc primes n {
	set found 0
	for {set i 2} {$i < $n} {incr i} {
		if {[info exists sieve($i)]} continue
		incr found
		for {set k [expr {$i * $i}]} {$k < $n} {incr k $i} { set sieve($k) 1 }
	}
	return $found
}
for {set i 0} {$i < 300} {incr i} { lappend words [word] }
for {set round 0} {$round < [lindex $argv 0]} {incr round} {
	set sum 0
	set count {}
	foreach w $words {
		dict incr count [string range $w 0 1]
		set line [list $w [rnd 1000] [string toupper $w]]
		lassign $line name number upper
		incr sum $number
		if {[regexp {^([aeiou])(\w*)} $name -> first rest]} { append text $rest } else { append text [string map {a 1 b 2} $upper] }
	}
	set best [lindex [lsort -integer -decreasing -index 1 -stride 2 $count] 0]
	set lines [lsort [lmap w $words { format "%-8s|%5d" $w [string length $w] }]]
	puts "[primes 600] $best $sum [string length $text] [lindex $lines 7] [llength [split $text aeiou]]"
	set text ""
}
