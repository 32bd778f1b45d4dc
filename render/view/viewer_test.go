package view

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/vterm/input"
)

// FEATURES: R76
func TestKeysReachFocused(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	b.list(running("a"), running("b"))
	if b.m.Focus != "b" {
		t.Fatalf("focus on %q", b.m.Focus)
	}
	b.keys("x")
	b.send(tcell.NewEventKey(tcell.KeyCtrlC, 0, tcell.ModCtrl), tcell.NewEventKey(tcell.KeyUp, 0, tcell.ModShift))
	for _, want := range []input.Key{{Code: 'x', Text: "x"}, {Code: 'c', Mods: input.Ctrl}, {Code: input.KeyUp, Mods: input.Shift}} {
		if got := b.streams["b"].input(t); got.Key == nil || *got.Key != want {
			t.Errorf("session got %+v; want %+v", got.Key, want)
		}
	}
	b.keys("^^") // the prefix itself
	if got := b.streams["b"].input(t); got.Key == nil || got.Key.Code != ' ' || got.Key.Mods != input.Ctrl {
		t.Errorf("prefix twice: %+v", got.Key)
	}
	b.keys("^1y")
	if got := b.streams["a"].input(t); got.Key == nil || got.Key.Text != "y" {
		t.Errorf("after moving the focus: %+v", got)
	}
	b.streams["b"].none(t)
	b.list(running("a"), exited("b", 0))
	b.keys("^2z")
	b.streams["b"].none(t)
	b.shows("session has ended")
}

// FEATURES: R76
func TestCommands(t *testing.T) {
	b := newBench(t, 81, 25, Options{})
	b.list(running("a"), running("b"), running("c"), running("d"))
	steps := []struct{ keys, focus string }{
		{"^1", "a"}, {"^l", "b"}, {"^j", "d"}, {"^h", "c"}, {"^k", "a"}, {"^k", "a"}, {"^4", "d"}, {"^9", "d"}, {"^3", "c"},
	}
	for _, s := range steps {
		b.keys(s.keys)
		if b.m.Focus != s.focus {
			t.Errorf("after %s the focus is on %s; want %s", s.keys, b.m.Focus, s.focus)
		}
	}
	key := func(k tcell.Key, m tcell.ModMask) {
		b.keys("^")
		b.send(tcell.NewEventKey(k, 0, m))
	}
	for _, s := range []struct {
		key   tcell.Key
		focus string
	}{{tcell.KeyTab, "d"}, {tcell.KeyTab, "a"}, {tcell.KeyBacktab, "d"}, {tcell.KeyUp, "b"}, {tcell.KeyLeft, "a"}, {tcell.KeyEscape, "a"}} {
		key(s.key, 0)
		if b.m.Focus != s.focus {
			t.Errorf("after %s the focus is on %s; want %s", tcell.KeyNames[s.key], b.m.Focus, s.focus)
		}
	}
	b.keys("^")
	b.shows("n new", "| split right")
	b.keys("0")
	b.shows("key not bound")
	b.keys("^q")
	if !b.quit {
		t.Error("it does not quit")
	}
	for id, s := range b.streams {
		select {
		case in := <-s.acts:
			if in.Focus == nil {
				t.Errorf("session %s got %+v", id, in)
			}
		default:
		}
	}
}

// FEATURES: R76
func TestZoom(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	b.list(running("a"), running("b"))
	b.print("a", "text of a")
	b.keys("^z")
	if len(b.panes.All()) != 1 || b.panes.All()[0].ID != "b" || b.panes.All()[0].Cols != 80 {
		t.Fatalf("zoomed: %+v", b.panes.All())
	}
	b.shows("zoomed", " 2 b")
	b.keys("^1")
	if len(b.panes.All()) != 1 || b.panes.All()[0].ID != "a" {
		t.Fatalf("zoomed on the next: %+v", b.panes.All())
	}
	b.keys("^z")
	if len(b.panes.All()) != 2 {
		t.Fatalf("not zoomed: %+v", b.panes.All())
	}
	b.keys("^z")
	b.list(running("b")) // the zoomed session was removed
	if b.m.Zoomed || b.m.Focus != "b" || len(b.panes.All()) != 1 {
		t.Errorf("zoomed %v on %q", b.m.Zoomed, b.m.Focus)
	}
}

