package inputdetect

import (
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// TestClassify_REPLPrompts checks that an interpreter waits for a command at its prompt, which is no question. A
// question of a script is one.
// FEATURES: R42
func TestClassify_REPLPrompts(t *testing.T) {
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
		v := Classify(Evidence{Probe: resultPolling(c.program, -1), Modes: raw, Line: c.line})
		if v.IsREPL != c.want || v.IsREPL && (!v.NeedsInput || v.Kind != Text) {
			t.Errorf("%s at %q: got %+v", c.program, c.line, v)
		}
	}
	script := resultPolling("node", -1)
	script.RunsScript = true
	for name, f := range map[string]Evidence{
		"a script":      {Probe: script, Modes: raw, Line: "> "},
		"hidden input":  {Probe: resultReading("python3"), Modes: &sys.Modes{Canonical: true}, Line: ">>> "},
		"whole screens": {Probe: resultPolling("python3", -1), Modes: raw, Line: ">>> ", AltScreen: true},
	} {
		if v := Classify(f); v.IsREPL {
			t.Errorf("%s: got %+v", name, v)
		}
	}
}

// TestClassify_REPLBehindRelay checks that behind a relay only the prompt is known. A well-known prompt is no question,
// and one that may be for a secret is a question.
// FEATURES: R42
func TestClassify_REPLBehindRelay(t *testing.T) {
	for line, want := range map[string]bool{
		">>> ": true, "... ": true, "In [3]: ": true, "(Pdb) ": true, "> ": true, "irb(main):001:0> ": true, "sqlite> ": true,
		"mysql> ": true, "MariaDB [(none)]> ": true, "    -> ": true, "shop=# ": true, "shop-> ": true, "(gdb) ": true,
		"julia> ": true, "ghci> ": true, "Prelude Data.List> ": true, "php > ": true, "10.0.0.1:6379[2]> ": true,
		"Name: ": false, "name> ": false, "Name> ": false, "Continue? [y/n] ": false, "password=> ": false, "token-> ": false,
		"db.pin:1234> ": false, "passphrase> ": false, "user@far:~$ ": false,
	} {
		v := Classify(Evidence{Probe: resultPolling("ssh", -1), Modes: raw, Line: line, Silence: time.Minute})
		if v.IsREPL != want || v.IsREPL && (!v.NeedsInput || v.Kind != Text) {
			t.Errorf("%q: got %+v", line, v)
		}
	}
	if v := Classify(Evidence{Probe: resultReading("ssh"), Modes: &sys.Modes{Canonical: true}, Line: ">>> ", Silence: time.Minute}); v.IsREPL {
		t.Errorf("the relay's own prompt: got %+v", v)
	}
}

func TestRunsScript(t *testing.T) {
	for args, want := range map[string]bool{
		"node\x00": false, "node\x00--no-warnings\x00": false, "node\x00-i\x00x.js\x00": true, "node\x00server.js\x00": true, "": false,
	} {
		if got := runsScript([]byte(args)); got != want {
			t.Errorf("%q: got %v", args, got)
		}
	}
}

// TestClassify_KeyHelp_IsNoPrompt checks that a server or file watcher that explains its keys needs no input; a program
// that waits for a key does.
// FEATURES: R42
func TestClassify_KeyHelp_IsNoPrompt(t *testing.T) {
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
		v := Classify(Evidence{Probe: resultPolling(c.program, -1), Modes: raw, Above: c.above, Silence: time.Minute})
		if v.IsREPL != c.want || c.want && v.Kind != Text {
			t.Errorf("%s, %q: got %+v", c.program, c.above, v)
		}
	}
	secret := Evidence{Probe: resultReading("longterm"), Modes: &sys.Modes{Canonical: true}, Silence: time.Minute}
	if v := Classify(secret); v.IsREPL {
		t.Errorf("hidden input: got %+v", v)
	}
}

// TestHasNoStatus checks that a line of a REPL has no exit status. A line of a shell that longterm cannot follow may
// fail without a visible status.
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
			t.Errorf("%s %q at %q: got %t", c.program, c.args, c.prompt, got)
		}
	}
}

// TestClassify_SilentFilter_HasNoAlert checks that a filter that reads the terminal without a prompt is no question,
// also after other output. A request is one.
// FEATURES: R42
func TestClassify_SilentFilter_HasNoAlert(t *testing.T) {
	for _, c := range []struct {
		name, text string
		f          Evidence
		want       bool
	}{
		{"nothing was printed", "", Evidence{Probe: resultReading("cat"), Modes: cooked}, true},
		{"a line was printed", "hello\n", Evidence{Probe: resultReading("cat"), Modes: cooked}, true},
		{"below its shell's prompt", "$ sort\n", Evidence{Probe: resultReading("sort"), Modes: cooked, Shell: ShellRunning}, true},
		{"behind a relay", "hello\n", Evidence{Probe: relayOf("script", resultReading("cat"), cooked), Modes: raw}, true},
		{"a request on the line above", "Paste the key, then press Ctrl-D:\n", Evidence{Probe: resultReading("cat"), Modes: cooked}, false},
		{"a question on the line above", "Overwrite it? [y/N]\n", Evidence{Probe: resultReading("head"), Modes: cooked}, false},
		{"a prompt", "Name: ", Evidence{Probe: resultReading("cat"), Modes: cooked}, false},
		{"hidden input", "", Evidence{Probe: resultReading("cat"), Modes: noecho}, false},
		{"another program", "hello\n", Evidence{Probe: resultReading("setup"), Modes: cooked}, false},
	} {
		v := Classify(screenFacts(c.text, c.f))
		if v.IsREPL != c.want || !v.NeedsInput || c.want && (v.Kind != Text || PromptText(v.Reason) != "") {
			t.Errorf("%s: got %+v", c.name, v)
		}
	}
}
