package view

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// fakeInspector returns fixed facts, and records the actions.
type fakeInspector struct {
	list  []model.Detail
	err   error
	last  map[string]string
	calls chan string
}

func newFakeInspector() *fakeInspector {
	return &fakeInspector{last: map[string]string{}, calls: make(chan string, 16)}
}

func (f *fakeInspector) Details(context.Context, string) ([]model.Detail, error) {
	return f.list, f.err
}

func (f *fakeInspector) Summary(_ context.Context, id string) (model.Summary, error) {
	if text, ok := f.last[id]; ok {
		return model.Summary{Last: text, At: epoch}, nil
	}
	return model.Summary{}, errors.New("it is gone")
}

func (f *fakeInspector) did(format string, v ...any) error {
	f.calls <- fmt.Sprintf(format, v...)
	return f.err
}

func (f *fakeInspector) Reply(_ context.Context, id, text string, secret bool) error {
	return f.did("reply %s %s %v", id, text, secret)
}
func (f *fakeInspector) DropRule(_ context.Context, id, rule string) error {
	return f.did("drop %s %s", id, rule)
}
func (f *fakeInspector) LetType(_ context.Context, id string, client int, types bool) error {
	return f.did("let %d in %s type %v", client, id, types)
}
func (f *fakeInspector) StopJob(_ context.Context, job string) error { return f.did("stop %s", job) }

func enter(b *bench) { b.send(tcell.NewEventKey(tcell.KeyEnter, 0, 0)) }

// TestDetails checks that all facts of a session are in one panel, and that each line leads to more.
//
// FEATURES: R76
func TestDetails(t *testing.T) {
	f := newFakeInspector()
	f.list = []model.Detail{
		{Group: "state", Text: "idle", Tone: model.ToneGood, Action: model.DetailAction{Copy: "the-id"}},
		{Group: "environment", Text: "A=1", Note: "by export A=1", Action: model.DetailAction{Copy: "A=1"}},
		{Group: "environment", Text: "unset B", Note: "by unset B", Action: model.DetailAction{Copy: "unset B"}},
		{Group: "rule", Text: `"Go on?": types "y"`, Note: "used 2 times", Action: model.DetailAction{Rule: "7"}},
		{Group: "answered", Text: "something odd\x1b[2J", Tone: model.ToneBad, Action: model.DetailAction{Copy: "x"}},
		{Group: "job", Text: "make", Tone: model.ToneBusy, Action: model.DetailAction{Job: "j1"}},
		{Group: "clients", Text: "terminal pts/9", Action: model.DetailAction{Client: 3}},
		{Group: "clients", Text: "terminal pts/8", Action: model.DetailAction{Client: 4, Types: true}},
	}
	b := newBench(t, 100, 30, Options{Inspector: f})
	b.list(running("a"), running("b"))
	b.keys("^1^i")
	b.shows("┌─ a ", "loading…")
	b.call()
	b.shows("✓ state        idle", "  environment  A=1 ", "by export A=1", "               unset B", "rule         \"Go on?\": types \"y\"", "used 2 times", "something odd?[2J")
	b.keys("go on")
	b.shows("Go on?")
	if strings.Contains(b.term.Text(), "by export") {
		t.Errorf("the typed text is not found:\n%s", b.term.Text())
	}
	enter(b)
	b.shows("remove rule", "y/n")
	b.keys("y")
	b.call()
	b.shows("rule removed")
	b.keys("^i")
	b.call()
	b.keys("make")
	b.shows("Enter stops the job")
	enter(b)
	b.keys("y")
	b.call()
	for _, want := range []string{"drop a 7", "stop j1"} {
		if got := <-f.calls; got != want {
			t.Errorf("%q was done; want %q", got, want)
		}
	}
	for _, c := range []struct{ terminal, leads, said, want string }{
		{"pts/9", "Enter makes it view-only", "client is view-only", "let 3 in a type false"},
		{"pts/8", "Enter lets it type", "client may type again", "let 4 in a type true"},
	} {
		b.keys("^i")
		b.call()
		b.keys(c.terminal)
		b.shows(c.leads)
		enter(b)
		b.call()
		b.shows(c.said)
		if got := <-f.calls; got != c.want {
			t.Errorf("%q was done; want %q", got, c.want)
		}
	}
	b.keys("^i")
	b.call()
	b.send(tcell.NewEventKey(tcell.KeyDown, 0, 0))
	enter(b)
	b.shows("copied")

	// They are fetched again while they are shown, and an error is shown.
	b.keys("^i")
	b.call()
	f.err = errors.New("the daemon is gone")
	b.tick()
	b.call()
	b.shows("unavailable", "the daemon is gone")
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	b.tick()
	if b.details.fetching {
		t.Error("a closed panel is kept up to date")
	}
}

