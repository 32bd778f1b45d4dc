//go:build unix

// Package termio controls the user's terminal: raw mode, the alternate screen, size, keys and background colour, and
// the restore on every kind of end. A guard process (takeover) restores it after SIGKILL. This package knows no
// session; drawings arrive as bytes.
//
// One goroutine draws and another may restore the terminal. Terminal.mu serialises them.
package termio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/internal/termio/takeover"
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/sys"
)

// Terminal is the user's terminal in raw mode. Restore must run on every way out.
type Terminal struct {
	in, out      *os.File
	restoreModes func() error // restores the modes from before raw mode
	once         sync.Once
	Resized      chan os.Signal
	guard        *takeover.Guard // restores the terminal if this process is killed; nil if unset
	alternate    bool            // the session is shown on the alternate screen
	titleSaved   bool            // the title was saved
	// screens tracks which screen is shown. mu serialises drawing and restoring.
	mu         sync.Mutex
	screens    attach.Screens
	writing    sync.Mutex // guards unfinished and queries, and writes of drawings
	unfinished bool       // the last drawing ended inside a sequence or a character
	queries    string     // queries to write once a drawing ends outside of them
	// drawn is the number of bytes of the next drawing that are already on the terminal. Only the drawing goroutine
	// uses it.
	drawn int
	// FilterInput, if not nil, receives each read and returns the part that the user typed, which is valid until the
	// next call. KeysOr calls it.
	FilterInput func(p []byte) []byte
	// changed is set once a drawing has changed settings, until AppendSettingsReset resets them.
	changed atomic.Bool
}

// DrawAll prepares for a drawing of the whole terminal. It resets settings that earlier drawings changed.
func (t *Terminal) DrawAll() {
	if t.drawn = 0; t.changed.Swap(false) {
		_, _ = t.out.Write(render.AppendSettingsReset(nil)) // a closed terminal fails the drawing
	}
}

// Draw writes raw output to the terminal.
func (t *Terminal) Draw(p []byte) error {
	if !t.changed.Load() && takeover.ChangesSettings(p) {
		t.changed.Store(true)
		t.guard.SettingsChanged()
	}
	t.mu.Lock()
	t.screens.Write(p)
	t.mu.Unlock()
	n := min(t.drawn, len(p))
	t.drawn -= n
	rest := p[n:]
	t.writing.Lock()
	defer t.writing.Unlock()
	if t.unfinished = isUnfinished(p, t.unfinished); !t.unfinished && t.queries != "" {
		rest, t.queries = append(bytes.Clone(rest), t.queries...), ""
	}
	if n > 0 && len(rest) == 0 {
		return nil
	}
	_, err := t.out.Write(rest)
	return err
}

// Query writes a query to the terminal. If the last drawing ended inside a sequence, the query follows the drawing that
// ends it. It ignores errors: the next drawing returns them.
func (t *Terminal) Query(query string) {
	t.writing.Lock()
	defer t.writing.Unlock()
	if t.queries += query; !t.unfinished {
		_, _ = t.out.WriteString(t.queries)
		t.queries = ""
	}
}

// isUnfinished reports whether a drawing may end within a string or a character that the next drawing continues; drawings have
// all other sequences whole. unfinished is the result for the drawing before.
func isUnfinished(p []byte, unfinished bool) bool {
	if len(p) == 0 {
		return unfinished
	}
	if p[len(p)-1] >= utf8.RuneSelf {
		return true
	}
	if i := bytes.LastIndexByte(p, '\x1b'); i >= 0 {
		unfinished = i+1 < len(p) && bytes.IndexByte([]byte("]P_^X"), p[i+1]) >= 0
		p = p[i:]
	}
	return unfinished && !bytes.ContainsAny(p, "\a\x18\x1a")
}

// Leave returns the sequence that leaves a program's screen: back to the primary screen if the program used the
// alternate one, else below its output, to row.
func (t *Terminal) Leave(row int) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	seq, back := t.screens.LeaveSequence()
	if !back {
		seq += fmt.Sprintf("\x1b[%d;1H", row)
	}
	return []byte(seq)
}

// ErrNoTerminal rejects verbs that need a user at a terminal.
var ErrNoTerminal = errors.New("standard input and output must be a terminal; use `longterm screen`, `output` and `send` from programs")

// AreTerminals reports whether both streams are terminals.
func AreTerminals(in, out *os.File) bool {
	return term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}

// Open sets raw mode.
func Open(in, out *os.File) (*Terminal, error) {
	if !AreTerminals(in, out) {
		return nil, ErrNoTerminal
	}
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	t := &Terminal{in: in, out: out, Resized: make(chan os.Signal, 1), restoreModes: func() error { return term.Restore(int(in.Fd()), state) }}
	signal.Notify(t.Resized, syscall.SIGWINCH)
	return t, nil
}

