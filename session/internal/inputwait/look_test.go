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

// host is a session that is a screen, and a kernel that tells what it is told to.
type host struct {
	view   View
	probe  Probe
	screen *vterm.Terminal
	typed  echodetect.Texts
	editor echodetect.Region
	half   string
}

func newHost(prints string) *host {
	now := time.Unix(100, 0)
	h := &host{screen: vterm.New(vterm.Options{Cols: 40, Rows: 5})}
	h.view = View{Now: now, Live: true, PID: 1, LastOutput: now}
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
	s := Screen{History: h.screen.History(), Typed: h.typed, Editor: &h.editor, Half: h.half}
	h.screen.Frame(&s.Frame, vterm.Query{})
	return s
}

// look looks after a time.
func (h *host) look(t *testing.T, m *Machine, after time.Duration) Finding {
	t.Helper()
	h.view.Now = h.view.Now.Add(after)
	f, ok := m.Look()
	if !ok {
		t.Fatal("it does not look")
	}
	m.Next(h.view.Now, f.Doubt, false)
	return f
}

// FEATURES: R42
func TestLook(t *testing.T) {
	for _, c := range []struct {
		name   string
		prints string
		change func(h *host)
		needs  bool
	}{
		{"a question", "Continue? [y/n] ", func(*host) {}, true},
		{"a password", "Password: ", func(h *host) { h.probe.Modes.Echo = false }, true},
		{"a program that works", "Continue? [y/n] ", func(h *host) { h.probe.Result.State = inputdetect.Busy }, false},
		{"output on its way", "Continue? [y/n] ", func(h *host) { h.probe.Pending = true }, false},
		{"no terminal", "Continue? [y/n] ", func(h *host) { h.probe = Probe{Failed: true} }, false},
	} {
		h := newHost(c.prints)
		c.change(h)
		m := New(h)
		m.Output(h.view.Now)
		if f := h.look(t, m, First); f.Verdict.NeedsInput != c.needs {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

// A line that is typed at a prompt and not ended makes no question of it, and none of another kind of a question.
//
// FEATURES: R42
func TestHalfALine(t *testing.T) {
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
		h.half, h.probe.Result.Program = c.half, "dash"
		m := New(h)
		m.Output(h.view.Now)
		h.look(t, m, First)
		if f := h.look(t, m, time.Second); f.Verdict.Kind != c.kind {
			t.Errorf("%s: %+v, want %s", c.name, f, c.kind)
		}
	}
}

// Nothing is looked at that does not run, nor a shell at its prompt.
func TestNothingToLookAt(t *testing.T) {
	h := newHost("$ ")
	h.view.Followed, h.view.Shell.Phase = true, shell.PhasePrompt
	if f := h.look(t, New(h), 0); !f.AtPrompt || f.Verdict.NeedsInput {
		t.Errorf("%+v", f)
	}
	h.view.Live = false
	if _, ok := New(h).Look(); ok {
		t.Error("it looks at what has ended")
	}
}

// What was typed ends the wait that was there: until the program has run, or for a while, that wait is
// no question.
//
// FAULT: E7
// FEATURES: R42
func TestTypedEndsAWait(t *testing.T) {
	h := newHost("Continue? [y/n] ")
	m := New(h)
	m.Output(h.view.Now)
	if f := h.look(t, m, First); !f.Verdict.NeedsInput {
		t.Fatalf("%+v", f)
	}
	m.OnInput()
	if f := h.look(t, m, First); f.Verdict.NeedsInput || !f.Doubt {
		t.Errorf("the same wait: %+v", f)
	}
	h.probe.Result.WaitCount++
	h.probe.Result.TID = 2
	if f := h.look(t, m, First); f.Doubt {
		t.Errorf("another wait: %+v", f)
	}
}

// Rows that something was typed on are answered questions.
//
// FEATURES: R42
func TestSurroundings(t *testing.T) {
	h := newHost("Name? bob\r\na long line that the terminal breaks into two rows\r\n> ")
	h.typed.Add(echodetect.Text{Lines: []string{"bob", ""}, Row: 0, Col: 6})
	var f inputdetect.Facts
	m := New(h)
	m.screenFacts(&f, &h.view)
	if f.Line != "> " || len(f.Above) != 2 || f.Above[0] != "" || f.Above[1] != "a long line that the terminal breaks into two rows" {
		t.Errorf("%q below %q", f.Line, f.Above)
	}
	if got, half := m.CursorLine(); got != "> " || half {
		t.Errorf("%q", got)
	}
	h.view.Followed = true
	h.editor.Note(shell.MarkPrompt, 1, 0, 0)
	h.editor.Note(shell.MarkInput, 1, 0, 0)
	h.editor.Note(shell.MarkOutput, 2, 1, 0)
	f.Above = nil
	if m.screenFacts(&f, &h.view); len(f.Above) != 1 {
		t.Errorf("below the line that was given: %q", f.Above)
	}
}

// A program that slept is not looked at anew before something has run, was printed or typed; what is found then is what a look
// would find.
//
// FEATURES: R42
func TestSleepsOn(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *host, m *Machine)
		want   bool
	}{
		"sleeps":         {func(*host, *Machine) {}, true},
		"is printed to":  {func(h *host, m *Machine) { m.Output(h.view.Now) }, false},
		"is typed to":    {func(_ *host, m *Machine) { m.OnInput() }, false},
		"cannot be seen": {func(h *host, m *Machine) { h.probe.Failed = true; h.look(t, m, time.Second) }, false},
		"reads":          {func(h *host, m *Machine) { h.probe.Result.State = inputdetect.Reading; h.look(t, m, time.Second) }, true},
		"works":          {func(h *host, m *Machine) { h.probe.Result.State = inputdetect.Busy; h.look(t, m, time.Second) }, false},
		"relays what waits": {func(h *host, m *Machine) {
			h.probe.Result.Relayed = make([]inputdetect.RelayedTTY, 1)
			h.look(t, m, time.Second)
		}, true},
	} {
		h := newHost("Continue? [y/n] ")
		h.probe.Result = inputdetect.Result{State: inputdetect.Sleeping, PID: 2, TID: 2, WaitCount: -1, Source: inputdetect.FromSyscall, Timeout: -1}
		m := New(h)
		m.Output(h.view.Now)
		for range 3 {
			h.look(t, m, time.Second)
		}
		if f, again := h.look(t, m, time.Second), m.ReuseLastProbe(); f.Verdict.Kind != again.Verdict.Kind || f.Doubt != again.Doubt || f.Later != again.Later {
			t.Errorf("%+v is taken for %+v", again, f)
		}
		if c.change(h, m); m.IsUnchanged() != c.want {
			t.Errorf("it %s: stays %v", name, m.IsUnchanged())
		}
	}
}

