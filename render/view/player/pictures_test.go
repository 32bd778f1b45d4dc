package player

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm"
)

// emulated is our own emulator as the terminal, which can draw images.
type emulated struct {
	typed   chan []byte
	stopped chan struct{}
	once    sync.Once
	wrote   chan struct{} // something was written since the last time

	mu  sync.Mutex
	emu vterm.Engine
}

func (e *emulated) Start() error        { return nil }
func (e *emulated) Stop() error         { return nil }
func (e *emulated) Close() error        { return nil }
func (e *emulated) NotifyResize(func()) {}
func (e *emulated) Drain() error {
	e.once.Do(func() { close(e.stopped) })
	return nil
}
func (e *emulated) WindowSize() (tcell.WindowSize, error) {
	return tcell.WindowSize{Width: 20, Height: 9}, nil
}

func (e *emulated) Read(p []byte) (int, error) {
	select {
	case b := <-e.typed:
		return copy(p, b), nil
	case <-e.stopped:
		return 0, nil
	}
}

func (e *emulated) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.emu.Write(b)
	if r := e.emu.Replies(nil); len(r) > 0 {
		e.typed <- r
	}
	select {
	case e.wrote <- struct{}{}:
	default:
	}
	return len(b), nil
}

// images are the rows that show one.
func (e *emulated) images() (rows []int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var f vterm.Frame
	e.emu.Frame(&f, vterm.Query{})
	var s render.Screen
	render.FromFrame(&s, &f)
	for _, l := range s.Lines {
		if slices.ContainsFunc(l.Spans, func(sp render.Span) bool { return sp.Image != nil }) {
			rows = append(rows, l.Row)
		}
	}
	return rows
}

// A terminal that can draw images, as a pane of the viewer is one, is given a recording's; they go as they went.
//
// FEATURES: R120, R123
func TestPlayDrawsImages(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("STY", "")
	t.Setenv("TMUX", "")
	t.Setenv("NO_COLOR", "")
	e := &emulated{typed: make(chan []byte, 64), stopped: make(chan struct{}), wrote: make(chan struct{}, 1), emu: vterm.New(vterm.Options{Cols: 20, Rows: 9})}
	screen, err := canvas.Terminal(nil, func() (tcell.Tty, error) { return e, nil }, func(theme.Ground) {})
	if err != nil {
		t.Fatal(err)
	}
	sixel := "\x1bPq\"1;1;40;48#1;2;100;0;0" + strings.Repeat("#1!40~-", 8) + "\x1b\\"
	done, clock := make(chan error, 1), make(chan time.Time)
	go func() {
		done <- Play(t.Context(), tape{"before" + sixel, "\x1b[2J\x1b[Hafter"}, Options{Screen: screen, Clock: clock})
	}()
	until := func(ticks chan<- time.Time, rows ...int) {
		for now := epoch; !slices.Equal(e.images(), rows); {
			select {
			case ticks <- now:
				now = now.Add(100 * time.Millisecond)
			case <-e.wrote:
			case err := <-done:
				t.Fatalf("the player has ended: %v", err)
			}
		}
	}
	until(nil, 0, 1, 2) // time stands still until the terminal has said what it can draw
	until(clock)
	e.typed <- []byte("q")
	if err := <-done; err != nil {
		t.Error(err)
	}
}
