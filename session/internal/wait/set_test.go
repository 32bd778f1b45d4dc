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

// host is a session that is a screen and what was printed on it.
type host struct {
	view   View
	screen *vterm.Terminal
	output string
	lost   int    // bytes at its start that are lost
	ahead  string // printed, but not shown yet
	editor echodetect.Region
	typed  echodetect.Texts
	over   map[*Waiter]Result
	set    *Set
}

func newHost() *host {
	h := &host{screen: vterm.New(vterm.Options{Cols: 40, Rows: 5}), over: map[*Waiter]Result{}}
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

func (h *host) Above() []vterm.Line { return redact.Above(h.screen) }

func (h *host) Read(from uint64, buf []byte) ([]byte, uint64, error) {
	from = max(from, uint64(h.lost))
	n := copy(buf, (h.output + h.ahead)[from:])
	return buf[:n], from, nil
}

func (h *host) WaitEnded(w *Waiter, r Result) { h.over[w] = r }

// says has the program print.
func (h *host) says(text string) {
	at := uint64(len(h.output))
	_, _ = h.screen.Write([]byte(text))
	h.output += text
	h.view.LastOutput = h.view.Now
	h.set.Output([]byte(text), at)
	h.set.CheckActivity()
	h.set.Check()
}

// types has a user type what the terminal will echo.
func (h *host) types(text string) {
	v := h.View()
	h.view.Typed = Anchor{Off: v.Offset, Version: v.Version}
	var f vterm.Frame
	h.screen.Frame(&f, vterm.Query{})
	h.typed.Add(echodetect.Text{At: v.Offset, Lines: echodetect.Lines([]byte(text)), Row: v.Top + uint64(f.Cursor.Row), Col: f.Cursor.Col})
}

// wait begins a wait.
func (h *host) wait(t *testing.T, f For) *Waiter {
	t.Helper()
	w := New(f, h.view.Now)
	if err := h.set.Add(w); err != nil {
		t.Fatal(err)
	}
	h.set.Check()
	return w
}

func text(s string) Cond { return Cond{Kind: CondText, Text: s} }

// FEATURES: R41
func TestText(t *testing.T) {
	zero := new(uint64)
	for _, c := range []struct {
		name  string
		first string // before the wait
		f     For
		then  []string
		match string // empty: the wait is not over
	}{
		{"in a line", "", For{Conds: []Cond{text("done")}}, []string{"all do", "ne\r\n"}, "done"},
		{"in a line that has not ended", "", For{Conds: []Cond{text("Go?")}}, []string{"Go? "}, "Go?"},
		{"printed before", "done\r\n", For{Conds: []Cond{text("done")}, Since: zero}, nil, "done"},
		{"by an expression", "", For{Conds: []Cond{{Kind: CondRegexp, Regexp: regexp.MustCompile(`\d+ tests`)}}}, []string{"12 tests\r\n"}, "12 tests"},
		{"drawn piece by piece", "", For{Conds: []Cond{text("done")}}, []string{"\x1b[2;3Hne", "\x1b[2;1Hdo"}, "done"},
		{"something else", "", For{Conds: []Cond{text("done")}}, []string{"failed\r\n"}, ""},
		{"one of two", "", For{Conds: []Cond{text("a"), text("b")}, All: true}, []string{"a\r\n"}, ""},
		{"two of two", "", For{Conds: []Cond{text("a"), text("b")}, All: true}, []string{"a\r\n", "b\r\n"}, "a"},
	} {
		h := newHost()
		if c.first != "" {
			h.says(c.first)
		}
		w := h.wait(t, c.f)
		for _, s := range c.then {
			h.says(s)
		}
		r, over := h.over[w]
		switch {
		case over != (c.match != ""):
			t.Errorf("%s: over %v, %+v", c.name, over, r)
		case over && (r.Fired[0].Match != c.match || r.Ended || r.Cursor != uint64(len(h.output)) || h.set.Len() != 0):
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// A wait that starts before lost output matches only output that was shown already: otherwise its cursor would be before its
// match.
//
// FEATURES: R41
func TestWait_AfterLostOutput(t *testing.T) {
	h := newHost()
	h.says("one\r\ntwo\r\n")
	h.lost, h.ahead = 5, "three\r\n"
	w := h.wait(t, For{Conds: []Cond{text("three")}, Since: new(uint64)})
	if r, over := h.over[w]; over {
		t.Errorf("it matches what is not shown yet: %+v", r)
	}
	next := h.ahead
	h.ahead = ""
	h.says(next)
	if r, over := h.over[w]; !over || r.Cursor != uint64(len(h.output)) {
		t.Errorf("over %t, %+v", over, r)
	}
}

// What was typed is no answer, on its line or on the screen.
//
// FEATURES: R44
func TestTypedTextIsNoAnswer(t *testing.T) {
	h := newHost()
	h.says("$ ")
	h.types("make done\r")
	w := h.wait(t, For{Conds: []Cond{text("done")}})
	h.says("make do")
	h.says("ne\r\n")
	if r, over := h.over[w]; over {
		t.Fatalf("the echo: %+v", r)
	}
	h.says("it is done\r\n")
	if _, over := h.over[w]; !over {
		t.Error("the answer is not seen")
	}
}

// What a line editor prints is no answer.
//
// FEATURES: R44
func TestALineEditorsOutputIsNoAnswer(t *testing.T) {
	h := newHost()
	h.says("x")
	h.editor.Note(shell.MarkPrompt, 1, 0, 0)
	h.editor.Note(shell.MarkInput, 1, 0, 0)
	w := h.wait(t, For{Conds: []Cond{text("done")}})
	h.says("make done\r\n")
	if _, over := h.over[w]; over {
		t.Fatal("the editor's line")
	}
	h.editor.Note(shell.MarkOutput, uint64(len(h.output)), 1, 0)
	h.says("done\r\n")
	if _, over := h.over[w]; !over {
		t.Error("the answer is not seen")
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
		{"input", Cond{Kind: CondInput}, func(v *View) { v.Needs = "password" }, "password"},
		{"input of a kind", Cond{Kind: CondInput, Text: "password"}, func(v *View) { v.Needs = "password" }, "password"},
		{"a prompt by evidence", Cond{Kind: CondInput}, func(v *View) { v.Phase = shell.PhasePrompt }, "prompt"},
		{"prompt", Cond{Kind: CondPrompt}, func(v *View) { v.Phase, v.Followed = shell.PhasePrompt, true }, ""},
		{"prompt of a REPL", Cond{Kind: CondPrompt}, func(v *View) { v.Needs, v.Repl = "text", true }, ""},
		{"command", Cond{Kind: CondCommand}, func(v *View) { v.HasCommand, v.Command = true, "make" }, "make"},
		{"fullscreen", Cond{Kind: CondFullscreen}, func(v *View) { v.Alt = true }, ""},
		{"title", Cond{Kind: CondTitle, Text: "vi"}, func(v *View) { v.Title = "vim" }, "vim"},
		{"bell", Cond{Kind: CondBell}, func(v *View) { v.Bells, v.BellAt = 1, 1 }, ""},
		{"progress", Cond{Kind: CondProgress, Percent: 50}, func(v *View) { v.Reported, v.Percent = true, 60 }, "60"},
		{"progress that was read", Cond{Kind: CondProgress, Percent: 50}, func(v *View) { v.Read = Progress{Known: true, Percent: 70} }, "70"},
		{"quiet", Cond{Kind: CondQuiet, Quiet: time.Second}, func(v *View) { v.Now = v.Now.Add(time.Second) }, ""},
		{"cursor", Cond{Kind: CondCursor, Row: 0, Col: -1}, func(*View) {}, "0,0"},
		{"gone", Cond{Kind: CondGone, Text: "x"}, func(*View) {}, ""},
	} {
		h := newHost()
		if c.cond.Kind == CondGone || c.cond.Kind == CondCursor {
			h.says("x\r\n")
		}
		w := h.wait(t, For{Conds: []Cond{c.cond}})
		if r, over := h.over[w]; over {
			t.Errorf("%s: true too early: %+v", c.name, r)
		}
		c.comes(&h.view)
		if c.cond.Kind == CondGone || c.cond.Kind == CondCursor {
			h.says("\x1b[H\x1b[K")
		}
		h.set.Check()
		if r, over := h.over[w]; !over || len(r.Fired) != 1 || r.Fired[0].Match != c.match {
			t.Errorf("%s: over %v, %+v", c.name, over, r)
		}
	}
}

// Silence is counted without what only moves, and Next says when it may have come.
//
// FEATURES: R42
func TestQuietBesidesMovement(t *testing.T) {
	h := newHost()
	h.says("working\r\n")
	w := h.wait(t, For{Conds: []Cond{{Kind: CondQuiet, Quiet: 10 * time.Second}}})
	if after, ok := h.set.Next(); !ok || after != 10*time.Second {
		t.Errorf("in %v, %v", after, ok)
	}
	for i := range 9 {
		h.view.Now = h.view.Now.Add(time.Second)
		h.says("\rstep " + string(rune('0'+i)) + "%")
	}
	if _, over := h.over[w]; over {
		t.Error("too early")
	}
	if after, ok := h.set.Next(); !ok || after > 2*time.Second {
		t.Errorf("in %v, %v", after, ok)
	}
	h.view.Now = h.view.Now.Add(2 * time.Second)
	if h.set.Check(); len(h.over) != 1 {
		t.Error("the display that moves is no output")
	}
	if _, ok := h.set.Next(); ok {
		t.Error("nobody waits any more")
	}
}

// FEATURES: R128
func TestPort(t *testing.T) {
	h := newHost()
	any, one := h.wait(t, For{Conds: []Cond{{Kind: CondPort}}}), h.wait(t, For{Conds: []Cond{{Kind: CondPort, Port: 3000}}})
	h.view.Ports = []int{80, 443}
	h.set.Check()
	if r, over := h.over[any]; !over || r.Fired[0].Match != "80" || len(h.over) != 1 {
		t.Errorf("%+v", h.over)
	}
	h.view.Ports = []int{3000}
	h.set.Check()
	if r, over := h.over[one]; !over || r.Fired[0].Match != "3000" {
		t.Errorf("%+v", h.over)
	}
}

func TestAwaitsInput(t *testing.T) {
	for _, c := range []struct {
		kind                  Kind
		followed, notFollowed bool
	}{{CondInput, true, true}, {CondPrompt, false, true}, {CondExit, false, false}} {
		h := newHost()
		h.wait(t, For{Conds: []Cond{{Kind: c.kind}}})
		if f, n := h.set.AwaitsInput(true), h.set.AwaitsInput(false); f != c.followed || n != c.notFollowed {
			t.Errorf("%s: %v, %v", c.kind, f, n)
		}
	}
}

// An end of everything ends all waits; where output is not looked at any more, an end can be waited for.
//
// FAULT: A20
func TestEnds(t *testing.T) {
	h := newHost()
	forText, forEnd := h.wait(t, For{Conds: []Cond{text("x")}}), h.wait(t, For{Conds: []Cond{{Kind: CondExit}}})
	h.set.GiveUp(false)
	if _, over := h.over[forText]; !over || len(h.over) != 1 {
		t.Errorf("%+v", h.over)
	}
	h.set.End()
	if r, over := h.over[forEnd]; !over || !r.Ended {
		t.Errorf("%+v", h.over)
	}
	w := New(For{Conds: []Cond{text("x")}}, h.view.Now)
	if err := h.set.Add(w); err != nil {
		t.Fatal(err)
	}
	if r := h.set.Remove(w); len(r.Fired) != 0 || h.set.Len() != 0 {
		t.Errorf("%+v", r)
	}
}