// A question that was found for sure is not looked at anew before something has run, was printed or typed either, and
// is found again as it was; one that silence may yet decide is.
//
// FEATURES: R42 R90
func TestQuestionStays(t *testing.T) {
	for name, c := range map[string]struct {
		prints string
		change func(h *host)
		kind   inputdetect.Kind
		want   bool
	}{
		"a question":        {"Continue? [y/n] ", func(*host) {}, inputdetect.Confirm, true},
		"no word":           {"", func(*host) {}, inputdetect.Text, true},
		"a prompt":          {"$ ", func(h *host) { h.probe.Result.Program = "dash" }, inputdetect.Prompt, true},
		"output on its way": {"Continue? [y/n] ", func(h *host) { h.probe.Pending = true }, inputdetect.None, false},
		"nobody knows":      {"Continue? [y/n] ", func(h *host) { h.probe.Failed = true }, inputdetect.Confirm, false},
		"silence decides":   {"done\r\n", polls, inputdetect.None, false},
		"a long silence": {"done\r\n", func(h *host) {
			polls(h)
			h.view.LastOutput = h.view.Now.Add(-inputdetect.MaxUsefulSilence)
		}, inputdetect.None, true},
		"a prompt behind a line of ours": {"$ ", func(h *host) {
			h.probe.Result.Program, h.probe.Result.PID, h.view.Waits = "dash", h.view.PID, true
		}, inputdetect.None, false},
	} {
		h := newHost(c.prints)
		c.change(h)
		m := New(h)
		m.Output(h.view.Now)
		h.look(t, m, First)
		h.look(t, m, Second)
		f := h.look(t, m, Second)
		if m.IsUnchanged() != c.want || f.Verdict.Kind != c.kind {
			t.Errorf("%s: stays %v, %+v", name, m.IsUnchanged(), f)
		}
		if f.Verdict.Kind == inputdetect.None {
			f.Verdict = inputdetect.Verdict{} // nobody is told of it
		}
		if again := m.ReuseLastProbe(); c.want && again != f {
			t.Errorf("%s: %+v is taken for %+v", name, again, f)
		}
		if m.OnInput(); m.IsUnchanged() {
			t.Errorf("%s: it stays though something was typed", name)
		}
	}
}

// polls has the program wait for more than the terminal.
func polls(h *host) { h.probe.Result.State = inputdetect.Polling }

// Looks of several sessions come together, none later than it is time for and none much sooner.
func TestTogether(t *testing.T) {
	now := time.Now()
	for wait, step := range map[time.Duration]time.Duration{steady: togetherSoon, time.Second: togetherLate, rare: togetherLate} {
		seen := map[int64]bool{}
		for i := range 100 {
			at := now.Add(wait + time.Duration(i)*time.Millisecond)
			got := Together(now, at)
			if d := at.Sub(got); d < 0 || d >= step {
				t.Errorf("after %v: %v sooner", wait, d)
			}
			seen[got.UnixNano()] = true
		}
		if most := 2 + int(100*time.Millisecond/step); len(seen) > most {
			t.Errorf("after %v: %d times for a hundred sessions", wait, len(seen))
		}
	}
}
