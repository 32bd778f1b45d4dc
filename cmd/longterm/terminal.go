//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/term"

	"github.com/longterm-dev/longterm/render"
)

// terminal is the person's terminal while longterm has it: raw, and given back on
// every way out.
type terminal struct {
	in, out *os.File
	state   *term.State
	once    sync.Once
	resized chan os.Signal
	// recoloured is set once something was drawn that changes the terminal's colours.
	recoloured atomic.Bool
}

// colourSettings begin the sequences that change a terminal's palette and own colours.
var colourSettings = [][]byte{[]byte("\x1b]4;"), []byte("\x1b]10;"), []byte("\x1b]11;"), []byte("\x1b]12;")}

// draw writes raw output to the terminal.
func (t *terminal) draw(p []byte) error {
	if !t.recoloured.Load() && slices.ContainsFunc(colourSettings, func(s []byte) bool { return bytes.Contains(p, s) }) {
		t.recoloured.Store(true)
	}
	_, err := t.out.Write(p)
	return err
}

var errNoTerminal = errors.New("standard input and output must be a terminal; use `longterm screen`, `output` and `send` from programs")

// openTerminal makes the terminal raw.
func openTerminal(in, out *os.File) (*terminal, error) {
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil, errNoTerminal
	}
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	t := &terminal{in: in, out: out, state: state, resized: make(chan os.Signal, 1)}
	signal.Notify(t.resized, syscall.SIGWINCH)
	return t, nil
}

// size is the terminal's size in cells.
func (t *terminal) size() (cols, rows int) {
	cols, rows, err := term.GetSize(int(t.out.Fd()))
	if err != nil || cols < 1 || rows < 1 {
		return 80, 24
	}
	return cols, rows
}

// restore gives the terminal back, with every mode a session may have set undone.
// below: the cursor goes below what was drawn; else it stays where output ended.
func (t *terminal) restore(below bool) {
	t.once.Do(func() {
		signal.Stop(t.resized)
		b := []byte("\x1b[m\x1b7") // resetting margins moves the cursor
		b = render.AppendModesReset(b)
		if t.recoloured.Load() { // else they are as the person set them
			b = render.AppendColorsReset(b)
		}
		if below {
			b = append(b, "\x1b[9999;1H\r\n"...)
		} else {
			b = append(b, "\x1b8"...)
		}
		_, _ = t.out.Write(b)
		_ = term.Restore(int(t.in.Fd()), t.state)
	})
}

// keys reads what is typed and hands it on, read by read. It ends with the terminal.
func (t *terminal) keys(to chan<- []byte, stop <-chan struct{}) {
	defer close(to)
	buf := make([]byte, 64<<10)
	for {
		n, err := t.in.Read(buf)
		if n > 0 {
			select {
			case to <- append([]byte{}, buf[:n]...):
			case <-stop:
				return
			}
		}
		if err != nil && !errors.Is(err, io.ErrNoProgress) {
			return
		}
	}
}
