package view

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/internal/screentest"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/vterm"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fakeSource plays the daemon.
type fakeSource struct {
	updates chan model.Update
	watched chan *fakeStream
	killed  chan string
	made    string // id that New gives; empty: an error
	line    string // that New was given
	dir     string // likewise
	panics  bool
}

func newFakeSource() *fakeSource {
	return &fakeSource{updates: make(chan model.Update, 16), watched: make(chan *fakeStream, 64), killed: make(chan string, 4)}
}

func (f *fakeSource) Sessions(context.Context) <-chan model.Update { return f.updates }

func (f *fakeSource) Watch(_ context.Context, id string, cols, rows int) panes.Stream {
	s := &fakeStream{
		id: id, cols: cols, rows: rows, frames: make(chan panes.Frame, 16),
		acts: make(chan panes.Input, 64), sizes: make(chan [2]int, 64), asked: make(chan string, 64),
	}
	f.watched <- s
	return s
}

func (f *fakeSource) New(_ context.Context, _, dir, line string) (string, error) {
	f.dir, f.line = dir, line
	if f.panics {
		panic("source broke")
	}
	if f.made == "" {
		return "", errors.New("no room")
	}
	return f.made, nil
}

func (f *fakeSource) Kill(_ context.Context, id string) error {
	if id == "immortal" {
		return errors.New("it will not die")
	}
	f.killed <- id
	return nil
}

// fakeStream is a session as the viewer sees it.
type fakeStream struct {
	id         string
	cols, rows int
	frames     chan panes.Frame
	acts       chan panes.Input
	sizes      chan [2]int
	asked      chan string // keys of images
	once       sync.Once
	unsent     int // bytes typed
}

func (s *fakeStream) Frames() <-chan panes.Frame      { return s.frames }
func (s *fakeStream) SendInput(in panes.Input) uint64 { s.acts <- in; return 0 }
func (s *fakeStream) Resize(cols, rows int)           { s.sizes <- [2]int{cols, rows} }
func (s *fakeStream) Picture(key string)              { s.asked <- key }
func (s *fakeStream) Close() int                      { s.once.Do(func() { close(s.frames) }); return s.unsent }

// input returns the next input of the session, without focus reports.
func (s *fakeStream) input(t *testing.T) panes.Input {
	t.Helper()
	for {
		select {
		case in := <-s.acts:
			if in.Focus == nil {
				return in
			}
		case <-t.Context().Done():
			t.Fatal("no input arrived")
		}
	}
}

// none fails when anything but focus reports reached the session.
func (s *fakeStream) none(t *testing.T) {
	t.Helper()
	for len(s.acts) > 0 {
		if in := <-s.acts; in.Focus == nil {
			t.Errorf("session %s got %+v", s.id, in)
		}
	}
}

// bench is a viewer without its loop: the test is the loop.
type bench struct {
	*viewer
	t       *testing.T
	src     *fakeSource
	term    *screentest.Screen
	now     time.Time
	streams map[string]*fakeStream
	alarms  []func() // set, in order
}

// ring lets the time of all alarms pass.
func (b *bench) ring() {
	alarms := b.alarms
	b.alarms = nil
	for _, f := range alarms {
		f()
	}
	b.settle()
}

func newBench(t *testing.T, cols, rows int, o Options) *bench {
	t.Helper()
	b := &bench{t: t, src: newFakeSource(), now: epoch, streams: map[string]*fakeStream{}}
	b.term = screentest.Started(t, cols, rows)
	o.Screen, o.Now, o.Tick = b.term, func() time.Time { return b.now }, make(chan time.Time)
	if err := o.defaults(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	keys, err := o.keymap()
	if err != nil {
		t.Fatal(err)
	}
	b.viewer = newViewer(ctx, b.src, o, keys)
	b.alarm = func(_ time.Duration, f func()) { b.alarms = append(b.alarms, f) }
	t.Cleanup(func() {
		b.panes.Close()
		cancel()
		b.tasks.Wait()
	})
	b.refresh()
	return b
}

// list makes these the sessions.
func (b *bench) list(sessions ...model.Session) {
	b.t.Helper()
	b.apply(model.Update{Sessions: sessions})
	b.settle()
}

// apply hands the viewer an update.
func (b *bench) apply(u model.Update) {
	b.t.Helper()
	if err := b.update(u, true); err != nil {
		b.t.Fatal(err)
	}
}

// settle draws, and takes the streams that were opened.
func (b *bench) settle() {
	b.refresh()
	for len(b.src.watched) > 0 {
		s := <-b.src.watched
		b.streams[s.id] = s
	}
}

// print shows program output in a session.
func (b *bench) print(id, output string) {
	b.t.Helper()
	p := b.panes.Get(id)
	if p == nil {
		b.t.Fatalf("session %s has no pane", id)
	}
	p.Apply(frame(p.Cols, p.Rows, output))
	b.settle()
}

func (b *bench) send(events ...tcell.Event) {
	for _, e := range events {
		b.handle(e)
		b.settle()
	}
}

// keys types keys; "^" is the prefix.
func (b *bench) keys(text string) {
	for _, r := range text {
		if r == '^' {
			b.send(tcell.NewEventKey(tcell.KeyCtrlSpace, 0, tcell.ModCtrl))
			continue
		}
		b.send(tcell.NewEventKey(tcell.KeyRune, r, 0))
	}
}

// call runs the function that a background task submits.
func (b *bench) call() {
	b.t.Helper()
	select {
	case f := <-b.calls:
		f()
		b.settle()
	case <-b.t.Context().Done():
		b.t.Fatal("no call arrived")
	}
}

func (b *bench) row(y int) string {
	return strings.Split(b.term.Text(), "\n")[y]
}

// shows fails unless all of these are on the screen.
func (b *bench) shows(want ...string) {
	b.t.Helper()
	for _, w := range want {
		if !strings.Contains(b.term.Text(), w) {
			b.t.Errorf("%q is not on the screen:\n%s", w, b.term.Text())
		}
	}
}

// frame returns the frame of an emulator of that size after some output.
func frame(cols, rows int, output string) panes.Frame {
	e := vterm.New(vterm.Options{Cols: cols, Rows: rows})
	_, _ = e.Write([]byte(output))
	return frameSince(e, 0)
}

func frameSince(e vterm.Engine, since uint64) panes.Frame {
	var f vterm.Frame
	e.Frame(&f, vterm.Query{Since: since})
	s := &render.Screen{}
	render.FromFrame(s, &f)
	return panes.Frame{Screen: s, Modes: e.Modes()}
}

func running(id string) model.Session {
	return model.Session{ID: id, Name: id, State: model.StateRunning, Command: "sh", Started: epoch}
}

func exited(id string, code int) model.Session {
	return model.Session{ID: id, Name: id, State: "exited", Command: "sh", ExitCode: &code, Started: epoch, Ended: epoch.Add(5 * time.Second)}
}
