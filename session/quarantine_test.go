package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

const poison = "POISON"

// poisoned is an emulator that panics at some output; deadly cannot be recovered from.
type poisoned struct {
	vterm.Engine
	deadly bool
}

func (p *poisoned) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(poison)) {
		if p.deadly {
			depths = overflow(0)
		}
		panic("the emulator choked")
	}
	return p.Engine.Write(b)
}

// overflow ends the process: a stack that overflows is no panic.
func overflow(n int) int {
	if n < 0 { // it does not come to that
		return n
	}
	return overflow(n+1) + 1
}

var depths int

func init() {
	for name, deadly := range map[string]bool{"poisoned": false, "deadly": true} {
		engines[name] = func(o vterm.Options) vterm.Engine { return &poisoned{vterm.New(o), deadly} }
	}
}

// withEngine is reopen with another emulator.
func withEngine(t *testing.T, dir string, r *ring.Ring, engine string, crashed bool) *fixture {
	t.Helper()
	j, _, err := journal.Open(dir+"/journal", journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{ring: r, accept: -1, released: make(chan struct{})}
	s, err := New(Config{
		ID: "test", Dir: dir, Device: f, Ring: r, Journal: j, Engine: engine, Crashed: crashed, Suspects: make(chan struct{}, 1),
		Options: vterm.Options{Cols: 80, Rows: 24}, Status: Status{State: Running, Cols: 80, Rows: 24},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Shell: &shell.Launch{Kind: shell.Bash, StateDir: dir},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	s.Start()
	return &fixture{s, f, dir, j}
}

// acknowledged waits until all that was printed is in the journal.
func (f *fixture) acknowledged(t *testing.T) {
	t.Helper()
	for ctx := testContext(t); f.fake.ring.Tail() != f.fake.ring.Head(); {
		if err := f.WithScreen(ctx, func(View) {}); err != nil && !errors.Is(err, ErrQuarantined) {
			t.Fatal("the output is not taken: ", err)
		}
	}
}

// goesOn checks what a quarantined session still does.
func (f *fixture) goesOn(t *testing.T, want string) {
	t.Helper()
	if why := f.Status().Quarantine; why == "" {
		t.Error("it is not quarantined")
	}
	for i := range 4 { // far more than the ring: the child is not held back
		part := strings.Repeat(fmt.Sprintf("afterwards %d\r\n", i), 60000)
		f.print(f.Session, part)
		f.acknowledged(t)
		want += part
	}
	if text := screenText(t, f.Session); !strings.Contains(text, "quarantined") {
		t.Errorf("the screen does not say so: %q", text)
	}
	if err := f.Session.Resize(testContext(t), 100, 30); err != nil {
		t.Error(err)
	}
	if _, err := f.Type(testContext(t), Typing{Bytes: []byte("\x03")}); err != nil || !strings.Contains(f.got(), "\x03") {
		t.Errorf("typing: %v, %q", err, f.got())
	}
	f.Exited(Exit{Code: 3}, f.fake.ring.Head())
	w, err := f.Wait(testContext(t), WaitFor{Conds: []Cond{{Kind: CondExit}}})
	if err != nil || len(w.Fired) != 1 || w.Status.Exit == nil || w.Status.Exit.Code != 3 {
		t.Errorf("its end: %+v, %v", w, err)
	}
	f.Session.Stop()
	if got, gap := kept(t, f.dir); string(got) != want || gap != 0 {
		t.Errorf("the history has %d bytes and a gap of %d, want %d", len(got), gap, len(want))
	}
}

// A panic in emulator, tracker or rules is the session's alone, and its output is kept.
//
// FAULT: A2
// FEATURES: R122
func TestPanicQuarantinesTheSession(t *testing.T) {
	for _, c := range []struct {
		name, output string
		break_       func(*Session)
	}{
		{"emulator", poison + "\r\n", func(*Session) {}},
		{"tracker", "\x1b]133;A\a\r\n", func(s *Session) { s.lines.shell.Tracker = nil }},
		{"rules", "Password:", func(s *Session) { s.rules = s.newRules() }},
		{"operation", "x\r\n", func(*Session) { panic("asked the wrong thing") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := withEngine(t, t.TempDir(), ring.Local(ring.DefaultSize), "poisoned", false)
			f.print(f.Session, "before\r\n")
			waitText(t, f.Session, "before")
			if err := f.do(testContext(t), func() { c.break_(f.Session) }); err != nil && !errors.Is(err, ErrQuarantined) {
				t.Fatal(err)
			}
			f.print(f.Session, c.output)
			f.acknowledged(t)
			_, _ = f.Wait(testContext(t), WaitFor{Conds: []Cond{{Kind: CondQuiet}}})
			f.goesOn(t, "before\r\n"+c.output)
		})
	}
}

// The next owner tries again, panics again, and the session is quarantined again; it can restart after the output that
// causes the panic.
//
// FAULT: A2
// FEATURES: R122
func TestPanicAtEachReplay(t *testing.T) {
	dir, r := t.TempDir(), ring.Local(ring.DefaultSize)
	want := "fine\r\n" + poison + "\r\n"
	for range maxAttempts + 2 {
		f := withEngine(t, dir, r, "poisoned", false)
		if r.Head() == 0 {
			f.print(f.Session, want)
		}
		f.acknowledged(t)
		if _, err := f.EmulatorAt(testContext(t), uint64(len(want))); !errors.Is(err, ErrQuarantined) {
			t.Errorf("looking back: %v", err)
		}
		f.Session.Stop()
	}
	f := withEngine(t, dir, r, "poisoned", false)
	_ = f.WithScreen(testContext(t), func(View) {}) // it is there
	f.goesOn(t, want)
	if err := f.BeginAfter(f.end()); err != nil {
		t.Fatal(err)
	}
	r2 := ring.Local(ring.DefaultSize)
	r2.SetBase(f.end())
	again := withEngine(t, dir, r2, "poisoned", false)
	again.print(again.Session, "anew\r\n")
	waitText(t, again.Session, "anew")
	if st := again.Status(); st.Quarantine != "" {
		t.Error("still quarantined: ", st.Quarantine)
	}
}

// A session that kills the daemon at each replay is quarantined after some attempts: they are
// counted before a replay. Attempts that ended otherwise (the daemon was killed) are not.
//
// FAULT: A2
// FEATURES: R122
func TestReplayThatKillsTheDaemon(t *testing.T) {
	const variable = "LONGTERM_TEST_DEADLY"
	if dir := os.Getenv(variable); dir != "" { // a daemon
		debug.SetMaxStack(1 << 20)
		f := withEngine(t, dir, nil, "deadly", os.Getenv(variable+"_CRASHED") != "")
		_ = f.WithScreen(testContext(t), func(View) {})
		fmt.Println("quarantine:", f.Status().Quarantine)
		return
	}
	dir := t.TempDir()
	j, _, err := journal.Open(filepath.Join(dir, "journal"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.AppendResize(80, 24), j.AppendOutput([]byte(poison)), j.Close()); err != nil {
		t.Fatal(err)
	}
	daemon := func(crashed string) (out string, ok bool) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestReplayThatKillsTheDaemon$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"="+dir, variable+"_CRASHED="+crashed)
		b, err := cmd.CombinedOutput()
		return string(b), err == nil
	}
	for range maxAttempts + 1 {
		if _, ok := daemon(""); ok {
			t.Fatal("the replay did not end the process")
		}
	}
	for i := range maxAttempts - 1 {
		if _, ok := daemon("1"); ok {
			t.Fatalf("given up after %d crashes", i)
		}
	}
	out, ok := daemon("1")
	if !ok || !strings.Contains(out, "quarantine: the daemon crashed") {
		t.Errorf("after %d crashes: %v\n%s", maxAttempts, ok, out)
	}
}