// FromTakeover returns the terminal that was taken over before the program was initialised.
func FromTakeover(taken *takeover.Terminal) *Terminal {
	t := &Terminal{
		in: os.Stdin, out: os.Stdout, Resized: make(chan os.Signal, 1), restoreModes: taken.RestoreModes,
		guard: taken.Guard, alternate: true, titleSaved: true, drawn: taken.Drawn,
	}
	signal.Notify(t.Resized, syscall.SIGWINCH)
	if cols, rows := t.Size(); cols != taken.Cols || rows != taken.Rows { // the size changed before we listened
		select {
		case t.Resized <- syscall.SIGWINCH:
		default: // one is there
		}
	}
	return t
}

// Enter starts a guard that restores the terminal if this process is killed, and saves the title. With alternate, the
// session uses the alternate screen, and the primary one is restored afterwards.
func (t *Terminal) Enter(alternate bool) {
	t.alternate, t.titleSaved = alternate, true
	reset := t.appendReset(nil, true)
	t.guard = takeover.StartGuard(t.out, string(reset), takeover.SettingsReset) // before anything is drawn that it would have to undo
	// a closed terminal is detected when drawing
	_, _ = t.out.WriteString(takeover.Enter(alternate))
}

// Size returns the terminal's size in cells.
func (t *Terminal) Size() (cols, rows int) { return SizeOf(t.out) }

// SizeOf returns a terminal's size in cells.
func SizeOf(f *os.File) (cols, rows int) {
	cols, rows, err := term.GetSize(int(f.Fd()))
	if err != nil || cols < 1 || rows < 1 {
		return 80, 24
	}
	return cols, rows
}

// Window returns the terminal's size in pixels and cells, zeros if it is unknown.
func (t *Terminal) Window() (width, height, cols, rows int) {
	width, height, cols, rows, _ = sys.WindowSize(int(t.out.Fd()))
	return width, height, cols, rows
}

// Restore restores the terminal and resets every mode that a session may have set. With below the cursor moves below
// the output, else it stays at its end. On the alternate screen it returns to its previous position.
func (t *Terminal) Restore(below bool) {
	t.once.Do(func() {
		signal.Stop(t.Resized)
		var leave []byte
		if !t.alternate {
			_, rows := t.Size()
			leave = t.Leave(rows) // before the cursor is saved, which is kept per screen
		}
		_, _ = t.out.Write(t.appendReset(leave, below))
		_ = t.restoreModes()
		t.guard.Dismiss()
	})
}

// appendReset appends the sequences that Restore writes.
func (t *Terminal) appendReset(b []byte, below bool) []byte {
	b = append(b, "\x1b[m"...)
	if !t.alternate {
		b = append(b, "\x1b7"...) // resetting margins moves the cursor
	}
	b = render.AppendModesReset(b)
	if t.changed.Load() { // else they are as the user set them
		b = render.AppendSettingsReset(b)
	}
	if t.titleSaved {
		b = append(b, takeover.RestoreTitle...)
	}
	switch {
	case t.alternate:
	case below:
		b = append(b, "\x1b[9999;1H\r\n"...)
	default:
		b = append(b, "\x1b8"...)
	}
	return b
}

// Keys sends typed input to a channel, one value per read, until the terminal is closed or stop is.
func (t *Terminal) Keys(to chan<- []byte, stop <-chan struct{}) {
	t.KeysOr(func([]byte) bool { return false }, to, stop)
}

// KeysOr is Keys, but first offers the bytes to take on the same goroutine: another goroutine between a key and its
// echo could delay the echo. take must not keep the bytes.
func (t *Terminal) KeysOr(take func([]byte) bool, to chan<- []byte, stop <-chan struct{}) {
	defer close(to)
	buf := make([]byte, 64<<10)
	for {
		n, err := t.in.Read(buf)
		typed := buf[:max(n, 0)]
		if t.FilterInput != nil {
			typed = t.FilterInput(typed)
		}
		if len(typed) > 0 && !take(typed) {
			select {
			case to <- append([]byte{}, typed...):
			case <-stop:
				return
			}
		}
		if err != nil && !errors.Is(err, io.ErrNoProgress) {
			return
		}
	}
}

// Lend runs a program on the terminal in its original mode. Nothing else may read or draw during that time.
func (t *Terminal) Lend(run func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.out.WriteString("\x1b7\x1b[r\x1b8")
	if err := t.restoreModes(); err != nil {
		return err
	}
	err := run()
	_, raw := term.MakeRaw(int(t.in.Fd()))
	return errors.Join(err, raw)
}
