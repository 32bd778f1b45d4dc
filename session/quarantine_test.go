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

// panicText is output at which panickingEngine panics.
const panicText = "POISON"

// panickingEngine is an emulator that panics at some output. With fatal set, the process cannot recover.
type panickingEngine struct {
	vterm.Engine
	fatal bool
}

func (p *panickingEngine) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(panicText)) {
		if p.fatal {
			stackSink = overflowStack(0)
		}
		panic("the emulator choked")
	}
	return p.Engine.Write(b)
}

// overflowStack ends the process: a stack overflow is no panic.
func overflowStack(n int) int {
	if n < 0 { // never true
		return n
	}
	return overflowStack(n+1) + 1
}

// stackSink keeps the compiler from removing overflowStack's work.
var stackSink int

func init() {
	for name, deadly := range map[string]bool{"poisoned": false, "deadly": true} {
		engines[name] = func(o vterm.Options) vterm.Engine { return &panickingEngine{vterm.New(o), deadly} }
	}
}

// withEngine reopens a session with another emulator.
func withEngine(t *testing.T, dir string, r *ring.Ring, engine string, crashed bool) *fixture {
	t.Helper()
	j, _, err := journal.Open(dir+"/journal", journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeDevice{ring: r, accept: -1, released: make(chan struct{})}
	s, err := New(Config{
		ID: "test", Dir: dir, Device: f, Ring: r, Journal: j, Engine: engine, PreviousCrashed: crashed, SuspectSlot: make(chan struct{}, 1),
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

// awaitJournaled waits until all output is in the journal.
func (f *fixture) awaitJournaled(t *testing.T) {
	t.Helper()
	for ctx := testContext(t); f.fakeDevice.ring.Tail() != f.fakeDevice.ring.Head(); {
		if err := f.WithScreen(ctx, func(View) {}); err != nil && !errors.Is(err, ErrQuarantined) {
			t.Fatal("output not journaled: ", err)
		}
	}
}

// checkQuarantined checks which functions a quarantined session still has.
func (f *fixture) checkQuarantined(t *testing.T, want string) {
	t.Helper()
	if why := f.Status().Quarantine; why == "" {
		t.Error("not quarantined")
	}
	for i := range 4 { // far more than the ring: the child is not blocked
		part := strings.Repeat(fmt.Sprintf("afterwards %d\r\n", i), 60000)
		f.print(f.Session, part)
		f.awaitJournaled(t)
		want += part
	}
	if text := screenText(t, f.Session); !strings.Contains(text, "quarantined") {
		t.Errorf("the screen shows no reason: %q", text)
	}
	if err := f.Session.Resize(testContext(t), 100, 30); err != nil {
		t.Error(err)
	}
	if _, err := f.Type(testContext(t), TypeRequest{Bytes: []byte("\x03")}); err != nil || !strings.Contains(f.typedText(), "\x03") {
		t.Errorf("typing: %v, %q", err, f.typedText())
	}
	f.Exited(Exit{Code: 3}, f.fakeDevice.ring.Head())
	w, err := f.Wait(testContext(t), WaitSpec{Conds: []Cond{{Kind: CondExit}}})
	if err != nil || len(w.Fired) != 1 || w.Status.Exit == nil || w.Status.Exit.Code != 3 {
		t.Errorf("end: %+v, %v", w, err)
	}
	f.Session.Stop()
	if got, gap := readHistory(t, f.dir); string(got) != want || gap != 0 {
		t.Errorf("history of %d bytes with a gap of %d, want %d bytes", len(got), gap, len(want))
	}
}

// TestPanic_QuarantinesSession checks that a panic in emulator, tracker or rules affects only its session, and that the
// output is kept.
//
// FAULT: A2
// FEATURES: R122
func TestPanic_QuarantinesSession(t *testing.T) {
	for _, c := range []struct {
		name, output string
		break_       func(*Session)
	}{
		{"emulator", panicText + "\r\n", func(*Session) {}},
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
			f.awaitJournaled(t)
			_, _ = f.Wait(testContext(t), WaitSpec{Conds: []Cond{{Kind: CondQuiet}}})
			f.checkQuarantined(t, "before\r\n"+c.output)
		})
	}
}

// TestPanic_AtEachReplay checks that the next owner tries again and the session is quarantined again; it can restart
// after the output that causes the panic.
//
// FAULT: A2
// FEATURES: R122
func TestPanic_AtEachReplay(t *testing.T) {
	dir, r := t.TempDir(), ring.Local(ring.DefaultSize)
	want := "fine\r\n" + panicText + "\r\n"
	for range maxReplayAttempts + 2 {
		f := withEngine(t, dir, r, "poisoned", false)
		if r.Head() == 0 {
			f.print(f.Session, want)
		}
		f.awaitJournaled(t)
		if _, err := f.EmulatorAt(testContext(t), uint64(len(want))); !errors.Is(err, ErrQuarantined) {
			t.Errorf("time travel: %v", err)
		}
		f.Session.Stop()
	}
	f := withEngine(t, dir, r, "poisoned", false)
	_ = f.WithScreen(testContext(t), func(View) {}) // waits until the session is rebuilt
	f.checkQuarantined(t, want)
	if err := f.SkipHistoryBefore(f.outputEnd()); err != nil {
		t.Fatal(err)
	}
	r2 := ring.Local(ring.DefaultSize)
	r2.SetBase(f.outputEnd())
	again := withEngine(t, dir, r2, "poisoned", false)
	again.print(again.Session, "anew\r\n")
	waitText(t, again.Session, "anew")
	if st := again.Status(); st.Quarantine != "" {
		t.Error("still quarantined: ", st.Quarantine)
	}
}

// TestReplay_KillsDaemon checks that a session which kills the daemon at each replay is quarantined after some attempts.
// They are counted before a replay. Attempts that ended otherwise (the daemon was killed) do not count.
//
// FAULT: A2
// FEATURES: R122
func TestReplay_KillsDaemon(t *testing.T) {
	const variable = "LONGTERM_TEST_DEADLY"
	if dir := os.Getenv(variable); dir != "" { // runs as a daemon
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
	if err := errors.Join(j.AppendResize(80, 24), j.AppendOutput([]byte(panicText)), j.Close()); err != nil {
		t.Fatal(err)
	}
	daemon := func(crashed string) (out string, ok bool) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestReplay_KillsDaemon$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"="+dir, variable+"_CRASHED="+crashed)
		b, err := cmd.CombinedOutput()
		return string(b), err == nil
	}
	for range maxReplayAttempts + 1 {
		if _, ok := daemon(""); ok {
			t.Fatal("the replay did not end the process")
		}
	}
	for i := range maxReplayAttempts - 1 {
		if _, ok := daemon("1"); ok {
			t.Fatalf("quarantined after %d crashes", i)
		}
	}
	out, ok := daemon("1")
	if !ok || !strings.Contains(out, "quarantine: the daemon crashed") {
		t.Errorf("after %d crashes: %v\n%s", maxReplayAttempts, ok, out)
	}
}