// TestOverview checks that the overview has sessions that need a user first, and that they are answered in place. A
// password is not shown.
//
// FEATURES: R76
func TestOverview(t *testing.T) {
	f := newFakeInspector()
	f.last = map[string]string{"runs": "[1/2] cc", "asks": "Password:"}
	b := newBench(t, 100, 30, Options{Inspector: f})
	idle, asks, failed, done := running("idle"), running("asks"), running("failed"), running("done")
	idle.Phase, failed.Phase, done.Phase = model.PhasePrompt, model.PhasePrompt, model.PhasePrompt
	code := 2
	failed.LastExit = &code
	asks.Needs = "password"
	b.list(idle, running("runs"), asks, failed, done)
	b.m.Alerts["done"] = model.Alert{Kind: model.AlertFinished}
	b.m.Focus = "idle"
	b.keys("^v")
	b.call()
	at := 0
	for _, want := range []string{"│ ? asks ", "│ ✗ failed ", "│ ✓ done ", "│ ● runs ", "│ · idle "} {
		next := strings.Index(b.term.Text()[at:], want)
		if next < 0 {
			t.Fatalf("%q is missing, or above a less urgent session:\n%s", want, b.term.Text())
		}
		at += next
	}
	b.shows("? asks    Password:", "needs password", "● runs    [1/2] cc", "exit 2", "finished")

	b.send(tcell.NewEventKey(tcell.KeyCtrlR, 0, tcell.ModCtrl))
	b.keys("hunter2")
	b.shows("to asks, which needs password: •••••••", "─ Overview ", "? asks    Password:") // the prompt stays visible
	if strings.Contains(b.term.Text(), "hunter2") {
		t.Error("a password is shown")
	}
	enter(b)
	b.call()
	if got := <-f.calls; got != "reply asks hunter2 true" {
		t.Errorf("%q was done", got)
	}
	b.keys("^v")
	b.call()
	b.keys("idle")
	b.send(tcell.NewEventKey(tcell.KeyCtrlR, 0, tcell.ModCtrl))
	b.shows("idle has no prompt to answer")
	b.now = b.now.Add(time.Second)
	b.keys("^v")
	b.call()
	b.keys("cc")
	enter(b)
	if b.m.Focus != "runs" {
		t.Errorf("the focus is on %s", b.m.Focus)
	}
}

// TestWelcome checks that a new user sees a welcome text until the first key, which has its usual effect.
//
// FEATURES: R76
func TestWelcome(t *testing.T) {
	b := newBench(t, 100, 30, Options{})
	b.list(running("a"))
	b.welcome = true
	b.refresh()
	b.shows("┌─ Welcome to longterm ──", "leave; sessions keep running", "1 a")
	b.keys("x")
	b.settle()
	if strings.Contains(b.term.Text(), "Welcome") {
		t.Errorf("it is still there:\n%s", b.term.Text())
	}
	if in := b.streams["a"].input(t); in.Key == nil || in.Key.Text != "x" {
		t.Errorf("the session got %+v", in)
	}
	small := newBench(t, 40, 12, Options{})
	small.list(running("a"))
	small.welcome = true
	small.refresh()
	if strings.Contains(small.term.Text(), "Welcome") {
		t.Error("there is no space for it")
	}
}

// TestListBesideAPane checks that if panes would be too small to read there is one, beside a list of the sessions,
// which keys and mouse go through.
//
// FEATURES: R76
func TestListBesideAPane(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	var all []model.Session
	for i := range 30 {
		all = append(all, running(fmt.Sprint("s", i)))
	}
	all[3].Needs = "password"
	b.list(all[:4]...)
	if len(b.panes.All()) != 4 {
		t.Errorf("%d panes of four that can be read", len(b.panes.All()))
	}
	b.list(all[:8]...)
	b.keys("^2")
	b.shows(" 2 s1  ", " 4 s3              asks │", " 8 s7               run │")
	if p := b.panes.All(); len(p) != 1 || p[0].ID != "s1" || p[0].Area.X != 25 || p[0].Area.W != 55 {
		t.Errorf("panes: %+v", p)
	}
	b.keys("^j")
	if b.m.Focus != "s2" {
		t.Errorf("the down key goes to %s", b.m.Focus)
	}
	b.send(tcell.NewEventMouse(3, 5, tcell.ButtonPrimary, 0), tcell.NewEventMouse(3, 5, 0, 0))
	if b.m.Focus != "s5" {
		t.Errorf("a click goes to %s", b.m.Focus)
	}
	b.list(all...)
	b.keys("^j^k")
	b.m.Focus = "s29"
	b.refresh()
	b.shows("30 s29 ")
	if b.side.At(0, 0) != "s7" {
		t.Errorf("the list starts with %s", b.side.At(0, 0))
	}
	b.term.SetSize(50, 12) // no space for a list
	b.send(tcell.NewEventResize(50, 12))
	if b.m.Side.W != 0 {
		t.Error("a list")
	}
	if p := b.panes.All(); len(p) != 1 || p[0].ID != "s29" || p[0].Area.W != 50 {
		t.Errorf("panes: %+v", p)
	}
	b.shows("1 of 30 sessions fit  ")
	if b.keys("^k"); b.m.Focus != "s28" {
		t.Errorf("the up key goes to %s", b.m.Focus)
	}
	b.list(all[:2]...) // two are a grid that can be read
	if len(b.panes.All()) != 2 {
		t.Errorf("%d panes", len(b.panes.All()))
	}
}

