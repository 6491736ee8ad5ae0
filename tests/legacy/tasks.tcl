# Work of many kinds, printed.
proc fib n { expr {$n < 2 ? $n : [fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]} }
puts [fib 21]
set words {}
for {set i 0} {$i < 20000} {incr i} { lappend words [format %c%c%d [expr {97 + $i * 7 % 26}] [expr {97 + $i * 11 % 26}] [expr {$i * 31 % 977}]] }
puts [lrange [lsort -unique $words] 0 20]
puts [lrange [lsort -dictionary -decreasing $words] 0 20]
foreach w $words { dict incr count [string range $w 0 1]; append text $w " " }
foreach {k v} [lsort -stride 2 -index 1 -integer $count] { append out "$k=$v " }
puts [string length $out]
puts [regexp -all {([a-f])(\d+)} $text]
puts [string length [regsub -all {(\w)(\d)} $text {\2\1}]]
puts [binary scan [binary format w3 {1 -2 3}] H* hex] 
puts $hex
namespace eval shape { variable n 0; proc area {w h} { variable n; incr n; expr {$w * $h / 2.0} } }
for {set i 0} {$i < 5000} {incr i} { set sum [expr {[info exists sum] ? $sum + [shape::area $i [expr {sqrt($i)}]] : 0}] }
puts [format %.6f $sum]
oo::class create Pile { variable s; constructor {} { set s {} }; method push x { lappend s $x }; method pop {} { set x [lindex $s end]; set s [lrange $s 0 end-1]; return $x } }
set p [Pile new]
for {set i 0} {$i < 3000} {incr i} { $p push $i; if {$i % 3 == 0} { $p pop } }
puts [$p pop]
coroutine next apply {{} { yield; for {set i 0} {1} {incr i} { yield [expr {$i ** 3}] } }}
for {set i 0} {$i < 100} {incr i} { set last [next] }
puts $last
puts [catch { expr {1 / 0} } message] 
puts $message
try { error deep "" {MY CODE} } trap {MY} {m o} { puts "$m [dict get $o -errorcode]" } finally { puts end }
puts [expr {2 ** 400 % 1000003}]
puts [string map {a 1 b 22} [string repeat abc 9]]
puts [encoding convertto utf-8 "\u20ac\u00e9"]
puts [clock format 86400 -gmt 1 -format %Y-%m-%d]
