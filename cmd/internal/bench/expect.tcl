# Holds dialogues by expect: on each line a Tcl list of timeout, directory, command, status,
# whether the size matters, and steps; out comes a line of seconds, KiB and what went wrong.
log_user 0
match_max 4000

proc hold {limit dir argv status sized steps} {
	global timeout stty_init spawn_id
	set timeout $limit
	cd $dir
	if {$sized} { set stty_init "rows 24 columns 80" } else { unset -nocomplain stty_init }
	spawn -noecho {*}$argv
	foreach {kind text} $steps {
		switch $kind {
			expect { expect -ex $text {} timeout { return "timeout: $text" } eof { return "eof: $text" } }
			regexp { expect -re $text {} timeout { return "timeout: $text" } eof { return "eof: $text" } }
			default { send -- $text }
		}
	}
	expect eof {} timeout { return "timeout: eof" }
	set got [lindex [wait] 3]
	if {$got != $status} { return "exit status $got" }
	return ""
}

proc peak {} {
	set f [open /proc/self/status]
	regexp {VmHWM:\s+(\d+)} [read $f] all kib
	close $f
	return $kib
}

while {[gets stdin line] >= 0} {
	set began [clock microseconds]
	if {[catch { hold {*}$line } error]} { set error "Tcl: $error" }
	set took [expr {([clock microseconds] - $began) / 1e6}]
	catch { close }
	catch { wait -nowait }
	puts "$took [peak] [string map {\n { }} $error]"
	flush stdout
}
