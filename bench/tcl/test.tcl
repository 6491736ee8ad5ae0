# Test workload: matrices, queens, objects, a parser, closures by apply; argument = rounds.
proc multiply {a b} {
	set out {}
	foreach row $a {
		set line {}
		for {set j 0} {$j < [llength [lindex $b 0]]} {incr j} {
			set s 0.0
			set k 0
			foreach x $row { set s [expr {$s + $x * [lindex $b $k $j]}]; incr k }
			lappend line $s
		}
		lappend out $line
	}
	return $out
}
proc queens {row size board} {
	if {$row == $size} { return 1 }
	set n 0
	for {set col 0} {$col < $size} {incr col} {
		set ok 1
		set r 0
		foreach c $board {
			if {$c == $col || abs($c - $col) == $row - $r} { set ok 0; break }
			incr r
		}
		if {$ok} { incr n [queens [expr {$row + 1}] $size [linsert $board end $col]] }
	}
	return $n
}
oo::class create Account {
	variable sum log
	constructor {} { set sum 0; set log {} }
	method add n { incr sum $n; lappend log $n; return [self] }
	method show {} { return "$sum [llength $log]" }
}
namespace eval parse {
	variable text ""
	variable at 0
	proc expression {} { variable text; variable at; set v [term]; while {[set c [string index $text $at]] in {+ -}} { incr at; set v [expr "$v $c [term]"] }; return $v }
	proc term {} { variable text; variable at; set v [factor]; while {[string index $text $at] eq "*"} { incr at; set v [expr {$v * [factor]}] }; return $v }
	proc factor {} {
		variable text
		variable at
		if {[string index $text $at] eq "("} { incr at; set v [expression]; incr at; return $v }
		regexp -start $at {\A\d+} $text number
		incr at [string length $number]
		return $number
	}
}
for {set round 0} {$round < [lindex $argv 0]} {incr round} {
	set m {}
	for {set i 0} {$i < 6} {incr i} { set line {}; for {set j 0} {$j < 6} {incr j} { lappend line [expr {$i * 3 + $j + $round % 7}] }; lappend m $line }
	set m2 [multiply $m $m]
	set account [Account new]
	foreach n {1 2 3 4 5 6 7 8} { $account add $n }
	set parse::text "2*(3+4)*5-[expr {$round % 10}]+(7*(1+1))"
	set parse::at 0
	array set seen {}
	foreach {k v} {a 1 b 2 c 3 a 4} { lappend seen($k) $v }
	set squares [lmap x {1 2 3 4 5 6 7 8 9} { apply {{x n} { expr {$x ** 2 + $n} }} $x $round }]
	set text [join $squares ,]
	set packed [binary format Sa3c 513 abc 7]
	binary scan $packed H* hex
	puts "[lindex $m2 2 3] [queens 0 5 {}] [$account show] [parse::expression] [array size seen] [regsub -all {\d(\d)} $text {<\1>}] $hex [string reverse $text]"
	$account destroy
	array unset seen
}
