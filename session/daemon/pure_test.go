//go:build unix

package daemon

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/vterm"
)

// FEATURES: R96
func TestSizePolicies(t *testing.T) {
	var st seating
	if _, _, ok := st.size(); ok {
		t.Error("nobody is there and somebody decides")
	}
	wide := st.sit(&seat{cols: 200, rows: 20})
	tall := st.sit(&seat{cols: 80, rows: 60})
	says := st.sit(&seat{cols: 10, rows: 10, policy: SizeNone}) // only watches
	for _, c := range []struct {
		policy     SizePolicy
		cols, rows int
		ok         bool
	}{
		{"", 80, 60, true}, {SizeLatest, 80, 60, true}, {SizeLargest, 200, 60, true},
		{SizeSmallest, 80, 20, true}, {SizeFixed, 0, 0, false},
	} {
		says.policy = c.policy
		if cols, rows, ok := st.size(); cols != c.cols || rows != c.rows || ok != c.ok {
			t.Errorf("%q: %d×%d, %v", c.policy, cols, rows, ok)
		}
	}
	older := st.sit(&seat{policy: SizeSmallest})
	older.came = 0
	if cols, rows, ok := st.size(); ok {
		t.Errorf("the policy of an older client counts: %d×%d", cols, rows)
	}
	st.leave(says)
	if cols, rows, _ := st.size(); cols != 80 || rows != 20 {
		t.Errorf("the policy of one that left counts: %d×%d", cols, rows)
	}
	st.leave(older)
	says = st.sit(&seat{cols: 1, rows: 1, policy: SizeNone})
	st.active(says, 300, 300) // has no say
	st.active(wide, 0, 0)     // typed
	if cols, rows, _ := st.size(); cols != 200 || rows != 20 {
		t.Errorf("after typing: %d×%d", cols, rows)
	}
	st.active(wide, 100, 30) // resized
	if cols, _, _ := st.size(); cols != 100 {
		t.Errorf("after resizing: %d columns", cols)
	}
	st.leave(wide)
	if cols, _, _ := st.size(); cols != 80 {
		t.Errorf("after leaving: %d columns", cols)
	}
	if st.leave(tall) {
		t.Error("the watcher is still there")
	}
	if _, _, ok := st.size(); ok {
		t.Error("a watcher decides the size")
	}
}

func TestQuote(t *testing.T) {
	for want, argv := range map[string][]string{
		"make -j8":           {"make", "-j8"},
		"sh -c 'echo \"x\"'": {"sh", "-c", `echo "x"`},
		`echo 'it'\''s' ''`:  {"echo", "it's", ""},
		"echo '$HOME' '*'":   {"echo", "$HOME", "*"},
		"ls /tmp/größe":      {"ls", "/tmp/größe"},
	} {
		if got := quote(argv); got != want {
			t.Errorf("%q: %s, want %s", argv, got, want)
		}
	}
}

// The child's environment describes the terminal it has, not the one longterm was
// started in, and a later definition counts.
//
// FEATURES: R66
func TestChildEnv(t *testing.T) {
	env := childEnv([]string{"A=1", "TERM=dumb", "TMUX=/tmp/x", "A=2", "B=x=y", "=odd", "novalue", "KITTY_PID=3"}, "id", "/dir")
	for _, want := range []string{"A=2", "B=x=y", "TERM=xterm-256color", "COLORTERM=truecolor", "LONGTERM_SESSION=id", "PWD=/dir"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); name == "TMUX" || name == "KITTY_PID" || name == "" || kv == "A=1" || kv == "TERM=dumb" {
			t.Errorf("%s is there", kv)
		}
	}
}

// FEATURES: R9, R12
func TestCommandOf(t *testing.T) {
	env := []string{"SHELL=/bin/sh", "PATH=/bin:/usr/bin"}
	cases := []struct {
		n     api.NewSession
		argv  []string
		shell bool
		fails bool
	}{
		{n: api.NewSession{}, argv: []string{"/bin/sh"}, shell: true},
		{n: api.NewSession{Line: "a | b"}, argv: []string{"/bin/sh", "-c", "a | b"}},
		{n: api.NewSession{Argv: []string{"ls", "-l"}}, argv: []string{"ls", "-l"}},
		{n: api.NewSession{Argv: []string{" "}}, fails: true},
		{n: api.NewSession{Line: "  "}, fails: true},
		{n: api.NewSession{Line: "a", Argv: []string{"b"}}, fails: true},
	}
	for _, c := range cases {
		argv, shell, err := commandOf(c.n, env)
		if (err != nil) != c.fails || !slices.Equal(argv, c.argv) || shell != c.shell {
			t.Errorf("%+v: %q, %v, %v", c.n, argv, shell, err)
		}
	}
	if got := userShell([]string{"SHELL=/no/such/shell", "PATH=/bin:/usr/bin"}); !strings.HasSuffix(got, "sh") || got == "/no/such/shell" {
		t.Errorf("without a usable $SHELL: %s", got)
	}
}

