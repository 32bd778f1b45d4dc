package panes

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/copymode"
	"github.com/longterm-dev/longterm/render/view/internal/screentest"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// stage is a set of panes on a separate terminal. It implements their host, and copy mode's.
type stage struct {
	*Set
	term   *screentest.Screen
	canvas canvas.Canvas
	log    []string
	now    time.Time
	copied string
	beside []func(context.Context) // functions for separate goroutines
	alarms []func()                // set, in order

	far    bool   // sessions are another host's
	typed  uint64 // messages, where so
	unsent map[string]int
}

// numbered is the number of a message of typing.
func (s *stage) numbered() uint64 {
	if s.far {
		s.typed++
	}
	return s.typed
}

func newStage(t *testing.T, cols, rows int) *stage {
	s := &stage{term: screentest.Started(t, cols, rows), now: epoch}
	s.canvas = canvas.New(s.term, false)
	s.Set = New(s, s, nil)
	return s
}

func (s *stage) Now() time.Time                  { return s.now }
func (s *stage) Spawn(f func(context.Context))   { s.beside = append(s.beside, f) }
func (s *stage) After(_ time.Duration, f func()) { s.alarms = append(s.alarms, f) }
func (s *stage) Watch(session string, cols, rows int) Stream {
	s.log = append(s.log, fmt.Sprintf("watch %s %d×%d", session, cols, rows))
	return &stream{s, session}
}

func (s *stage) RunAsync(func(context.Context) func()) {}
func (s *stage) ShowMessage(text string)               { s.log = append(s.log, "say "+text) }
func (s *stage) Ask(*overlays.Prompt)                  {}
func (s *stage) Copy(text string)                      { s.copied = text }

var _ copymode.Host = (*stage)(nil)

// logged returns the operations on streams since the last call.
func (s *stage) logged() string {
	log := strings.Join(s.log, ", ")
	s.log = nil
	return log
}

type stream struct {
	s  *stage
	id string
}

func (s *stream) Frames() <-chan Frame { return nil }
func (s *stream) SendInput(Input) uint64 {
	s.s.log = append(s.s.log, "act "+s.id)
	return s.s.numbered()
}
func (s *stream) Close() int         { s.s.log = append(s.s.log, "close "+s.id); return s.s.unsent[s.id] }
func (s *stream) Picture(key string) { s.s.log = append(s.s.log, "picture "+s.id+" "+key) }
func (s *stream) Resize(cols, rows int) {
	s.s.log = append(s.s.log, fmt.Sprintf("resize %s %d×%d", s.id, cols, rows))
}

func whole(_ string, in layout.Rect) (cols, rows int) { return in.W, in.H }

// show returns one pane on the whole terminal.
func (s *stage) show(id string) *Pane {
	w, h := s.term.Size()
	s.Place([]layout.Place{{Session: id, Area: layout.Rect{W: w, H: h}}}, whole)
	s.logged()
	return s.Get(id)
}

// drawn is the terminal, drawn with a title in every pane's first row.
func (s *stage) drawn() string {
	status := func(id string) (statusbar.Status, bool) {
		return statusbar.Status{Session: &model.Session{Name: id, State: model.StateRunning, Started: s.now}, Number: 1, Now: s.now}, true
	}
	s.Draw(&s.canvas, theme.Mono, "a", status)
	s.DrawCursor(&s.canvas, "a", true)
	s.canvas.Show()
	return s.term.Text()
}

// frame returns the frame of an emulator of a size after some output.
func frame(cols, rows int, output string) Frame {
	e := vterm.New(vterm.Options{Cols: cols, Rows: rows})
	_, _ = e.Write([]byte(output))
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	s := &render.Screen{}
	render.FromFrame(s, &f)
	return Frame{Screen: s, Modes: e.Modes()}
}

func TestPlace(t *testing.T) {
	s := newStage(t, 41, 10)
	left, right := layout.Rect{W: 20, H: 10}, layout.Rect{X: 21, W: 20, H: 10}
	for _, c := range []struct {
		name   string
		places []layout.Place
		want   string
	}{
		{"two", []layout.Place{{Session: "a", Area: left}, {Session: "b", Area: right}}, "watch a 20×9, watch b 20×9"},
		{"the same", []layout.Place{{Session: "a", Area: left}, {Session: "b", Area: right}}, ""},
		{"swapped", []layout.Place{{Session: "b", Area: left}, {Session: "a", Area: right}}, ""},
		{"another one", []layout.Place{{Session: "b", Area: left}, {Session: "c", Area: right}}, "watch c 20×9, close a"},
		{"alone", []layout.Place{{Session: "c", Area: layout.Rect{W: 41, H: 10}}}, "close b, resize c 41×9"},
	} {
		s.Place(c.places, whole)
		s.Fit(whole)
		if got := s.logged(); got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
	}
	if s.At(40, 9) != s.Get("c") || s.Get("a") != nil {
		t.Error("the pane on the screen is not found, or one that is not")
	}
	if s.Close(); s.logged() != "close c" {
		t.Error("a stream stays open")
	}
}

