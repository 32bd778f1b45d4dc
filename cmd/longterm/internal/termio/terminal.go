//go:build unix

// Package termio is the person's terminal: raw mode and the way back from it on every end (a guard process has it
// after SIGKILL), its size, its keys, its background colour. It knows no session; what is drawn comes as bytes.
//
// A Terminal is drawn on and given back by different goroutines; its own lock keeps them apart.
package termio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/term"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session/attach"
)

// Terminal is the person's terminal while it is raw; it is given back on
// every way out.
type Terminal struct {
	in, out *os.File
	state   *term.State
	once    sync.Once
	Resized chan os.Signal
	guard   chan *guard // has it once it was started; a guard of nil is none. nil: it was not asked for
	own     bool        // on the alternate screen, which is ours
	titled  bool        // the title is kept
	// screens follows which screen is shown. What draws and who gives the terminal back take turns.
	mu      sync.Mutex
	screens attach.Screens
	// recoloured is set once something was drawn that changes the terminal's colours.
	recoloured atomic.Bool
}

// colourSettings begin the sequences that change a terminal's palette and own colours.
var colourSettings = [][]byte{[]byte("\x1b]4;"), []byte("\x1b]10;"), []byte("\x1b]11;"), []byte("\x1b]12;")}

// XTWINOPS 22 and 23 keep the title and give it back.
const (
	keepTitle     = "\x1b[22;0t"
	giveTitleBack = "\x1b[23;0t"
)

// Draw writes raw output to the terminal.
func (t *Terminal) Draw(p []byte) error {
	if !t.recoloured.Load() && slices.ContainsFunc(colourSettings, func(s []byte) bool { return bytes.Contains(p, s) }) {
		t.recoloured.Store(true)
		t.guarded((*guard).recoloured)
	}
	t.mu.Lock()
	t.screens.Write(p)
	t.mu.Unlock()
	_, err := t.out.Write(p)
	return err
}

// Leave goes back to the primary screen if a program has left the terminal on the other, and below all that is there
// if the cursor is not where it was: row is the last one to be used.
func (t *Terminal) Leave(row int) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	seq, back := t.screens.Leave()
	if !back {
		seq += fmt.Sprintf("\x1b[%d;1H", row)
	}
	return []byte(seq)
}

// ErrNoTerminal is for verbs that need a person before them.
var ErrNoTerminal = errors.New("standard input and output must be a terminal; use `longterm screen`, `output` and `send` from programs")

// AreTerminals says that both streams are terminals.
func AreTerminals(in, out *os.File) bool {
	return term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}

// Open makes the terminal raw.
func Open(in, out *os.File) (*Terminal, error) {
	if !AreTerminals(in, out) {
		return nil, ErrNoTerminal
	}
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	t := &Terminal{in: in, out: out, state: state, Resized: make(chan os.Signal, 1)}
	signal.Notify(t.Resized, syscall.SIGWINCH)
	return t, nil
}

// Take has a guard give the terminal back should this process be killed, and keeps the
// title. With own the session is shown on the alternate screen; what is on the other is
// back afterwards.
func (t *Terminal) Take(own bool) {
	t.own, t.titled = own, true
	t.guard = make(chan *guard, 1)
	reset := t.appendReset(nil, true)
	t.guard <- startGuard(t.out, reset) // before anything is drawn that it would have to undo
	enter := keepTitle
	if own {
		enter += "\x1b[?1049h\x1b[H\x1b[2J"
	}
	_, _ = t.out.WriteString(enter) // a terminal that is gone is noticed when drawing
}

// guarded does something with the guard, if one was asked for.
func (t *Terminal) guarded(do func(*guard)) {
	if t.guard == nil {
		return
	}
	g := <-t.guard
	do(g)
	t.guard <- g
}

// Size is its size in cells.
func (t *Terminal) Size() (cols, rows int) { return SizeOf(t.out) }

// SizeOf is a terminal's size in cells.
func SizeOf(f *os.File) (cols, rows int) {
	cols, rows, err := term.GetSize(int(f.Fd()))
	if err != nil || cols < 1 || rows < 1 {
		return 80, 24
	}
	return cols, rows
}

// Restore gives the terminal back, with every mode a session may have set undone.
// below: the cursor goes below what was drawn; else it stays where output ended. From a
// screen of our own the cursor goes back to where it was.
func (t *Terminal) Restore(below bool) {
	t.once.Do(func() {
		signal.Stop(t.Resized)
		var leave []byte
		if !t.own {
			_, rows := t.Size()
			leave = t.Leave(rows) // before the cursor is saved, which is kept per screen
		}
		_, _ = t.out.Write(t.appendReset(leave, below))
		_ = term.Restore(int(t.in.Fd()), t.state)
		t.guarded((*guard).dismiss)
	})
}

func (t *Terminal) appendReset(b []byte, below bool) []byte {
	b = append(b, "\x1b[m"...)
	if !t.own {
		b = append(b, "\x1b7"...) // resetting margins moves the cursor
	}
	b = render.AppendModesReset(b)
	if t.recoloured.Load() { // else they are as the person set them
		b = render.AppendColorsReset(b)
	}
	if t.titled {
		b = append(b, giveTitleBack...)
	}
	switch {
	case t.own:
	case below:
		b = append(b, "\x1b[9999;1H\r\n"...)
	default:
		b = append(b, "\x1b8"...)
	}
	return b
}

// Keys reads what is typed and hands it on, read by read. It ends with the terminal.
func (t *Terminal) Keys(to chan<- []byte, stop <-chan struct{}) {
	t.KeysOr(func([]byte) bool { return false }, to, stop)
}

// KeysOr is Keys for what take does not take itself, at once: each goroutine more between a key and its echo
// can cost the key a turn of the processor. The bytes are take's until it returns.
func (t *Terminal) KeysOr(take func([]byte) bool, to chan<- []byte, stop <-chan struct{}) {
	defer close(to)
	buf := make([]byte, 64<<10)
	for {
		n, err := t.in.Read(buf)
		if n > 0 && !take(buf[:n]) {
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

// Lend has the terminal be another program's while that runs, as it was before it was made raw. Nobody may read or
// draw meanwhile.
func (t *Terminal) Lend(run func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.out.WriteString("\x1b7\x1b[r\x1b8")
	if err := term.Restore(int(t.in.Fd()), t.state); err != nil {
		return err
	}
	err := run()
	_, raw := term.MakeRaw(int(t.in.Fd()))
	return errors.Join(err, raw)
}

// IsTerminal says that a stream is a terminal.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
