package view

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// fakeEditor has errors of sessions, and records the opened files.
type fakeEditor struct {
	problems map[string][]model.Problem
	opened   chan string
	err      error
}

func (f *fakeEditor) Problems(_ context.Context, id string) ([]model.Problem, error) {
	if id == "odd" {
		return nil, errors.New("nobody knows")
	}
	return f.problems[id], nil
}

func (f *fakeEditor) Edit(_ context.Context, p model.Problem) error {
	f.opened <- p.Place()
	return f.err
}

// TestErrors checks that one key leads to the first error, of the focused session or of the next one that has some,
// that Enter opens the editor there, and that keys go to the next ones. Nothing is drawn while the editor has the
// terminal.
//
// FEATURES: R76
func TestErrors(t *testing.T) {
	f := &fakeEditor{opened: make(chan string, 4), problems: map[string][]model.Problem{
		"b": {{File: "/home/me/x.c", Line: 3, Column: 7, Message: "expected ;\nmore"}, {File: "far:/y.c", Line: 9, Message: "no \x1b[2J"}},
	}}
	b := newBench(t, 100, 30, Options{Editor: f, Home: "/home/me"})
	broken := running("b")
	broken.FirstError = "x.c:3: expected ;"
	b.list(running("a"), broken)
	b.keys("^1^E")
	b.call()
	b.shows("errors of b", "✗ ~/x.c:3:7   expected ;", "✗ far:/y.c:9  no ?[2J", "Enter opens the editor")
	enter(b)
	if got := <-f.opened; got != "/home/me/x.c:3:7" {
		t.Errorf("%s was opened", got)
	}
	shown := b.term.Text()
	b.print("a", "not now")
	if b.term.Text() != shown {
		t.Error("the viewer draws on the editor")
	}
	b.call()
	b.shows("not now", "error 1 of 2: /home/me/x.c:3:7")
	b.m.Focus = "b"
	f.err = errors.New("the editor failed")
	b.keys("^.")
	if got := <-f.opened; got != "far:/y.c:9" {
		t.Errorf("%s was opened", got)
	}
	b.call()
	b.shows("the editor failed")
	b.keys("^.")
	b.shows("that was the last error")
	b.keys("^>")
	<-f.opened
	b.call()
	b.keys("^>")
	b.shows("that was the first error")

	// A list that is opened again continues there, and unknown information is reported.
	b.keys("^E")
	b.call()
	b.shows("● ~/x.c:3:7")
	b.keys("\x1b")
	f.problems = nil
	b.overlay = nil
	b.keys("^E")
	b.call()
	b.shows("no session printed an error with a file and line")
	b.list(running("odd"))
	b.keys("^E")
	b.call()
	b.shows("errors not loaded: nobody knows")

	// The details of a session lead to its errors.
	f.problems = map[string][]model.Problem{"b": {{File: "x.c", Line: 3, Message: "expected ;"}}}
	details := newFakeInspector()
	details.list = []model.Detail{{Group: "first error", Text: "x.c:3: expected ;", Action: model.DetailAction{Errors: true, Copy: "x"}}}
	b.o.Inspector = details
	b.list(running("a"), running("b"))
	b.m.Focus = "b"
	b.keys("^i")
	b.call()
	b.shows("Enter lists the errors")
	enter(b)
	b.call()
	b.shows("errors of b", "x.c:3  expected ;")
	b.overlay = nil

	b.o.Editor = nil
	b.keys("^E")
	b.shows("error list unavailable")
}

// TestErrorsInANarrowTerminal checks that in a narrow terminal the end of a position, file and line, is visible, and
// that a match in it is highlighted.
//
// FEATURES: R76
func TestErrorsInANarrowTerminal(t *testing.T) {
	f := &fakeEditor{opened: make(chan string, 4), problems: map[string][]model.Problem{
		"a": {{File: "/home/me/src/project/with/a/long/path/parser.c", Line: 120, Column: 17, Message: "expected ;"}},
	}}
	b := newBench(t, 40, 12, Options{LiveOptions: LiveOptions{Theme: theme.Dark}, Editor: f, Home: "/home/me"})
	b.list(running("a"))
	b.keys("^E")
	b.call()
	b.shows("parser.c:120:17  expected")
	b.keys("120")
	b.shows("parser.c:120:17  expected")
	for y := range 12 {
		at := strings.Index(b.row(y), "parser.c:120")
		if at < 0 {
			continue
		}
		x := len([]rune(b.row(y)[:at])) + len("parser.c:")
		_, found, _ := b.term.Get(x, y)
		_, before, _ := b.term.Get(x-1, y)
		if _, _, a := found.Decompose(); a&tcell.AttrUnderline == 0 && found == before {
			t.Errorf("the typed text is not highlighted: %+v", found)
		}
	}
}

// TestErrorsOneEditor checks that two requests for an error open one editor, and that earlier keys are no key of the
// viewer.
//
// FEATURES: R76
func TestErrorsOneEditor(t *testing.T) {
	f := &fakeEditor{opened: make(chan string), problems: map[string][]model.Problem{
		"a": {{File: "x.c", Line: 3, Message: "one"}, {File: "y.c", Line: 9, Message: "two"}},
	}}
	b := newBench(t, 80, 20, Options{Editor: f})
	b.list(running("a"))
	b.keys("^.^.")
	b.call()
	b.call() // the editor has the terminal until this call returns
	if !b.problems.editorRuns || b.problems.opened != 0 {
		t.Errorf("another one is opened: %+v", b.problems)
	}
	b.keys("^E")
	if b.overlay != nil || b.mode != modeInput {
		t.Error("a key that was typed for the editor is the viewer's")
	}
	if got := <-f.opened; got != "x.c:3" {
		t.Errorf("%s was opened", got)
	}
	b.call()
	b.shows("error 1 of 2: x.c:3")
	if b.quit || b.problems.editorRuns {
		t.Errorf("the viewer has no terminal: %+v", b.problems)
	}
}
