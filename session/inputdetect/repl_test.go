package inputdetect

import (
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// A program that takes commands waits for one at its prompt, and asks nobody anything; what a script asks is a question.
//
// FEATURES: R42
func TestReplPrompts(t *testing.T) {
	for _, c := range []struct {
		program, line string
		want          bool
	}{
		{"python3", ">>> ", true},
		{"python3.13", "... ", true},
		{"ipython", "In [12]: ", true},
		{"python3", "   ...: ", true},
		{"python3", "(Pdb) ", true},
		{"python3", "Name: ", false},
		{"python3", "name> ", false},
		{"python3", "Continue? [y/n] ", false},
		{"node", "> ", true},
		{"node", "package name: (demo) ", false},
		{"irb", "irb(main):001:0> ", true},
		{"ruby3.1", "irb(main):002* ", true},
		{"sqlite3", "sqlite> ", true},
		{"sqlite3", "   ...> ", true},
		{"mysql", "mysql> ", true},
		{"mariadb", "MariaDB [(none)]> ", true},
		{"psql", "shop=# ", true},
		{"psql", "shop-> ", true},
		{"gdb", "(gdb) ", true},
		{"gdb", "Make breakpoint pending on future shared library load? (y or [n]) ", false},
		{"julia", "julia> ", true},
		{"ghc", "ghci> ", true},
		{"redis-cli", "127.0.0.1:6379> ", true},
		{"setup", ">>> ", false},
		{"bash", "> ", false},
	} {
		v := Classify(Facts{Probe: polling(c.program, -1), Modes: raw, Line: c.line})
		if v.Repl != c.want || v.Repl && (!v.Needs || v.Kind != Text) {
			t.Errorf("%s at %q: %+v", c.program, c.line, v)
		}
	}
	script := polling("node", -1)
	script.Script = true
	for name, f := range map[string]Facts{
		"a script":      {Probe: script, Modes: raw, Line: "> "},
		"hidden input":  {Probe: reading("python3"), Modes: &sys.Modes{Canonical: true}, Line: ">>> "},
		"whole screens": {Probe: polling("python3", -1), Modes: raw, Line: ">>> ", AltScreen: true},
	} {
		if v := Classify(f); v.Repl {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// Behind a relay nothing of the program is known but its prompt: one that is well known is none that asks, and one that may be a
// secret's is a question.
//
// FEATURES: R42
func TestReplBehindARelay(t *testing.T) {
	for line, want := range map[string]bool{
		">>> ": true, "... ": true, "In [3]: ": true, "(Pdb) ": true, "> ": true, "irb(main):001:0> ": true, "sqlite> ": true,
		"mysql> ": true, "MariaDB [(none)]> ": true, "    -> ": true, "shop=# ": true, "shop-> ": true, "(gdb) ": true,
		"julia> ": true, "ghci> ": true, "Prelude Data.List> ": true, "php > ": true, "10.0.0.1:6379[2]> ": true,
		"Name: ": false, "name> ": false, "Name> ": false, "Continue? [y/n] ": false, "password=> ": false, "token-> ": false,
		"db.pin:1234> ": false, "passphrase> ": false, "user@far:~$ ": false,
	} {
		v := Classify(Facts{Probe: polling("ssh", -1), Modes: raw, Line: line, Quiet: time.Minute})
		if v.Repl != want || v.Repl && (!v.Needs || v.Kind != Text) {
			t.Errorf("%q: %+v", line, v)
		}
	}
	if v := Classify(Facts{Probe: reading("ssh"), Modes: &sys.Modes{Canonical: true}, Line: ">>> ", Quiet: time.Minute}); v.Repl {
		t.Errorf("it asks for itself: %+v", v)
	}
}

func TestRunsScript(t *testing.T) {
	for args, want := range map[string]bool{
		"node\x00": false, "node\x00--no-warnings\x00": false, "node\x00-i\x00x.js\x00": true, "node\x00server.js\x00": true, "": false,
	} {
		if got := runsScript([]byte(args)); got != want {
			t.Errorf("%q: %v", args, got)
		}
	}
}

// A server or a watcher that says which keys it takes asks nobody; what waits for a key does.
//
// FEATURES: R42
func TestKeyHints_AreNoPrompt(t *testing.T) {
	for _, c := range []struct {
		program string
		above   []string
		want    bool
	}{
		{"node", []string{"  VITE v5.0  ready in 320 ms", "", "  ➜  Local:   http://localhost:5173/", "  ➜  press h + enter to show help"}, true},
		{"node", []string{"Watch Usage", " › Press a to run all tests.", " › Press q to quit watch mode.", " › Press Enter to trigger a test run."}, true},
		{"longterm", []string{"── ✓ done in 0s"}, true},
		{"setup", []string{"Press any key to continue"}, false},
		{"setup", []string{"Press Enter to exit"}, false},
		{"setup", []string{"Press c to continue", "Press q to quit"}, false},
		{"setup", []string{"Press y to install it, any other key to stop"}, false},
	} {
		v := Classify(Facts{Probe: polling(c.program, -1), Modes: raw, Above: c.above, Quiet: time.Minute})
		if v.Repl != c.want || c.want && v.Kind != Text {
			t.Errorf("%s, %q: %+v", c.program, c.above, v)
		}
	}
	secret := Facts{Probe: reading("longterm"), Modes: &sys.Modes{Canonical: true}, Quiet: time.Minute}
	if v := Classify(secret); v.Repl {
		t.Errorf("input that is hidden: %+v", v)
	}
}

// A line of a REPL has no exit status. One of a shell that longterm cannot follow has one that is not seen, and may have failed.
//
// FAULT: H3
func TestHasNoStatus(t *testing.T) {
	for _, c := range []struct {
		program string
		args    []string
		prompt  string
		want    bool
	}{
		{"python3.11", []string{"-q"}, ">>> ", true},
		{"python3", nil, "my> ", true},
		{"python3", []string{"/usr/bin/ipython"}, "In [1]: ", true},
		{"python3", []string{"-m", "pdb", "x.py"}, "(Pdb)", true},
		{"python3", []string{"/usr/bin/xonsh"}, "me@host ~ $ ", false},
		{"ruby3.1", []string{"/usr/bin/irb"}, "irb(main):001:0> ", true},
		{"node", nil, "> ", true},
		{"node", []string{"shell.js"}, "> ", false},
		{"sqlite3", []string{"shop.db"}, "sqlite> ", true},
		{"gdb", []string{"./prog"}, "(gdb) ", true},
		{"bc", []string{"-l"}, "", true},
		{"bash", nil, "$ ", false},
		{"dash", nil, "> ", false},
		{"fish", nil, ">>> ", false},
		{"ssh", []string{"host"}, "me@host:~$ ", false},
		{"ssh", []string{"host"}, "host> ", false},
		{"ssh", []string{"host"}, "> ", false},
		{"ssh", []string{"host"}, "db=# ", false},
		{"ssh", []string{"host"}, ">>> ", true},
		{"mycalc", nil, "> ", false},
		{"", nil, "", false},
	} {
		if got := HasNoStatus(c.program, append([]string{c.program}, c.args...), c.prompt); got != c.want {
			t.Errorf("%s %q at %q: %t", c.program, c.args, c.prompt, got)
		}
	}
}
