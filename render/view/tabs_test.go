package view

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// makes makes the source start a session when a key requests one.
func (b *bench) makes(id, keys string) {
	b.t.Helper()
	b.src.made = id
	b.keys(keys)
	b.call()
	var all []model.Session
	all = append(all, b.m.Sessions...)
	b.list(append(all, running(id))...)
}

func (b *bench) ids() string {
	var ids []string
	for _, p := range b.panes.All() {
		ids = append(ids, p.ID)
	}
	return strings.Join(ids, " ")
}

// FEATURES: R76
func TestTabsAndSplits(t *testing.T) {
	b := newBench(t, 120, 40, Options{})
	b.list(running("a"))
	b.makes("b", "^|")
	b.makes("c", "^-")
	if b.ids() != "a b c" || b.m.Focus != "c" {
		t.Fatalf("panes %s, focus %s", b.ids(), b.m.Focus)
	}
	if a, c := b.panes.Get("a").Area, b.panes.Get("c").Area; a.H != 39 || c.Y < 15 || c.X != 61 {
		t.Errorf("a %v, c %v", a, c)
	}
	// A session that others start does not push itself between.
	b.list(running("a"), running("b"), running("c"), running("d"))
	if b.ids() != "a b c" {
		t.Errorf("panes %s", b.ids())
	}
	b.shows("+1 elsewhere")
	b.makes("e", "^t")
	if b.ids() != "e" || len(b.m.Tabs) != 2 {
		t.Fatalf("panes %s in %d tabs", b.ids(), len(b.m.Tabs))
	}
	b.keys("^[")
	if b.ids() != "a b c" || b.m.Focus != "c" {
		t.Errorf("back: panes %s, focus %s", b.ids(), b.m.Focus)
	}
	b.keys("^b") // c to a separate tab
	if b.ids() != "c" || len(b.m.Tabs) != 3 {
		t.Errorf("moved: %s in %d tabs", b.ids(), len(b.m.Tabs))
	}
	b.keys("^g") // all in a grid, and back
	if b.ids() != "a b c d e" {
		t.Errorf("grid: %s", b.ids())
	}
	b.keys("^g")
	if b.ids() != "c" || len(b.m.Tabs) != 3 {
		t.Errorf("after the grid: %s in %d tabs", b.ids(), len(b.m.Tabs))
	}
	b.keys("^c") // its only pane: the tab closes too
	if b.ids() != "a b" || len(b.m.Tabs) != 2 {
		t.Errorf("closed: %s in %d tabs", b.ids(), len(b.m.Tabs))
	}
	b.keys("^m^ ")
	if b.ids() != "b a" && b.ids() != "a b" {
		t.Errorf("swapped: %s", b.ids())
	}
	h := b.focusedPane().Area.H
	b.keys("^J")
	if got := b.focusedPane().Area.H; got == h {
		t.Errorf("it is %d high, as before", got)
	}
	b.keys("^=")
	// A tab has the name of its content, which is the default when it is renamed. Accepted unchanged, it stays.
	enter := tcell.NewEventKey(tcell.KeyEnter, 0, 0)
	b.keys("^,")
	b.shows("tab name: b")
	b.send(enter)
	if name := b.m.Tab().Name; name != "" {
		t.Errorf("a name that was accepted unchanged is %q", name)
	}
	b.keys("^,")
	b.send(tcell.NewEventKey(tcell.KeyCtrlU, 0, tcell.ModCtrl))
	b.keys("work")
	b.send(enter)
	b.shows(" work ", " e ")
	b.keys("^,")
	b.shows("tab name: work")
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	// A tab by mouse.
	b.send(tcell.NewEventMouse(8, 39, tcell.ButtonPrimary, 0), tcell.NewEventMouse(8, 39, 0, 0))
	if b.ids() != "e" {
		t.Errorf("a click on the second tab shows %s", b.ids())
	}
	b.keys("^&")
	if len(b.m.Tabs) != 1 {
		t.Errorf("%d tabs", len(b.m.Tabs))
	}
}

