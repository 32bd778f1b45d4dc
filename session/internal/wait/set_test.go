package wait

import (
	"regexp"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm"
)

// host is a session with an emulated screen and the output printed on it.
type host struct {
	view      View
	screen    *vterm.Terminal
	output    string
	lostBytes int    // bytes at the start of output that are lost
	ahead     string // printed, but not on the screen yet
	editor    echodetect.EditorRegion
	typed     echodetect.TypedTexts
	results   map[*Waiter]Result // of ended waits
	set       *Set
}

// newHost returns a host with a screen of 40×5 cells.
func newHost() *host {
	h := &host{screen: vterm.New(vterm.Options{Cols: 40, Rows: 5}), results: map[*Waiter]Result{}}
	h.view.Now = time.Unix(100, 0)
	h.set = NewSet(h, &h.editor, &h.typed)
	return h
}

func (h *host) View() View {
	v := h.view
	hist := h.screen.History()
	v.Offset, v.Version, v.Top = uint64(len(h.output)), h.screen.Version(), hist.FirstID()+uint64(hist.Len())
	return v
}

func (h *host) Frame(f *vterm.Frame, q vterm.Query) { h.screen.Frame(f, q) }

func (h *host) Above() []vterm.Line { return redact.LinesAbove(h.screen) }

func (h *host) Read(from uint64, buf []byte) ([]byte, uint64, error) {
	from = max(from, uint64(h.lostBytes))
	n := copy(buf, (h.output + h.ahead)[from:])
	return buf[:n], from, nil
}

func (h *host) WaitEnded(w *Waiter, r Result) { h.results[w] = r }

// print makes the program print a text.
func (h *host) print(text string) {
	at := uint64(len(h.output))
	_, _ = h.screen.Write([]byte(text))
	h.output += text
	h.view.LastOutput = h.view.Now
	h.set.Output([]byte(text), at)
	h.set.CheckActivity()
	h.set.Check()
}

// typeEchoed types a text that the terminal will echo.
func (h *host) typeEchoed(text string) {
	v := h.View()
	h.view.LastInput = Anchor{Off: v.Offset, Version: v.Version}
	var f vterm.Frame
	h.screen.Frame(&f, vterm.Query{})
	h.typed.Add(echodetect.TypedText{At: v.Offset, Lines: echodetect.EchoLines([]byte(text)), Row: v.Top + uint64(f.Cursor.Row), Col: f.Cursor.Col})
}

// wait starts a wait and checks it once.
func (h *host) wait(t *testing.T, f Spec) *Waiter {
	t.Helper()
	w := New(f, h.view.Now)
	if err := h.set.Add(w); err != nil {
		t.Fatal(err)
	}
	h.set.Check()
	return w
}

// text returns a condition for a text.
func text(s string) Cond { return Cond{Kind: CondText, Text: s} }

