package view

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/page"
	"github.com/longterm-dev/longterm/render/view/theme"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares the screen with a file.
func (b *bench) golden(name string) {
	b.t.Helper()
	path := filepath.Join("testdata", name+".txt")
	got := b.term.Text() + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			b.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	if got != string(want) {
		b.t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
	}
}

// fakeHistory is the sessions' earlier output.
type fakeHistory struct {
	lines    []render.Line // of history and screen
	rows     int           // of the screen
	commands []page.Command
	output   map[int]string
}

func printed(cols, rows int, text ...string) *fakeHistory {
	h := &fakeHistory{rows: rows, output: map[int]string{}}
	for i, t := range text {
		h.lines = append(h.lines, render.Line{Row: i, Text: t, Spans: []render.Span{{Text: t, Width: len(t)}}})
	}
	return h
}

func (h *fakeHistory) Tail(_ context.Context, _ string, rows int) (page.Page, error) {
	first := max(0, len(h.lines)-h.rows-rows)
	return page.Page{First: first, Lines: h.lines[first:], Cols: 80}, nil
}

func (h *fakeHistory) Older(_ context.Context, _ string, before, rows int) ([]render.Line, error) {
	return h.lines[max(0, before-rows):before], nil
}

func (h *fakeHistory) Commands(context.Context, string) ([]page.Command, error) {
	return h.commands, nil
}

func (h *fakeHistory) Output(_ context.Context, _ string, n int) (string, error) {
	return h.output[n], nil
}

// situation is a handful of sessions in all kinds of states.
func situation() []model.Session {
	code := func(n int) *int { return &n }
	since := epoch.Add(-90 * time.Second)
	shell := func(id string, phase model.Phase, doing string) model.Session {
		return model.Session{ID: id, Name: id, State: model.StateRunning, Command: "bash", Cwd: "/home/ann/src/" + id, Phase: phase, ShellCommand: doing, Since: since, Started: since}
	}
	idle, build, deploy, edit := shell("web", model.PhasePrompt, ""), shell("build", model.PhaseRunning, "cargo build --release"), shell("deploy", model.PhaseRunning, "sudo ./deploy"), shell("notes", model.PhaseRunning, "vim notes.md")
	build.Progress, build.Errors, build.Warnings = &model.Progress{State: "normal", Percent: 42}, 1, 3
	deploy.Needs, edit.FullScreen = "password", true
	failed := shell("test", model.PhasePrompt, "")
	failed.LastExit = code(2)
	old := exited("job", 1)
	return []model.Session{idle, build, deploy, edit, failed, old}
}

// FEATURES: R76
func TestGoldenScreens(t *testing.T) {
	b := newBench(t, 110, 30, Options{Home: "/home/ann", LiveOptions: LiveOptions{Theme: theme.Dark}})
	b.golden("looking")
	b.list()
	b.golden("empty")
	all := situation()
	for i := range all {
		all[i].State, all[i].Ended = model.StateRunning, time.Time{}
	}
	b.list(all[:1]...)
	b.print("web", "$ ")
	b.golden("first")
	b.list(all...)
	b.list(situation()...)
	b.print("build", "   Compiling serde v1.0\r\nerror: it is wrong\r\n")
	b.print("notes", "\x1b[?1049hnotes 你好\r\n~\r\n~")
	b.keys("^1")
	b.golden("states")
	b.keys("^")
	b.ring()
	b.golden("hints")
	b.keys("?")
	b.golden("help")
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	b.keys("^:")
	b.golden("palette")
	b.keys("spl")
	b.golden("palette-found")
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	b.keys("^p")
	b.golden("picker")
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	b.term.SetSize(20, 5)
	b.send(tcell.NewEventResize(20, 5))
	b.golden("tiny")
	b.keys("^")
	b.ring()
	b.keys("?")
	b.golden("tiny-help")
}

// TestLookBackAtLittle checks that nothing is above the screen if there is less output than rows.
//
// FAULT: B22
// FEATURES: R76
func TestLookBackAtLittle(t *testing.T) {
	h := printed(80, 3, "one", "two", "three")
	b := newBench(t, 60, 20, Options{History: h, LiveOptions: LiveOptions{Theme: theme.Dark}})
	b.list(running("a"))
	b.print("a", "one\r\ntwo\r\nthree")
	b.keys("^s")
	b.call()
	b.shows("copy")
	if text := b.term.Text(); strings.Contains(text, "⏸ ") && strings.Contains(text, "-") && strings.Contains(text, "/-") {
		t.Errorf("lines are counted that are not there:\n%s", text)
	}
}

