package screentest

import (
	"slices"
	"strings"
	"sync"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
)

// Emulated is longterm's emulator as a terminal (tcell.Tty). It answers queries and draws images.
type Emulated struct {
	Typed chan []byte   // typed input, and the terminal's answers
	Wrote chan struct{} // receives a value after output

	cols, rows int
	stopped    chan struct{}
	once       sync.Once

	mu      sync.Mutex // guards the rest
	emu     vterm.Engine
	written []byte // all output
	resized func()
}

// NewEmulated returns a terminal of a size, in cells.
func NewEmulated(cols, rows int) *Emulated {
	return &Emulated{
		Typed: make(chan []byte, 64), Wrote: make(chan struct{}, 1), cols: cols, rows: rows, stopped: make(chan struct{}),
		emu: vterm.New(vterm.Options{Cols: cols, Rows: rows}),
	}
}

// Start implements tcell.Tty.
func (e *Emulated) Start() error { return nil }

// Stop implements tcell.Tty.
func (e *Emulated) Stop() error { return nil }

// Close implements tcell.Tty.
func (e *Emulated) Close() error { return nil }

// NotifyResize implements tcell.Tty.
func (e *Emulated) NotifyResize(resized func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.resized = resized
}

// Drain implements tcell.Tty.
func (e *Emulated) Drain() error {
	e.once.Do(func() { close(e.stopped) })
	return nil
}

// WindowSize implements tcell.Tty.
func (e *Emulated) WindowSize() (tcell.WindowSize, error) {
	return tcell.WindowSize{Width: e.cols, Height: e.rows}, nil
}

// Read implements tcell.Tty.
func (e *Emulated) Read(p []byte) (int, error) {
	select {
	case b := <-e.Typed:
		return copy(p, b), nil
	case <-e.stopped:
		return 0, nil
	}
}

// Write implements tcell.Tty.
func (e *Emulated) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.emu.Write(b)
	e.written = append(e.written, b...)
	if r := e.emu.Replies(nil); len(r) > 0 {
		e.Typed <- r
	}
	select {
	case e.Wrote <- struct{}{}:
	default:
	}
	return len(b), nil
}

// WriteForeign writes output of another program to the terminal.
func (e *Emulated) WriteForeign(output string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.emu.Write([]byte(output))
}

// Resize sends a resize event; the size may be the same.
func (e *Emulated) Resize() {
	e.mu.Lock()
	resized := e.resized
	e.mu.Unlock()
	resized()
}

func (e *Emulated) lines() []render.Line {
	e.mu.Lock()
	defer e.mu.Unlock()
	var f vterm.Frame
	e.emu.Frame(&f, vterm.Query{})
	var s render.Screen
	render.FromFrame(&s, &f)
	return s.Lines
}

// Shows returns the terminal's text, with # in place of images.
func (e *Emulated) Shows() string {
	var out []string
	for _, l := range e.lines() {
		row := []rune(l.Text + strings.Repeat(" ", e.cols-len([]rune(l.Text))))
		for _, sp := range l.Spans {
			for i := range sp.Width {
				if sp.Image != nil {
					row[sp.Col+i] = '#'
				}
			}
		}
		out = append(out, strings.TrimRight(string(row), " "))
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}

// Texts returns the text of each row.
func (e *Emulated) Texts() (all []string) {
	for _, l := range e.lines() {
		all = append(all, strings.TrimRight(l.Text, " "))
	}
	return append(all, make([]string, e.rows-len(all))...)
}

// Images returns the rows that show an image.
func (e *Emulated) Images() (rows []int) {
	for _, l := range e.lines() {
		if slices.ContainsFunc(l.Spans, func(sp render.Span) bool { return sp.Image != nil }) {
			rows = append(rows, l.Row)
		}
	}
	return rows
}

// Written returns all output since Forget.
func (e *Emulated) Written() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return string(e.written)
}

// Forget forgets what was written.
func (e *Emulated) Forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.written = nil
}