// FEATURES: R41
func TestText(t *testing.T) {
	zero := new(uint64)
	for _, c := range []struct {
		name  string
		first string // before the wait
		f     Spec
		then  []string
		match string // empty: the wait continues
	}{
		{"in a line", "", Spec{Conds: []Cond{text("done")}}, []string{"all do", "ne\r\n"}, "done"},
		{"in a line that has not ended", "", Spec{Conds: []Cond{text("Go?")}}, []string{"Go? "}, "Go?"},
		{"printed before", "done\r\n", Spec{Conds: []Cond{text("done")}, Since: zero}, nil, "done"},
		{"by an expression", "", Spec{Conds: []Cond{{Kind: CondRegexp, Regexp: regexp.MustCompile(`\d+ tests`)}}}, []string{"12 tests\r\n"}, "12 tests"},
		{"drawn piece by piece", "", Spec{Conds: []Cond{text("done")}}, []string{"\x1b[2;3Hne", "\x1b[2;1Hdo"}, "done"},
		{"something else", "", Spec{Conds: []Cond{text("done")}}, []string{"failed\r\n"}, ""},
		{"one of two", "", Spec{Conds: []Cond{text("a"), text("b")}, All: true}, []string{"a\r\n"}, ""},
		{"two of two", "", Spec{Conds: []Cond{text("a"), text("b")}, All: true}, []string{"a\r\n", "b\r\n"}, "a"},
	} {
		h := newHost()
		if c.first != "" {
			h.print(c.first)
		}
		w := h.wait(t, c.f)
		for _, s := range c.then {
			h.print(s)
		}
		r, over := h.results[w]
		switch {
		case over != (c.match != ""):
			t.Errorf("%s: ended %v, %+v", c.name, over, r)
		case over && (r.Matches[0].Match != c.match || r.Ended || r.Cursor != uint64(len(h.output)) || h.set.Len() != 0):
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// TestWait_AfterLostOutput checks that a wait which starts before lost output matches only output that was shown
// already: otherwise its cursor would be before its match.
//
// FEATURES: R41
func TestWait_AfterLostOutput(t *testing.T) {
	h := newHost()
	h.print("one\r\ntwo\r\n")
	h.lostBytes, h.ahead = 5, "three\r\n"
	w := h.wait(t, Spec{Conds: []Cond{text("three")}, Since: new(uint64)})
	if r, over := h.results[w]; over {
		t.Errorf("matched output that is not on the screen: %+v", r)
	}
	next := h.ahead
	h.ahead = ""
	h.print(next)
	if r, over := h.results[w]; !over || r.Cursor != uint64(len(h.output)) {
		t.Errorf("ended %t, %+v", over, r)
	}
}

// TestText_IgnoresEcho checks that typed text does not match, neither in its line nor on the screen.
//
// FEATURES: R44
func TestText_IgnoresEcho(t *testing.T) {
	h := newHost()
	h.print("$ ")
	h.typeEchoed("make done\r")
	w := h.wait(t, Spec{Conds: []Cond{text("done")}})
	h.print("make do")
	h.print("ne\r\n")
	if r, over := h.results[w]; over {
		t.Fatalf("the echo: %+v", r)
	}
	h.print("it is done\r\n")
	if _, over := h.results[w]; !over {
		t.Error("the output did not match")
	}
}

// TestText_IgnoresLineEditor checks that output of a line editor does not match.
//
// FEATURES: R44
func TestText_IgnoresLineEditor(t *testing.T) {
	h := newHost()
	h.print("x")
	h.editor.HandleMark(shell.MarkPrompt, 1, 0, 0)
	h.editor.HandleMark(shell.MarkInput, 1, 0, 0)
	w := h.wait(t, Spec{Conds: []Cond{text("done")}})
	h.print("make done\r\n")
	if _, over := h.results[w]; over {
		t.Fatal("matched the editor's line")
	}
	h.editor.HandleMark(shell.MarkOutput, uint64(len(h.output)), 1, 0)
	h.print("done\r\n")
	if _, over := h.results[w]; !over {
		t.Error("the output did not match")
	}
}

// FEATURES: R40
func TestConditions(t *testing.T) {
	for _, c := range []struct {
		name  string
		cond  Cond
		comes func(v *View)
		match string
	}{
		{"exit", Cond{Kind: CondExit}, func(v *View) { v.Exited = true }, ""},
		{"input", Cond{Kind: CondInput}, func(v *View) { v.InputKind = "password" }, "password"},
		{"input of a kind", Cond{Kind: CondInput, Text: "password"}, func(v *View) { v.InputKind = "password" }, "password"},
		{"a prompt by evidence", Cond{Kind: CondInput}, func(v *View) { v.Phase = shell.PhasePrompt }, "prompt"},
		{"prompt", Cond{Kind: CondPrompt}, func(v *View) { v.Phase, v.HasIntegration = shell.PhasePrompt, true }, ""},
		{"prompt of a REPL", Cond{Kind: CondPrompt}, func(v *View) { v.InputKind, v.IsRepl = "text", true }, ""},
		{"command", Cond{Kind: CondCommand}, func(v *View) { v.HasCommand, v.Command = true, "make" }, "make"},
		{"fullscreen", Cond{Kind: CondFullscreen}, func(v *View) { v.Alt = true }, ""},
		{"title", Cond{Kind: CondTitle, Text: "vi"}, func(v *View) { v.Title = "vim" }, "vim"},
		{"bell", Cond{Kind: CondBell}, func(v *View) { v.Bells, v.BellAt = 1, 1 }, ""},
		{"progress", Cond{Kind: CondProgress, Percent: 50}, func(v *View) { v.ReportsProgress, v.Percent = true, 60 }, "60"},
		{"progress that was read", Cond{Kind: CondProgress, Percent: 50}, func(v *View) { v.ParsedProgress = Progress{Known: true, Percent: 70} }, "70"},
		{"quiet", Cond{Kind: CondQuiet, Quiet: time.Second}, func(v *View) { v.Now = v.Now.Add(time.Second) }, ""},
		{"cursor", Cond{Kind: CondCursor, Row: 0, Col: -1}, func(*View) {}, "0,0"},
		{"gone", Cond{Kind: CondAbsent, Text: "x"}, func(*View) {}, ""},
	} {
		h := newHost()
		if c.cond.Kind == CondAbsent || c.cond.Kind == CondCursor {
			h.print("x\r\n")
		}
		w := h.wait(t, Spec{Conds: []Cond{c.cond}})
		if r, over := h.results[w]; over {
			t.Errorf("%s: matched too early: %+v", c.name, r)
		}
		c.comes(&h.view)
		if c.cond.Kind == CondAbsent || c.cond.Kind == CondCursor {
			h.print("\x1b[H\x1b[K")
		}
		h.set.Check()
		if r, over := h.results[w]; !over || len(r.Matches) != 1 || r.Matches[0].Match != c.match {
			t.Errorf("%s: ended %v, %+v", c.name, over, r)
		}
	}
}

// TestQuiet_IgnoresSpinner checks that silence ignores a moving display, and that NextDue returns when it may match.
//
// FEATURES: R42
func TestQuiet_IgnoresSpinner(t *testing.T) {
	h := newHost()
	h.print("working\r\n")
	w := h.wait(t, Spec{Conds: []Cond{{Kind: CondQuiet, Quiet: 10 * time.Second}}})
	if after, ok := h.set.NextDue(); !ok || after != 10*time.Second {
		t.Errorf("in %v, %v", after, ok)
	}
	for i := range 9 {
		h.view.Now = h.view.Now.Add(time.Second)
		h.print("\rstep " + string(rune('0'+i)) + "%")
	}
	if _, over := h.results[w]; over {
		t.Error("too early")
	}
	if after, ok := h.set.NextDue(); !ok || after > 2*time.Second {
		t.Errorf("in %v, %v", after, ok)
	}
	h.view.Now = h.view.Now.Add(2 * time.Second)
	if h.set.Check(); len(h.results) != 1 {
		t.Error("a moving display counts as output")
	}
	if _, ok := h.set.NextDue(); ok {
		t.Error("a wait is due after the last one has ended")
	}
}

// FEATURES: R128
func TestPort(t *testing.T) {
	h := newHost()
	any, one := h.wait(t, Spec{Conds: []Cond{{Kind: CondPort}}}), h.wait(t, Spec{Conds: []Cond{{Kind: CondPort, Port: 3000}}})
	h.view.Ports = []int{80, 443}
	h.set.Check()
	if r, over := h.results[any]; !over || r.Matches[0].Match != "80" || len(h.results) != 1 {
		t.Errorf("%+v", h.results)
	}
	h.view.Ports = []int{3000}
	h.set.Check()
	if r, over := h.results[one]; !over || r.Matches[0].Match != "3000" {
		t.Errorf("%+v", h.results)
	}
}

// TestAnomaly checks that a wait for an anomaly ends with a command that has none, once that was compared to its end.
//
// FEATURES: R127
func TestAnomaly(t *testing.T) {
	anomaly, exit := Cond{Kind: CondAnomaly}, Cond{Kind: CondExit}
	h := newHost()
	h.view.Anomaly = Anomaly{Line: "error: no x", At: 3, ComparedTo: 9} // of the command before
	h.view.HasCommand, h.view.CommandEnd = true, 9
	since := uint64(10)
	one, both := h.wait(t, Spec{Conds: []Cond{anomaly}, Since: &since}), h.wait(t, Spec{Conds: []Cond{anomaly, exit}, Since: &since})
	all := h.wait(t, Spec{Conds: []Cond{anomaly, exit}, Since: &since, All: true})
	h.set.Check()
	h.view.CommandEnd = 20 // not compared to its end
	h.set.Check()
	if len(h.results) > 0 {
		t.Fatalf("ended too early: %+v", h.results)
	}
	h.view.Anomaly = Anomaly{ComparedTo: 20}
	h.set.Check()
	if r, over := h.results[one]; !over || !r.Ended || len(r.Matches) > 0 {
		t.Errorf("%v, %+v", over, r)
	}
	if r, over := h.results[all]; !over || !r.Ended {
		t.Errorf("with all: %v, %+v", over, r)
	}
	if r, over := h.results[both]; over {
		t.Errorf("another condition may match: %+v", r)
	}
	h.view.HasCommand, h.view.Anomaly = false, Anomaly{Line: "error: no y", At: 25}
	h.set.Check()
	if r, over := h.results[both]; !over || r.Ended || r.Matches[0].Match != "error: no y" {
		t.Errorf("%v, %+v", over, r)
	}
}

func TestAwaitsInput(t *testing.T) {
	for _, c := range []struct {
		kind                  Kind
		followed, notFollowed bool
	}{{CondInput, true, true}, {CondPrompt, false, true}, {CondExit, false, false}} {
		h := newHost()
		h.wait(t, Spec{Conds: []Cond{{Kind: c.kind}}})
		if f, n := h.set.AwaitsInput(true), h.set.AwaitsInput(false); f != c.followed || n != c.notFollowed {
			t.Errorf("%s: %v, %v", c.kind, f, n)
		}
	}
}

// TestWaits_EndWithSession checks that End ends all waits, and that EndOutputWaits(false) keeps waits for the exit.
//
// FAULT: A20
func TestWaits_EndWithSession(t *testing.T) {
	h := newHost()
	forText, forEnd := h.wait(t, Spec{Conds: []Cond{text("x")}}), h.wait(t, Spec{Conds: []Cond{{Kind: CondExit}}})
	h.set.EndOutputWaits(false)
	if _, over := h.results[forText]; !over || len(h.results) != 1 {
		t.Errorf("%+v", h.results)
	}
	h.set.End()
	if r, over := h.results[forEnd]; !over || !r.Ended {
		t.Errorf("%+v", h.results)
	}
	w := New(Spec{Conds: []Cond{text("x")}}, h.view.Now)
	if err := h.set.Add(w); err != nil {
		t.Fatal(err)
	}
	if r := h.set.Remove(w); len(r.Matches) != 0 || h.set.Len() != 0 {
		t.Errorf("%+v", r)
	}
}