// FEATURES: R76
func TestLookBack(t *testing.T) {
	var text []string
	for i := range 4000 {
		text = append(text, fmt.Sprintf("row %d", i))
	}
	text[100], text[3500] = "$ make", "$ ls"
	h := printed(80, 18, text...)
	h.commands = []page.Command{{N: 1, Text: "make"}, {N: 2, Text: "ls"}}
	h.output[1] = "what make said\n"
	b := newBench(t, 60, 20, Options{History: h, LiveOptions: LiveOptions{Theme: theme.Dark}})
	b.list(running("a"))
	var rows []string
	for _, l := range h.lines[len(h.lines)-18:] {
		rows = append(rows, l.Text)
	}
	b.print("a", strings.Join(rows, "\r\n"))
	p := b.panes.Get("a")

	// The wheel starts copy mode; a key ends it and reaches the session.
	b.send(tcell.NewEventMouse(5, 5, tcell.WheelUp, 0))
	b.call()
	b.shows("copy mode", "copy 3/3982", "row 3979")
	b.print("a", "something new")
	b.shows("row 3979")
	b.keys("x")
	if in := b.streams["a"].input(t); in.Key == nil || in.Key.Text != "x" || p.Copying() != nil {
		t.Errorf("session got %+v", in)
	}
	b.print("a", strings.Join(rows, "\r\n"))
	b.send(tcell.NewEventMouse(5, 5, tcell.WheelUp, 0))
	b.call()
	b.send(tcell.NewEventMouse(5, 5, tcell.WheelDown, 0))
	if p.Copying() != nil {
		t.Error("down to the newest row it is not live")
	}

	// Search in loaded rows and in rows that are loaded later.
	b.keys("^/")
	b.keys("row 12")
	b.call() // the tail
	b.call() // all that is older
	b.shows("111/111")
	b.golden("search")
	b.send(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
	b.keys("n")
	b.shows("row 12 110/111")
	b.keys("/")
	b.send(tcell.NewEventKey(tcell.KeyCtrlR, 0, tcell.ModCtrl))
	b.keys("^row 7..$")
	b.shows("100/100", "row 799")
	b.keys("[")
	b.shows("not a regular expression")
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))

	// Commands.
	b.keys("G{")
	b.call()
	b.shows("$ ls")
	b.keys("{")
	b.shows("$ make", "row 101")
	b.keys("o")
	b.call()
	b.shows("copied 14 characters")
	if got := string(b.term.GetClipboardData()); got != "what make said\n" {
		t.Errorf("copied %q", got)
	}
	b.keys("{")
	b.shows("no command before")

	// A selection.
	b.keys("jvl")
	b.keys("l")
	b.golden("selection")
	b.keys("y")
	if got := string(b.term.GetClipboardData()); got != "row" || p.Copying() != nil {
		t.Errorf("copied %q", got)
	}
	b.shows("copied 3 characters")
	b.streams["a"].none(t)
}

// FEATURES: R76
func TestMouseSelects(t *testing.T) {
	b := newBench(t, 60, 10, Options{})
	b.list(running("a"))
	b.print("a", "see /etc/hosts now\r\nsecond row\r\nthird row")
	press := func(x, y int, mods tcell.ModMask) { b.send(tcell.NewEventMouse(x, y, tcell.ButtonPrimary, mods)) }
	release := func(x, y int) { b.send(tcell.NewEventMouse(x, y, 0, 0)) }
	copied := func(want string) {
		t.Helper()
		if got := string(b.term.GetClipboardData()); got != want {
			t.Errorf("copied %q; want %q", got, want)
		}
		b.now = b.now.Add(time.Minute)
	}
	press(0, 2, 0)
	press(3, 2, 0)
	press(5, 2, 0)
	release(5, 2)
	copied("second")
	_, st, _ := b.term.Get(0, 2)
	if st == canvas.Plain {
		t.Error("the selection cannot be seen")
	}
	b.print("a", "new output")
	if p := b.panes.Get("a"); p.Copying() != nil {
		t.Error("output does not end the selection")
	}
	b.print("a", "see /etc/hosts now\r\nsecond row\r\nthird row")
	for range 2 {
		press(6, 1, 0)
		release(6, 1)
	}
	copied("/etc/hosts")
	for range 3 {
		press(6, 1, 0)
		release(6, 1)
	}
	copied("see /etc/hosts now\n")
	press(1, 1, tcell.ModAlt)
	press(2, 3, tcell.ModAlt)
	release(2, 3)
	copied("ee\nec\nhi")
	press(1, 1, 0)
	release(1, 1)
	copied("ee\nec\nhi") // a click copies nothing
	b.streams["a"].none(t)
}

// TestMouseMovesBorders checks that a border follows the mouse, and that the sessions follow the border.
//
// FEATURES: R76
func TestMouseMovesBorders(t *testing.T) {
	b := newBench(t, 81, 24, Options{})
	b.list(running("a"), running("b"), running("c"))
	press := func(x, y int) { b.send(tcell.NewEventMouse(x, y, tcell.ButtonPrimary, 0)) }
	drag := func(x0, y0, x1, y1 int) {
		press(x0, y0)
		press((x0+x1)/2, (y0+y1)/2)
		press(x1, y1)
		b.send(tcell.NewEventMouse(x1, y1, 0, 0))
	}
	c0 := b.panes.Get("c").Area
	press(c0.X+5, c0.Y)
	b.send(tcell.NewEventMouse(c0.X+5, c0.Y, 0, 0))
	if !b.m.Tab().Auto || b.m.Focus != "c" {
		t.Error("a click on a title changes the grid, or does not focus")
	}
	b.now = b.now.Add(time.Minute)
	a := b.panes.Get("a").Area
	drag(a.X+a.W, 3, a.X+a.W+10, 3)
	if got := b.panes.Get("a").Area.W; got != a.W+10 {
		t.Errorf("a is %d wide; want %d", got, a.W+10)
	}
	if p := b.panes.Get("a"); p.Cols != p.Area.W {
		t.Errorf("session a has %d columns", p.Cols)
	}
	c := b.panes.Get("c").Area
	drag(c.X+5, c.Y, c.X+5, c.Y-3)
	if got := b.panes.Get("c").Area; got.H != c.H+3 || b.m.Focus != "c" {
		t.Errorf("c: %v; was %v", got, c)
	}
	press(5, 0)
	b.send(tcell.NewEventMouse(5, 0, 0, 0))
	press(5, 0)
	b.send(tcell.NewEventMouse(5, 0, 0, 0))
	if !b.m.Zoomed || b.m.Focus != "a" {
		t.Error("a double click on the title does not zoom")
	}
}