// FEATURES: R76
func TestNewAndKill(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	b.list()
	b.shows("No running sessions", "n  start one")
	b.src.made = "fresh"
	b.keys("n")
	b.call()
	b.list(running("other"), running("fresh"), running("last"))
	if b.m.Focus != "fresh" {
		t.Errorf("focus on %q, not on the new session", b.m.Focus)
	}
	b.src.made = ""
	b.keys("^n")
	b.call()
	b.shows("session not started: no room")

	b.keys("^x")
	b.shows("kill fresh? y/n")
	b.keys("n")
	b.keys("^xy")
	if id := <-b.src.killed; id != "fresh" || len(b.src.killed) > 0 {
		t.Errorf("killed %s", id)
	}
	b.streams["fresh"].none(t)
	dead := exited("fresh", 0)
	dead.ExitCode, dead.Signal = nil, "SIGHUP" // a shell's end by the ladder
	b.list(running("other"), dead, running("last"))
	b.shows("fresh killed; output kept")
	if b.panes.Get("fresh") != nil || b.m.Focus == "fresh" || b.m.Alerts["fresh"].Kind != model.AlertNone {
		t.Errorf("a session killed here is on the screen, with the focus on %s: %v", b.m.Focus, b.m.Alerts)
	}
	b.list(running("other"), exited("last", 130)) // done by another client
	b.shows("ended, exit 130")
	b.m.Focus = "last"
	b.keys("^c")
	if b.panes.Get("last") != nil {
		t.Error("a closed session is on the screen")
	}
	b.list(running("immortal"))
	b.keys("^c")
	b.shows("session is running")
	b.keys("^xy")
	b.call()
	b.settle()
	b.shows("not killed: it will not die")

	b.list()
	b.now = b.now.Add(strayTime)
	b.keys("q")
	if !b.quit {
		t.Error("q does not quit the empty viewer")
	}
}

// TestOnly checks that with ids given only those sessions are shown, ended or not, and those that the viewer starts.
func TestOnly(t *testing.T) {
	b := newBench(t, 80, 24, Options{Only: []string{"b", "old"}})
	b.list(running("a"), running("b"), exited("old", 0))
	if got := b.m.Visible(); !reflect.DeepEqual(got, []string{"b", "old"}) {
		t.Errorf("visible: %v", got)
	}
	b.src.made = "fresh"
	b.keys("^n")
	b.call()
	b.list(running("a"), running("b"), exited("old", 0), running("fresh"))
	if got := b.m.Visible(); !reflect.DeepEqual(got, []string{"b", "old", "fresh"}) || b.m.Focus != "fresh" {
		t.Errorf("visible: %v, focus %s", got, b.m.Focus)
	}
	b.keys("^2^c")
	if got := b.m.Visible(); !reflect.DeepEqual(got, []string{"b", "fresh"}) {
		t.Errorf("old was closed: %v", got)
	}
}

func TestHelp(t *testing.T) {
	b := newBench(t, 80, 24, Options{LiveOptions: LiveOptions{Prefix: input.Key{Code: 'b', Mods: input.Ctrl}}})
	b.list(running("a"))
	b.print("a", strings.Repeat("text under the help ", 100))
	before := b.term.Text()
	prefix := tcell.NewEventKey(tcell.KeyCtrlB, 0, tcell.ModCtrl)
	b.send(prefix)
	b.keys("?")
	b.shows("after Ctrl-b", "start a session", "start a session to the right")
	b.print("a", "meanwhile")
	if strings.Contains(b.term.Text(), "meanwhile") {
		t.Error("output is drawn over the help")
	}
	b.print("a", strings.Repeat("text under the help ", 100))
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	if got := b.term.Text(); got != before {
		t.Errorf("after the help:\n%s\nwant\n%s", got, before)
	}
	b.streams["a"].none(t)
}

