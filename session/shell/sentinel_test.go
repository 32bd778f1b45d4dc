//go:build unix

package shell

import (
	"strings"
	"testing"
	"time"
)

var wrapCases = []struct {
	name string
	line string
	fish string
	exit int // -1: anything but 0
	out  string
}{
	{"true", "true", "", 0, ""},
	{"status", "sh -c 'exit 7'", "", 7, ""},
	{"status of the line before", "echo $?", "echo $status", 0, "7"},
	{"variables stay", "x='a  b'", "set x 'a  b'", 0, ""},
	{"and are there", `echo "$x"`, "", 0, "a  b"},
	{"comment", "echo a # b 'c", "", 0, "a"},
	{"only a comment", "# b 'c", "", 0, ""},
	{"here-document", "cat <<E\none 'two\n$x\nE", skipFish, 0, "one 'two\na  b"},
	{"lines", "echo 1\necho 2\nfalse", "", 1, "1\n2"},
	{"open quote", "echo 'open", "", -1, "*"},
	{"open parenthesis", "(echo x", "", -1, "*"},
	{"backslash at the end", `echo x\`, skipFish, 0, "*"},
	{"and again", "echo on", "", 0, "on"},
	{"quotes", `echo "it's" 'so'\''s'`, `echo "it's" 'so'"'"'s'`, 0, "it's so's"},
	{"background", "sleep 0 & wait", "", 0, "*"},
	{"not found", "nosuchcommand-xyz", "", 127, "*"},
	{"function", "f() { return 3; }; f", "function f; return 3; end; f", 3, ""},
	{"subshell", "(exit 4)", skipFish, 4, ""},
	{"cd", "cd /; pwd", "", 0, "/"},
	{"directory stays", "pwd", "", 0, "/"},
	{"forged end", `printf '\033]133;D;9;lt=\007'; false`, "", 1, ""},
	{"tabs", "\tprintf '[%s]' 'a\tb'", "", 0, "*"},
	{"percent", `echo '%s %d \n'; sh -c 'exit 2'`, "", 2, "*"},
}

// FEATURES: R7 R9
func TestWrap(t *testing.T) {
	for _, sh := range shells {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			path := shellPath(t, sh.name)
			r := newTestShellSession(t, testShellOptions{argv: []string{path}, plain: true, env: []string{"PS1=$ ", "PS2=> "}})
			kind := Detect([]string{path})
			r.readUntil("prompt", func() bool { return len(r.screen()) > 0 })
			for _, w := range wrapCases {
				line := w.line
				if sh.name == "fish" && w.fish != "" {
					line = w.fish
				}
				if line == skipFish {
					continue
				}
				c := r.runWrapped(kind, line)
				if got := exitOf(c); got != w.exit && !(w.exit == -1 && got > 0) {
					t.Errorf("%s: %q ended with %d, want %d; printed %q", w.name, line, got, w.exit, r.text(c))
				}
				if out := r.text(c); w.out != "*" && out != w.out {
					t.Errorf("%s: printed %q, want %q", w.name, out, w.out)
				}
				if c.Text != line || c.Quality != Basic {
					t.Errorf("%s: command %+v", w.name, c)
				}
			}
		})
	}
}

// runWrapped runs a line by Wrap.
func (r *testShellSession) runWrapped(k Kind, line string) Command {
	r.t.Helper()
	token := NewNonce()
	typed := Wrap(k, line, token)
	if strings.Contains(typed, token) || strings.Contains(typed, "\x1b") {
		r.t.Errorf("the typed line shows the token: %q", typed)
	}
	r.taken = len(r.changes)
	r.apply(Event{Kind: EventSentinel, Text: token})
	r.apply(Event{Kind: EventTyped, At: uint64(len(r.bytes)), Time: time.Now(), Text: line})
	r.sendKeys(strings.ReplaceAll(typed, "\n", "\r") + "\r")
	return r.nextChange(ChangeFinished).Command
}

// FuzzWrap checks that quoting contains any line.
func FuzzWrap(f *testing.F) {
	f.Add("it's")
	f.Add("a\\")
	f.Fuzz(func(t *testing.T, line string) {
		w := Wrap(Dash, line, "0123456789abcdef")
		_, rest, _ := strings.Cut(w, "command eval ")
		quoted, _, ok := cutLast(rest, "; (s=$?")
		if !ok {
			t.Fatal(w)
		}
		p := declarationParser{text: quoted}
		if got, err := p.parseWord(); err != nil || got != line || !p.atEnd() {
			t.Errorf("%q became %q: %v", line, got, err)
		}
	})
}

// cutLast cuts s around the last instance of sep.
func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
