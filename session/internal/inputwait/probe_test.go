package inputwait

import (
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/vterm"
)

// host is a session with an emulated screen, and a kernel state that the test sets.
type host struct {
	view    View
	probe   Probe
	screen  *vterm.Terminal
	typed   echodetect.TypedTexts
	editor  echodetect.EditorRegion
	partial string
}

// newHost returns a host whose program has printed a text.
func newHost(prints string) *host {
	now := time.Unix(100, 0)
	h := &host{screen: vterm.New(vterm.Options{Cols: 40, Rows: 5})}
	h.view = View{Now: now, CanProbe: true, PID: 1, LastOutput: now}
	h.probe = Probe{Modes: &sys.Modes{Echo: true, Canonical: true}}
	h.probe.Result = inputdetect.Result{State: inputdetect.Reading, PID: 2, TID: 2, WaitCount: 5, Source: inputdetect.NoSource + 1, Timeout: -1}
	_, _ = h.screen.Write([]byte(prints))
	return h
}

func (h *host) View() View { return h.view }

func (h *host) Probe() Probe {
	h.probe.Now = h.view.Now
	return h.probe
}

func (h *host) RedactLine(line string) string { return line }

func (h *host) Screen() Screen {
	s := Screen{History: h.screen.History(), Typed: h.typed, Editor: &h.editor, PartialLine: h.partial}
	h.screen.Frame(&s.Frame, vterm.Query{})
	return s
}

// probeAfter probes after a time.
func (h *host) probeAfter(t *testing.T, m *Machine, after time.Duration) Finding {
	t.Helper()
	h.view.Now = h.view.Now.Add(after)
	f, ok := m.Probe()
	if !ok {
		t.Fatal("no probe")
	}
	m.Next(h.view.Now, f.Unconfirmed, false)
	return f
}