// FEATURES: R49
func TestPaste(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	b.list(running("a"))
	text := "one\r\ntwo\tthree 你好 ^q\rend"
	b.keys("^") // a paste is no command
	b.send(tcell.NewEventPaste(true))
	for _, r := range text {
		switch r {
		case '\r':
			b.send(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
		case '\n':
			b.send(tcell.NewEventKey(tcell.KeyCtrlJ, 0, tcell.ModCtrl))
		case '\t':
			b.send(tcell.NewEventKey(tcell.KeyTab, 0, 0))
		default:
			b.send(tcell.NewEventKey(tcell.KeyRune, r, 0))
		}
	}
	b.send(tcell.NewEventKey(tcell.KeyCtrlC, 0, tcell.ModCtrl), tcell.NewEventPaste(false))
	if got := b.streams["a"].input(t); got.Paste == nil || *got.Paste != text {
		t.Errorf("session got %+v", got)
	}
	b.send(tcell.NewEventPaste(false), tcell.NewEventPaste(true), tcell.NewEventPaste(false))
	b.streams["a"].none(t)
}

// FEATURES: R76
func TestMouse(t *testing.T) {
	b := newBench(t, 81, 24, Options{})
	b.list(running("a"), running("b"))
	click := func(x, y int, buttons tcell.ButtonMask) { b.send(tcell.NewEventMouse(x, y, buttons, 0)) }
	pa, pb := b.panes.Get("a").Inner(), b.panes.Get("b").Inner()

	click(pa.X+3, pa.Y+2, tcell.ButtonPrimary)
	click(pa.X+3, pa.Y+2, 0)
	if b.m.Focus != "a" {
		t.Errorf("a click on a focuses %q", b.m.Focus)
	}
	click(pa.X, pa.Y, tcell.WheelUp)
	b.streams["a"].none(t) // it did not request the mouse

	b.print("a", "\x1b[?1002h\x1b[?1006h")
	b.print("b", "\x1b[?1003h")
	if b.pointer.flags&tcell.MouseMotionEvents == 0 {
		t.Error("a program requests motion, and the terminal did not get the request")
	}
	click(pa.X+3, pa.Y+2, tcell.ButtonPrimary)
	click(pa.X+4, pa.Y+2, tcell.ButtonPrimary)
	click(pb.X+5, pb.Y+1, tcell.ButtonPrimary) // the drag leaves the pane
	click(pb.X+5, pb.Y+1, 0)
	click(pa.X+1, pa.Y, tcell.WheelDown)
	click(pa.X+1, pa.Y+1, 0)                     // motion: not requested
	click(pa.X+1, pa.Y-1, tcell.ButtonSecondary) // the status line
	click(pa.X+1, pa.Y-1, 0)
	edge := input.Mouse{Button: input.ButtonLeft, Row: min(pb.Y+1, pa.Y+pa.H-1) - pa.Y, Col: min(pb.X+5-pa.X, pa.W-1)}
	if pb.Y > pa.Y {
		edge.Row = pa.H - 1
	}
	motion, release := edge, edge
	motion.Action, release.Action = input.MouseMotion, input.MouseRelease
	for _, want := range []input.Mouse{
		{Button: input.ButtonLeft, Row: 2, Col: 3},
		{Button: input.ButtonLeft, Action: input.MouseMotion, Row: 2, Col: 4},
		motion, release,
		{Button: input.ButtonWheelDown, Row: 0, Col: 1},
	} {
		if got := b.streams["a"].input(t); got.Mouse == nil || *got.Mouse != want {
			t.Errorf("session got %+v; want %+v", got.Mouse, want)
		}
	}
	b.streams["a"].none(t)
	b.streams["b"].none(t)
	click(pb.X+1, pb.Y+1, 0)
	if got := b.streams["b"].input(t); got.Mouse == nil || got.Mouse.Action != input.MouseMotion || got.Mouse.Button != input.ButtonNone {
		t.Errorf("motion: %+v", got.Mouse)
	}
	if b.m.Focus != "a" {
		t.Error("a drag that ends in another pane moves the focus")
	}
}

func TestFocusReports(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	b.list(running("a"), running("b"))
	b.send(tcell.NewEventFocus(false), tcell.NewEventFocus(true))
	b.keys("^1")
	got := map[string]string{}
	for id, s := range b.streams {
		for len(s.acts) > 0 {
			if in := <-s.acts; in.Focus != nil && *in.Focus {
				got[id] += "in "
			} else if in.Focus != nil {
				got[id] += "out "
			}
		}
	}
	if want := map[string]string{"a": "in ", "b": "in out in out "}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
}

// FEATURES: R96
func TestResizeFollows(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	b.list(running("a"))
	s := b.streams["a"]
	if s.cols != 80 || s.rows != 22 {
		t.Errorf("watched at %d×%d", s.cols, s.rows)
	}
	b.term.SetSize(100, 30)
	b.send(tcell.NewEventResize(100, 30))
	if got := <-s.sizes; got != [2]int{100, 28} {
		t.Errorf("resized to %v", got)
	}
	b.send(tcell.NewEventResize(100, 30))
	if len(s.sizes) > 0 {
		t.Errorf("resized again to %v", <-s.sizes)
	}
}

func TestAway(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	b.list(running("a"))
	b.print("a", "still there")
	b.apply(model.Update{Unavailable: "daemon restarts"})
	b.settle()
	b.shows("still there")
	if strings.Contains(b.term.Text(), "reconnecting") {
		t.Error("a blink is reported")
	}
	b.now = b.now.Add(statusbar.UnreachableTime)
	b.settle()
	b.shows("reconnecting… daemon restarts", "still there")
	b.list(running("a"))
	if strings.Contains(b.term.Text(), "reconnecting") {
		t.Error("the source is reported as unreachable")
	}
}