// TestListStaysBesideAPane checks that a tab with more sessions than can be shown stays one pane and a list when there
// are other tabs, and after a restart of the viewer, until the user arranges it.
//
// FEATURES: R76
func TestListStaysBesideAPane(t *testing.T) {
	var all []model.Session
	for i := range 27 {
		all = append(all, running(fmt.Sprint("s", i)))
	}
	b := newBench(t, 160, 50, Options{})
	b.list(all...)
	b.makes("new", "^t")
	b.keys("^[")
	listed := func() bool {
		b.settle()
		return b.m.Side.W > 0 && len(b.panes.All()) == 1 && len(b.m.ShownPanes()) == 27
	}
	if !listed() || len(b.m.Tabs) != 2 {
		t.Fatalf("%d tabs, %d panes, the list is %d wide", len(b.m.Tabs), len(b.panes.All()), b.m.Side.W)
	}
	b.keys("^L") // no border is in sight
	b.shows("no border to move")
	kept := b.m.Layout()
	if b.m.UseLayout(&kept); !listed() {
		t.Error("the list is missing when the layout is used again")
	}
	if b.keys("^ "); b.m.Side.W > 0 {
		t.Error("a requested arrangement is not shown")
	}
}

// TestASCII checks that with ASCII's glyphs the viewer's own text has no other characters, and that sessions' output is
// unchanged.
//
// FEATURES: R76
func TestASCII(t *testing.T) {
	b := newBench(t, 130, 30, Options{LiveOptions: LiveOptions{Glyphs: "ascii"}, Inspector: newFakeInspector()})
	build := running("build")
	build.Progress, build.Phase, build.ShellCommand = &model.Progress{Percent: 42}, model.PhaseRunning, "make a line that is long enough to be cut in a pane of this width, and more than that"
	b.list(build, running("b"), exited("c", 1))
	b.welcome = true
	for _, keys := range []string{"", "^", "^^?", "^:", "^p", "^v", "^i", "^A"} {
		b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
		b.keys(keys)
		b.ring()
		b.refresh()
		for _, r := range b.term.Text() {
			if r > '~' {
				t.Errorf("after %q there is a %q:\n%s", keys, r, b.term.Text())
				break
			}
		}
	}
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	b.shows("[###-    ] 42%")
	b.print("b", "│ 你好 …")
	b.shows("│ 你好 …")
}

// TestThemeFollowsTheTerminal checks that the theme follows the terminal's report of its background, unless the user
// chose one.
//
// FEATURES: R76
func TestThemeFollowsTheTerminal(t *testing.T) {
	t.Setenv("COLORFGBG", "15;0")
	t.Setenv("NO_COLOR", "")
	b := newBench(t, 80, 24, Options{})
	b.list(running("a"))
	b.background.waiting = true // nothing is drawn before the answer
	b.term.Drawn()
	b.list(running("a"), running("b"))
	if _, shows := b.term.Drawn(); shows != 0 {
		t.Errorf("shown %d times before the terminal has answered", shows)
	}
	b.setBackground(theme.LightBackground)
	b.refresh()
	if _, shows := b.term.Drawn(); shows != 1 || b.theme != theme.Light {
		t.Errorf("shown %d times in %s", shows, b.theme.Name)
	}
	b.setBackground(theme.DarkBackground)
	if b.theme != theme.Dark {
		t.Errorf("in the dark it is %s", b.theme.Name)
	}
	b.setTheme(theme.HighContrast)
	b.setBackground(theme.LightBackground)
	if b.theme != theme.HighContrast {
		t.Errorf("the chosen theme gave way to %s", b.theme.Name)
	}
}