// TestMissingSessions_LeaveLayoutLater checks that removed sessions leave the trees, but not at once: a daemon that
// starts may not know all.
func TestMissingSessions_LeaveLayoutLater(t *testing.T) {
	b := newBench(t, 120, 40, Options{})
	b.list(running("a"))
	b.makes("b", "^|")
	b.list(running("b"))
	if b.ids() != "a b" {
		t.Errorf("panes %s", b.ids())
	}
	b.list(running("a"), running("b"))
	b.now = b.now.Add(time.Minute)
	b.list(running("b"))
	if b.ids() != "a b" {
		t.Errorf("missing for the second time: panes %s", b.ids())
	}
	b.now = b.now.Add(model.ForgetTime)
	b.tick()
	b.settle()
	if b.ids() != "b" || b.m.Focus != "b" {
		t.Errorf("gone for good: panes %s", b.ids())
	}
}

// FEATURES: R76
func TestSyncAndReadOnly(t *testing.T) {
	b := newBench(t, 120, 40, Options{})
	b.list(running("a"), running("b"), exited("c", 0))
	b.keys("^y")
	b.shows("SYNC")
	b.keys("x")
	for _, id := range []string{"a", "b"} {
		if in := b.streams[id].input(t); in.Key == nil || in.Key.Text != "x" {
			t.Errorf("%s got %+v", id, in)
		}
	}
	b.keys("^y^e")
	b.shows("READ-ONLY")
	b.keys("x")
	b.shows("nothing is sent")
	b.streams["a"].none(t)
	b.streams["b"].none(t)
	if p := b.panes.Get("a"); p.Cols != 0 || p.Rows != 0 {
		t.Errorf("a view-only client requests %d×%d", p.Cols, p.Rows)
	}
}

// FEATURES: R76
func TestAlerts(t *testing.T) {
	b := newBench(t, 100, 30, Options{})
	start := []model.Session{running("a"), running("b"), running("c")}
	start[1].Phase, start[1].Since = model.PhaseRunning, epoch
	b.list(start...)
	b.keys("^1")
	b.now = b.now.Add(time.Minute)
	failed := 1
	next := slices.Clone(start)
	next[1].Phase, next[1].LastExit = model.PhasePrompt, &failed
	next[2].Bells = 1
	b.list(next...)
	b.shows("✗ b failed +1", "bell")
	next = slices.Clone(next)
	next[2].Needs = "password"
	b.list(next...)
	b.shows("? c needs input", "needs password")
	b.keys("^a")
	if b.m.Focus != "c" {
		t.Errorf("the focus is on %s", b.m.Focus)
	}
	b.keys("^a")
	if b.m.Focus != "b" {
		t.Errorf("the focus is on %s", b.m.Focus)
	}
	b.keys("^a") // it was viewed, and still needs input
	if b.m.Focus != "c" {
		t.Errorf("the focus is on %s", b.m.Focus)
	}
	b.keys("^a")
	b.shows("no session needs attention")
	b.keys("^1")
	b.keys("^f^1") // the focus follows
	next = slices.Clone(next)
	next[1].Bells = 1
	b.list(next...)
	if b.m.Focus != "b" {
		t.Errorf("the focus is on %s", b.m.Focus)
	}
}