// FEATURES: R42
func TestProbe(t *testing.T) {
	for _, c := range []struct {
		name   string
		prints string
		change func(h *host)
		needs  bool
	}{
		{"a question", "Continue? [y/n] ", func(*host) {}, true},
		{"a password", "Password: ", func(h *host) { h.probe.Modes.Echo = false }, true},
		{"a program that works", "Continue? [y/n] ", func(h *host) { h.probe.Result.State = inputdetect.Busy }, false},
		{"output on its way", "Continue? [y/n] ", func(h *host) { h.probe.OutputPending = true }, false},
		{"no terminal", "Continue? [y/n] ", func(h *host) { h.probe = Probe{Failed: true} }, false},
	} {
		h := newHost(c.prints)
		c.change(h)
		m := New(h)
		m.NoteOutput(h.view.Now)
		if f := h.probeAfter(t, m, FirstProbe); f.Verdict.NeedsInput != c.needs {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

// TestProbe_IgnoresPartialLine checks that an unfinished line at a prompt does not change the finding.
//
// FEATURES: R42
func TestProbe_IgnoresPartialLine(t *testing.T) {
	for _, c := range []struct {
		name, prints, half string
		kind               inputdetect.Kind
	}{
		{"a prompt", "$ ", "", inputdetect.Prompt},
		{"a line begun", "$ echo he", "echo he", inputdetect.Prompt},
		{"over the end of a row", "$ echo a line of more than forty columns", "echo a line of more than forty columns", inputdetect.Prompt},
		{"something else is printed", "$ echo he", "wait", inputdetect.Text},
		{"a question", "Continue? [y/n] y", "y", inputdetect.Confirm},
	} {
		h := newHost(c.prints)
		h.partial, h.probe.Result.Program = c.half, "dash"
		m := New(h)
		m.NoteOutput(h.view.Now)
		h.probeAfter(t, m, FirstProbe)
		if f := h.probeAfter(t, m, time.Second); f.Verdict.Kind != c.kind {
			t.Errorf("%s: %+v, want %s", c.name, f, c.kind)
		}
	}
}

// TestProbe_EndedOrAtPrompt checks that an ended program is not probed, nor a shell at its prompt.
func TestProbe_EndedOrAtPrompt(t *testing.T) {
	h := newHost("$ ")
	h.view.HasIntegration, h.view.Shell.Phase = true, shell.PhasePrompt
	if f := h.probeAfter(t, New(h), 0); !f.AtPrompt || f.Verdict.NeedsInput {
		t.Errorf("%+v", f)
	}
	h.view.CanProbe = false
	if _, ok := New(h).Probe(); ok {
		t.Error("probed an ended program")
	}
}

// TestProbe_InputEndsWait checks that a wait during which input arrived is no prompt, until the program has run or for
// a time limit.
//
// FAULT: E7
// FEATURES: R42
func TestProbe_InputEndsWait(t *testing.T) {
	h := newHost("Continue? [y/n] ")
	m := New(h)
	m.NoteOutput(h.view.Now)
	if f := h.probeAfter(t, m, FirstProbe); !f.Verdict.NeedsInput {
		t.Fatalf("%+v", f)
	}
	m.NoteInput()
	if f := h.probeAfter(t, m, FirstProbe); f.Verdict.NeedsInput || !f.Unconfirmed {
		t.Errorf("the same wait: %+v", f)
	}
	h.probe.Result.WaitCount++
	h.probe.Result.TID = 2
	if f := h.probeAfter(t, m, FirstProbe); f.Unconfirmed {
		t.Errorf("another wait: %+v", f)
	}
}

// TestPromptContext checks that rows with typed input count as answered prompts.
//
// FEATURES: R42
func TestPromptContext(t *testing.T) {
	h := newHost("Name? bob\r\na long line that the terminal breaks into two rows\r\n> ")
	h.typed.Add(echodetect.TypedText{Lines: []string{"bob", ""}, Row: 0, Col: 6})
	var f inputdetect.Evidence
	m := New(h)
	m.screenEvidence(&f, &h.view)
	if f.Line != "> " || len(f.Above) != 2 || f.Above[0] != "" || f.Above[1] != "a long line that the terminal breaks into two rows" {
		t.Errorf("%q below %q", f.Line, f.Above)
	}
	if got, half := m.CursorLine(); got != "> " || half {
		t.Errorf("%q", got)
	}
	h.view.HasIntegration = true
	h.editor.HandleMark(shell.MarkPrompt, 1, 0, 0)
	h.editor.HandleMark(shell.MarkInput, 1, 0, 0)
	h.editor.HandleMark(shell.MarkOutput, 2, 1, 0)
	f.Above = nil
	if m.screenEvidence(&f, &h.view); len(f.Above) != 1 {
		t.Errorf("below the submitted line: %q", f.Above)
	}
}

// TestReuseLastProbe_WhileAsleep checks that a sleeping program is not probed again before it runs, prints or gets
// input, and that the reused finding equals that of a probe.
//
// FEATURES: R42
func TestReuseLastProbe_WhileAsleep(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *host, m *Machine)
		want   bool
	}{
		"sleeps":         {func(*host, *Machine) {}, true},
		"is printed to":  {func(h *host, m *Machine) { m.NoteOutput(h.view.Now) }, false},
		"is typed to":    {func(_ *host, m *Machine) { m.NoteInput() }, false},
		"cannot be seen": {func(h *host, m *Machine) { h.probe.Failed = true; h.probeAfter(t, m, time.Second) }, false},
		"reads":          {func(h *host, m *Machine) { h.probe.Result.State = inputdetect.Reading; h.probeAfter(t, m, time.Second) }, true},
		"works":          {func(h *host, m *Machine) { h.probe.Result.State = inputdetect.Busy; h.probeAfter(t, m, time.Second) }, false},
		"relays what waits": {func(h *host, m *Machine) {
			h.probe.Result.Relayed = make([]inputdetect.RelayedTTY, 1)
			h.probeAfter(t, m, time.Second)
		}, true},
	} {
		h := newHost("Continue? [y/n] ")
		h.probe.Result = inputdetect.Result{State: inputdetect.Sleeping, PID: 2, TID: 2, WaitCount: -1, Source: inputdetect.FromSyscall, Timeout: -1}
		m := New(h)
		m.NoteOutput(h.view.Now)
		for range 3 {
			h.probeAfter(t, m, time.Second)
		}
		if f, again := h.probeAfter(t, m, time.Second), m.ReuseLastProbe(); f.Verdict.Kind != again.Verdict.Kind || f.Unconfirmed != again.Unconfirmed || f.FollowUp != again.FollowUp {
			t.Errorf("reused %+v, want %+v", again, f)
		}
		if c.change(h, m); m.IsUnchanged() != c.want {
			t.Errorf("program %s: unchanged %v", name, m.IsUnchanged())
		}
	}
}

// TestReuseLastProbe_AtPrompt checks the same for a program at a certain prompt. A prompt that silence may still
// decide is probed again.
//
// FEATURES: R42 R90
func TestReuseLastProbe_AtPrompt(t *testing.T) {
	for name, c := range map[string]struct {
		prints string
		change func(h *host)
		kind   inputdetect.Kind
		want   bool
	}{
		"a question":        {"Continue? [y/n] ", func(*host) {}, inputdetect.Confirm, true},
		"no word":           {"", func(*host) {}, inputdetect.Text, true},
		"a prompt":          {"$ ", func(h *host) { h.probe.Result.Program = "dash" }, inputdetect.Prompt, true},
		"output on its way": {"Continue? [y/n] ", func(h *host) { h.probe.OutputPending = true }, inputdetect.None, false},
		"unknown processes": {"Continue? [y/n] ", func(h *host) { h.probe.Failed = true }, inputdetect.Confirm, false},
		"silence decides":   {"done\r\n", setPolling, inputdetect.None, false},
		"a long silence": {"done\r\n", func(h *host) {
			setPolling(h)
			h.view.LastOutput = h.view.Now.Add(-inputdetect.MaxUsefulSilence)
		}, inputdetect.None, true},
		"a prompt behind a line of ours": {"$ ", func(h *host) {
			h.probe.Result.Program, h.probe.Result.PID, h.view.RunsLine = "dash", h.view.PID, true
		}, inputdetect.None, false},
	} {
		h := newHost(c.prints)
		c.change(h)
		m := New(h)
		m.NoteOutput(h.view.Now)
		h.probeAfter(t, m, FirstProbe)
		h.probeAfter(t, m, SecondProbe)
		f := h.probeAfter(t, m, SecondProbe)
		if m.IsUnchanged() != c.want || f.Verdict.Kind != c.kind {
			t.Errorf("%s: unchanged %v, %+v", name, m.IsUnchanged(), f)
		}
		if f.Verdict.Kind == inputdetect.None {
			f.Verdict = inputdetect.Verdict{} // not published
		}
		if again := m.ReuseLastProbe(); c.want && again != f {
			t.Errorf("%s: reused %+v, want %+v", name, again, f)
		}
		if m.NoteInput(); m.IsUnchanged() {
			t.Errorf("%s: unchanged after input", name)
		}
	}
}

// setPolling makes the program wait for more than the terminal.
func setPolling(h *host) { h.probe.Result.State = inputdetect.Polling }

// TestCommonTime checks that probes of several sessions coincide: none too late, and none much too early.
func TestCommonTime(t *testing.T) {
	now := time.Now()
	for wait, step := range map[time.Duration]time.Duration{steadyInterval: commonStep, time.Second: commonLateStep, maxInterval: commonLateStep} {
		seen := map[int64]bool{}
		for i := range 100 {
			at := now.Add(wait + time.Duration(i)*time.Millisecond)
			got := CommonTime(now, at)
			if d := at.Sub(got); d < 0 || d >= step {
				t.Errorf("after %v: %v earlier", wait, d)
			}
			seen[got.UnixNano()] = true
		}
		if most := 2 + int(100*time.Millisecond/step); len(seen) > most {
			t.Errorf("after %v: %d different times for a hundred sessions", wait, len(seen))
		}
	}
}