// FEATURES: R12
func TestLookPath(t *testing.T) {
	env := []string{"PATH=/bin:/usr/bin"}
	if p, err := lookPath("sh", env, "/"); err != nil || !strings.HasSuffix(p, "/sh") {
		t.Errorf("%s, %v", p, err)
	}
	for name, code := range map[string]api.Code{
		"no-such-program": api.CodeNoProgram, "/no/such/program": api.CodeNoProgram,
		"/tmp": api.CodeSpawn, "/etc/passwd": api.CodeSpawn,
	} {
		_, err := lookPath(name, env, "/")
		var e *api.Error
		if !errors.As(err, &e) || e.Code != code || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNames(t *testing.T) {
	for _, good := range []string{"a", "build-1", "größe", "x@host:1", "_x"} {
		if err := checkName(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "-x", "a b", "../x", "a/b", "a\x1b[m", strings.Repeat("x", 129)} {
		if checkName(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	for argv0, want := range map[string]string{"/usr/bin/make": "make", "../a b": "ab", "💥": "session"} {
		if got := nameFor([]string{argv0}); got != want || checkName(got) != nil {
			t.Errorf("%q: %q", argv0, got)
		}
	}
}

func TestSignals(t *testing.T) {
	for s, n := range map[string]int{"INT": 2, "sigterm": 15, "9": 9, "KILL": 9} {
		if got, err := parseSignal(s); err != nil || int(got) != n {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "NOPE", "0", "-9", "65"} {
		if _, err := parseSignal(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}

// hundred is a history of a hundred lines whose version is their number.
type hundred struct{ vterm.NoHistory }

func (hundred) Len() int                  { return 100 }
func (hundred) Line(i int, l *vterm.Line) { l.Version = uint64(i) }

// FEATURES: R34
func TestHistoryRanges(t *testing.T) {
	for spec, want := range map[string][2]int{
		"0:10": {0, 10}, "-5:": {95, 100}, ":": {0, 100}, "90:200": {90, 100}, ":-99": {0, 1}, "50:40": {0, 0},
	} {
		lines, err := historyLines(hundred{}, spec)
		if err != nil || len(lines) != want[1]-want[0] || len(lines) > 0 && int(lines[0].Version) != want[0] {
			t.Errorf("%q: %d lines, %v", spec, len(lines), err)
		}
	}
	for _, spec := range []string{"x", "1", "a:b", "1:b"} {
		if _, err := historyLines(hundred{}, spec); err == nil {
			t.Errorf("%q was accepted", spec)
		}
	}
}

// A smaller client sees the part that fits; half a wide character is not shown.
//
// FEATURES: R96
func TestCrop(t *testing.T) {
	wide := vterm.NewCell('你', vterm.WidthWide, 0, 0)
	tail := vterm.NewCell(0, vterm.WidthTail, 0, 0)
	a := vterm.NewCell('a', vterm.WidthNarrow, 0, 0)
	f := vterm.Frame{Cols: 4, Rows: 3, Cursor: vterm.Cursor{Row: 2, Col: 3, Visible: true}}
	for row := range 3 {
		f.Lines = append(f.Lines, vterm.Line{Row: row, Cells: []vterm.Cell{a, a, wide, tail}})
	}
	original := f.Lines[0].Cells
	crop(&f, 3, 2)
	if len(f.Lines) != 2 || len(f.Lines[0].Cells) != 3 || f.Lines[0].Cells[2] != 0 || f.Cursor.Visible {
		t.Errorf("%+v", f)
	}
	if f.Cols != 3 || f.Rows != 2 || len(original) != 4 {
		t.Errorf("%+v", f)
	}
}

// FEATURES: R14
func TestProcessesOfALineMayBeOlderThanItsMark(t *testing.T) {
	typed := time.Unix(1000, 0)
	begun := make(chan struct{})
	close(begun)
	j := &job{run: &session.Run{Begun: begun, Typed: typed}}
	j.started.Began = typed.Add(time.Second) // the mark was read late
	if got := j.processesSince(); !got.Equal(typed) {
		t.Errorf("a line that was given to the shell: %v", got)
	}
	j.run = nil
	if got := j.processesSince(); !got.Before(j.started.Began) {
		t.Errorf("one from before a restart: %v", got)
	}
}