// TestLeftShell checks that a shell that the user exited is closed, and that one that ended otherwise stays visible.
func TestLeftShell(t *testing.T) {
	b := newBench(t, 100, 30, Options{})
	a, c := running("a"), running("b")
	a.Phase, c.Phase = model.PhasePrompt, model.PhasePrompt
	b.list(a, c)
	b.keys("exit")
	b.list(a, exited("b", 3))
	if b.ids() != "a" {
		t.Errorf("panes %s", b.ids())
	}
	b.shows("b exited with status 3")
	b.list(exited("a", 1), exited("b", 3))
	b.shows("ended, exit 1")
	b.keys("z")
	b.shows("Enter closes it")
	b.send(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
	b.shows("No running sessions")
}

// fakeLayouts is a shelf of layouts.
type fakeLayouts struct {
	kept map[string][]byte
	fail bool
}

func (f *fakeLayouts) Names(context.Context) ([]string, error) {
	var names []string
	for n := range f.kept {
		names = append(names, n)
	}
	slices.Sort(names)
	return names, nil
}
func (f *fakeLayouts) Load(_ context.Context, name string) ([]byte, error) { return f.kept[name], nil }
func (f *fakeLayouts) Save(_ context.Context, name string, b []byte) error {
	if f.fail {
		return errors.New("disk full")
	}
	f.kept[name] = b
	return nil
}

// TestLayoutThatIsNotThere checks that a viewer that starts with a missing layout has the last one, and does not lose
// it.
//
// FEATURES: R76
func TestLayoutThatIsNotThere(t *testing.T) {
	kept := &fakeLayouts{kept: map[string][]byte{}}
	open := func(name string) *bench {
		b := newBench(t, 120, 40, Options{Layouts: kept, Layout: name})
		b.viewer.layouts.load(b.ctx)
		return b
	}
	b := open("")
	b.list(running("a"))
	b.makes("b", "^t")
	b.viewer.layouts.saveAtEnd(b.ctx)
	b = open("nosuch")
	b.list(running("a"), running("b"), running("c"))
	b.shows("layout nosuch not found")
	b.viewer.layouts.saveAtEnd(b.ctx)
	b = open("")
	if b.list(running("a"), running("b"), running("c")); len(b.m.Tabs) != 2 || b.ids() != "b" {
		t.Errorf("%d tabs, %s", len(b.m.Tabs), b.ids())
	}
}

// FEATURES: R76
func TestLayouts_Saved(t *testing.T) {
	kept := &fakeLayouts{kept: map[string][]byte{}}
	t.Setenv("COLORFGBG", "")
	open := func() *bench {
		b := newBench(t, 120, 40, Options{Layouts: kept})
		if len(kept.kept) == 0 {
			b.theme = theme.Dark
		}
		b.viewer.layouts.load(b.ctx)
		return b
	}
	b := open()
	b.list(running("a"))
	b.makes("b", "^|")
	b.makes("c", "^t")
	b.keys("^[^1^w")
	b.keys("mine/1")
	b.send(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
	b.call()
	b.shows("saved as mine/1")
	b.keys("^T")
	b.viewer.layouts.saveAtEnd(b.ctx)

	b = open()
	b.list(running("a"), running("b"), running("c"), running("d"))
	if b.ids() != "a b" || b.m.Focus != "a" || len(b.m.Tabs) != 2 {
		t.Errorf("restored: %s, focus %s, %d tabs", b.ids(), b.m.Focus, len(b.m.Tabs))
	}
	if b.theme != theme.Light {
		t.Errorf("theme %s", b.theme.Name)
	}
	b.keys("^&^&")
	if b.ids() != "a b c d" {
		t.Errorf("all closed: %s", b.ids())
	}
	b.keys("^W")
	b.shows("mine/1")
	b.send(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
	b.call()
	if b.ids() != "a b" {
		t.Errorf("loaded: %s", b.ids())
	}

	// b is gone, and another session has its name; c is gone for good.
	b = open()
	again := running("x")
	again.Name = "b"
	b.list(running("a"), again)
	if b.ids() != "a x" || len(b.m.Tabs) != 1 {
		t.Errorf("with successors: %s in %d tabs", b.ids(), len(b.m.Tabs))
	}
	for _, broken := range []string{"{", `{"version":9}`, `{"version":1,"tabs":[{"tree":{"kids":[null,{"session":"zz"}]}}],"current":77}`, `{"version":1}`} {
		kept.kept[lastLayout] = []byte(broken)
		b = open()
		b.list(running("a"))
		if b.ids() != "a" {
			t.Errorf("%s: panes %s", broken, b.ids())
		}
	}
	kept.fail = true
	b.viewer.layouts.save()
	b.call()
	b.shows("layout not saved: disk full")
}

// TestLayout_SavedApart_WhenSessionsAreNamed checks that a viewer of named sessions saves its arrangement too, but not
// as the default for others.
//
// FAULT: H23
func TestLayout_SavedApart_WhenSessionsAreNamed(t *testing.T) {
	kept := &fakeLayouts{kept: map[string][]byte{}}
	b := newBench(t, 120, 40, Options{Layouts: kept, Only: []string{"a", "b"}})
	b.viewer.layouts.load(b.ctx)
	b.list(running("a"), running("b"), running("c"))
	b.viewer.layouts.saveAtEnd(b.ctx)
	f, err := model.ParseLayout(kept.kept[LastOfNamed])
	if err != nil || len(f.Tabs) != 1 || strings.Join(f.Tabs[0].Tree.Sessions(), " ") != "a b" || f.Names["b"] != "b" || kept.kept[lastLayout] != nil {
		t.Errorf("%q, %v", kept.kept, err)
	}
}

// FEATURES: R76
func TestPalette(t *testing.T) {
	b := newBench(t, 100, 30, Options{LiveOptions: LiveOptions{Theme: theme.Dark}})
	b.list(running("a"), running("b"))
	b.keys("^:")
	b.keys("theme lig")
	b.send(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
	if b.theme != theme.Light {
		t.Errorf("theme %s", b.theme.Name)
	}
	b.keys("^:")
	b.send(tcell.NewEventPaste(true))
	b.keys("go to a")
	b.send(tcell.NewEventPaste(false), tcell.NewEventKey(tcell.KeyEnter, 0, 0))
	if b.m.Focus != "a" || b.overlay != nil {
		t.Errorf("focus %s", b.m.Focus)
	}
	// The picker shows the chosen session live, without affecting its size.
	b.keys("^p")
	seen := b.streams["b"]
	if seen.cols != 0 {
		t.Errorf("the preview requests %d columns", seen.cols)
	}
	seen.frames <- frame(40, 10, "live preview")
	(<-b.panes.Arrivals()).Apply()
	b.settle()
	b.shows("live preview")
	b.send(tcell.NewEventMouse(0, 0, tcell.ButtonPrimary, 0))
	if b.overlay != nil {
		t.Error("a click outside of the list does not close it")
	}
	if _, open := <-seen.frames; open {
		t.Error("the preview's stream is open")
	}
}

// TestPaletteFindsByOtherNames checks that an action is found by its usual names, and by tmux's name for it, and that
// Enter takes the first line.
//
// FEATURES: R76 R119
func TestPaletteFindsByOtherNames(t *testing.T) {
	b := newBench(t, 120, 30, Options{LiveOptions: LiveOptions{Theme: theme.Dark}})
	b.list(running("a"))
	for typed, want := range map[string]string{
		"undo": "reopen", "detach": "quit", "broadcast": "sync", "popup": "float new", "split-window -h": "split right", "split-window": "split down", "splitw": "split down", "list-panes": "overview", "split-window -v": "split down",
		"new-window": "tab new", "rename-window": "tab rename", "kill-window": "tab close", "kill-pane": "kill", "respawn-pane": "restart", "break-pane": "tab move",
		"select-layout tiled": "tiles", "resize-pane -Z": "zoom", "resize-pane -L": "narrower", "setw synchronize-panes": "sync", "choose-tree": "pick",
		"copy-mode": "scroll", "detach-client": "quit", "list-keys": "help", "swap-pane -U": "swap before", "last-window": "tab last",
		"new": "new", "zoom": "zoom", "close": "close", "theme": "theme", "split": "split right", "help": "help", "quit": "quit", "kill": "kill", "layout save": "layout save",
	} {
		b.keys("^:")
		b.keys(typed)
		b.shows("› " + typed)
		_, after, _ := strings.Cut(b.term.Text(), "› "+typed)
		rows := strings.Split(after, "\n")
		if len(rows) < 2 || !strings.HasPrefix(strings.TrimLeft(rows[1], " │1✓"), want+"  ") {
			t.Errorf("%q: the first match is not %q:\n%s", typed, want, b.term.Text())
		}
		b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	}
}

// footer is a component as others may add.
type footer struct {
	keys  []string
	mouse [2]int
}

func (f *footer) Height(int, int) int { return 2 }
func (f *footer) Draw(s Surface, session *model.Session) {
	if session == nil {
		return
	}
	s.Text(0, 0, s.Cols, "footer of "+session.ID+"\x1b", canvas.Plain)
	s.Text(0, 5, 3, "outside", canvas.Plain)
}
func (f *footer) Open(h FooterHost, as keymap.Action) { h.ShowMessage("opened as " + string(as)) }
func (f *footer) Input(in FooterInput, _ *model.Session) bool {
	switch {
	case in.Key != nil:
		f.keys = append(f.keys, in.Key.Text)
		return in.Key.Text == "!"
	case in.Paste != nil:
		f.keys = append(f.keys, "pasted "+*in.Paste)
		return true
	}
	f.mouse = [2]int{in.X, in.Y}
	return true
}

func TestFooter(t *testing.T) {
	f := &footer{}
	b := newBench(t, 60, 12, Options{Footer: f})
	b.list(running("a"))
	if p := b.panes.Get("a"); p.Rows != 8 {
		t.Errorf("the pane has %d rows", p.Rows)
	}
	b.shows("footer of a?")
	b.keys("!x")
	if in := b.streams["a"].input(t); in.Key == nil || in.Key.Text != "x" || !reflect.DeepEqual(f.keys, []string{"!", "x"}) {
		t.Errorf("session got %+v, footer %q", in, f.keys)
	}
	b.send(tcell.NewEventMouse(4, 10, tcell.ButtonPrimary, 0))
	if f.mouse != [2]int{4, 1} {
		t.Errorf("the mouse was at %v", f.mouse)
	}
	b.send(tcell.NewEventPaste(true))
	b.keys("two")
	b.send(tcell.NewEventPaste(false))
	if got := f.keys[len(f.keys)-1]; got != "pasted two" {
		t.Errorf("the footer got %q", got)
	}
	b.streams["a"].none(t)
	b.keys("^;")
	b.shows("opened as prompt")
	b.keys("^!")
	b.shows("opened as shell")
}

// TestLetterbox checks that a session without the requested size is boxed, once it had time to resize.
//
// FEATURES: R96
func TestLetterbox(t *testing.T) {
	b := newBench(t, 60, 10, Options{})
	b.list(running("a"))
	b.panes.Get("a").Apply(frame(50, 5, "small"))
	b.refresh()
	if strings.Contains(b.term.Text(), "·") {
		t.Error("boxed before the session could follow")
	}
	b.now = b.now.Add(panes.FollowTime)
	b.refresh()
	b.shows("size 50×5", "··········", strings.Repeat("·", 60))
	p := b.panes.Get("a")
	p.Apply(frame(p.Cols, p.Rows, "fits"))
	b.refresh()
	if strings.Contains(b.term.Text(), "·") {
		t.Errorf("boxed though it fits:\n%s", b.term.Text())
	}
}

// FuzzLayout checks that a layout's file may contain anything.
func FuzzLayout(f *testing.F) {
	f.Add([]byte(`{"version":1,"tabs":[{"tree":{"stacked":true,"kids":[{"session":"a"},{"session":"b","share":2}]},"focus":"b","zoom":true},{"auto":true}],"current":1,"names":{"gone":"a"}}`))
	f.Add([]byte(`{"version":1,"tabs":[{"tree":{"kids":[{"session":"gone"},{"session":"a"}]},"focus":"zz"}],"current":-9,"names":{"gone":"a"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := newBench(t, 60, 20, Options{LiveOptions: LiveOptions{Theme: theme.Mono}})
		b.list(running("a"), running("b"))
		file, err := model.ParseLayout(data)
		if err != nil {
			return
		}
		b.m.UseLayout(file)
		b.refresh()
		if len(b.panes.All()) == 0 || b.focusedPane() == nil {
			t.Errorf("%d panes, focus %q", len(b.panes.All()), b.m.Focus)
		}
		b.keys("^]^z^=")
	})
}

// TestRefusedOrderIsNotShown checks that the error of an order is returned to its caller, and not shown in the viewer.
//
// FEATURES: R117
func TestRefusedOrderIsNotShown(t *testing.T) {
	orders, why := make(chan model.Order, 1), ""
	b := newBench(t, 80, 24, Options{Orders: orders})
	b.list(running("a"))
	b.watchOrders()
	orders <- model.Order{Do: "focus", Session: "gone", Answer: func(w string) { why = w }}
	b.call()
	if why == "" || b.message != "" {
		t.Errorf("returned %q, shown %q", why, b.message)
	}
}