func TestScreens(t *testing.T) {
	for _, c := range []struct {
		name       string
		cols, rows int
		output     string
		want       string
		cursor     string
	}{
		{"fits", 10, 3, "one\r\ntwo", " 1 a   0s\none\ntwo\n", "3,2"},
		{"smaller", 5, 2, "one\r\ntwo", " 1 a   0s\none  ·····\ntwo  ·····\n··········", "3,2"},
		{"taller: the cursor is in sight", 10, 5, "1\r\n2\r\n3\r\n4\r\n5", " 1 a   0s\n3\n4\n5", "1,3"},
		{"taller: from the top", 10, 5, "1\r\n2\r\n3", " 1 a   0s\n1\n2\n3", "1,3"},
		{"wider: the cursor is in sight", 20, 3, "0123456789abcdef", " 1 a   0s\nabcdef\n\n", "6,1"},
		{"a wide character at the edge", 20, 3, "012345678你", " 1 a   0s\n5678你\n\n", "6,1"},
	} {
		s := newStage(t, 10, 4)
		s.show("a").Apply(frame(c.cols, c.rows, c.output))
		s.now = s.now.Add(FollowTime)
		if got := s.drawn(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		if x, y, _ := s.term.GetCursor(); fmt.Sprintf("%d,%d", x, y) != c.cursor {
			t.Errorf("%s: the cursor is at %d,%d; want %s", c.name, x, y, c.cursor)
		}
	}
}

// TestFollows checks that a screen of another size is marked only when the session has had time to resize.
func TestFollows(t *testing.T) {
	s := newStage(t, 10, 4)
	s.show("a").Apply(frame(5, 3, "one"))
	if strings.Contains(s.drawn(), "·") {
		t.Error("marked at once")
	}
	s.now = s.now.Add(FollowTime)
	if !strings.Contains(s.drawn(), "·") {
		t.Error("not marked")
	}
	s.Get("a").Apply(frame(10, 3, "one"))
	if strings.Contains(s.drawn(), "·") {
		t.Error("still marked")
	}
}

// TestSelection checks that a selection with the mouse is copied, and cleared by new output.
func TestSelection(t *testing.T) {
	for _, c := range []struct {
		name   string
		clicks int
		block  bool
		drag   [][2]int // positions; the button is let go at the last one
		want   string
	}{
		{"characters", 1, false, [][2]int{{1, 1}, {2, 1}, {4, 1}, {4, 1}}, "bcde"},
		{"backwards", 1, false, [][2]int{{4, 1}, {1, 1}, {1, 1}}, "bcde"},
		{"a click", 1, false, [][2]int{{1, 1}, {1, 1}}, ""},
		{"a word", 2, false, [][2]int{{8, 1}, {8, 1}}, "ghi"},
		{"a row", 3, false, [][2]int{{3, 2}, {3, 2}}, "second row\n"},
		{"rows", 1, false, [][2]int{{7, 1}, {5, 2}, {5, 2}}, "ghi\nsecond"},
		{"a rectangle", 1, true, [][2]int{{1, 1}, {3, 2}, {3, 2}}, "bcd\neco"},
	} {
		s := newStage(t, 20, 5)
		p := s.show("a")
		p.Apply(frame(20, 4, "abcdef ghi\r\nsecond row"))
		var sel Selection
		sel.Begin(p, c.clicks, c.block, c.drag[0][0], c.drag[0][1])
		for i, at := range c.drag[1:] {
			sel.Drag(at[0], at[1], i < len(c.drag)-2)
		}
		if s.copied != c.want || sel.IsActive() {
			t.Errorf("%s: copied %q; want %q; selecting %v", c.name, s.copied, c.want, sel.IsActive())
		}
		p.Apply(frame(20, 4, "something else"))
		if p.Copying() != nil || !strings.Contains(s.drawn(), "something else") {
			t.Errorf("%s: output does not end it:\n%s", c.name, s.drawn())
		}
	}
}

// TestCopyMode checks that in copy mode the rows do not move.
func TestCopyMode(t *testing.T) {
	s := newStage(t, 20, 4)
	p := s.show("a")
	p.Apply(frame(20, 3, "one\r\ntwo"))
	p.CopyMode().UseKeys()
	p.Apply(frame(20, 3, "three"))
	if got := s.drawn(); !strings.Contains(got, "one\ntwo") || !strings.Contains(got, "copy") {
		t.Errorf("in copy mode:\n%s", got)
	}
	p.LeaveCopyMode()
	if got := s.drawn(); !strings.Contains(got, "three") || strings.Contains(got, "copy") {
		t.Errorf("live again:\n%s", got)
	}
}

func TestPreview(t *testing.T) {
	s := newStage(t, 20, 4)
	at := layout.Rect{X: 10, W: 10, H: 4}
	s.DrawPreview(&s.canvas, at, "b")
	s.DrawPreview(&s.canvas, at, "b")
	s.DrawPreview(&s.canvas, at, "c")
	s.StopPreview()
	if got, want := s.logged(), "watch b 0×0, close b, watch c 0×0, close c"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}
