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

// Terminal is the person's terminal while it is raw; it is given back on
// every way out.
type Terminal struct {
	in, out *os.File
	cook    func() error // has it as it was before it was raw
	once    sync.Once
	Resized chan os.Signal
	guard   *takeover.Guard // nil: there is none
	own     bool            // on the alternate screen, which is ours
	titled  bool            // the title is kept
	// screens follows which screen is shown. What draws and who gives the terminal back take turns.
	mu         sync.Mutex
	screens    attach.Screens
	writing    sync.Mutex // guards the next two fields and writes of drawings
	unfinished bool       // the last drawing ended within a sequence or a character
	queries    string     // to be written once a drawing ends outside of them
	// drawn is how much of what will be drawn is on the terminal already, in bytes. It is whose who draws.
	drawn int
	// Hear, if not nil, gets the input of each read and returns what was typed of it, which is valid until the next call.
	// KeysOr calls it.
	Hear func(p []byte) []byte
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

// Ask writes a query to the terminal. If the last drawing ended within a sequence, the query follows the drawing that ends it.
// It ignores errors: the next drawing returns them.
func (t *Terminal) Ask(query string) {
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
	t := &Terminal{in: in, out: out, Resized: make(chan os.Signal, 1), cook: func() error { return term.Restore(int(in.Fd()), state) }}
	signal.Notify(t.Resized, syscall.SIGWINCH)
	return t, nil
}

// TakenOver is the terminal, standard input and output, that was taken before the program was initialised.
func TakenOver(by *takeover.Taken) *Terminal {
	t := &Terminal{
		in: os.Stdin, out: os.Stdout, Resized: make(chan os.Signal, 1), cook: by.GiveModesBack,
		guard: by.Guard, own: true, titled: true, drawn: by.Drawn,
	}
	signal.Notify(t.Resized, syscall.SIGWINCH)
	if cols, rows := t.Size(); cols != by.Cols || rows != by.Rows { // nobody heard of it
		select {
		case t.Resized <- syscall.SIGWINCH:
		default: // one is there
		}
	}
	return t
}

// Take has a guard give the terminal back should this process be killed, and keeps the
// title. With own the session is shown on the alternate screen; what is on the other is
// back afterwards.
func (t *Terminal) Take(own bool) {
	t.own, t.titled = own, true
	reset := t.appendReset(nil, true)
	t.guard = takeover.StartGuard(t.out, string(reset), takeover.SettingsReset) // before anything is drawn that it would have to undo
	_, _ = t.out.WriteString(takeover.Enter(own))                               // a terminal that is gone is noticed when drawing
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

// Window returns the terminal's size in pixels and cells, zeros if it is unknown.
func (t *Terminal) Window() (width, height, cols, rows int) {
	width, height, cols, rows, _ = sys.Window(int(t.out.Fd()))
	return width, height, cols, rows
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
		_ = t.cook()
		t.guard.Dismiss()
	})
}

func (t *Terminal) appendReset(b []byte, below bool) []byte {
	b = append(b, "\x1b[m"...)
	if !t.own {
		b = append(b, "\x1b7"...) // resetting margins moves the cursor
	}
	b = render.AppendModesReset(b)
	if t.changed.Load() { // else they are as the person set them
		b = render.AppendSettingsReset(b)
	}
	if t.titled {
		b = append(b, takeover.GiveTitleBack...)
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
		typed := buf[:max(n, 0)]
		if t.Hear != nil {
			typed = t.Hear(typed)
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

// Lend has the terminal be another program's while that runs, as it was before it was made raw. Nobody may read or
// draw meanwhile.
func (t *Terminal) Lend(run func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.out.WriteString("\x1b7\x1b[r\x1b8")
	if err := t.cook(); err != nil {
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

// Width returns the columns of the terminal that a stream is, or 0 if it is another stream.
func Width(w any) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	cols, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return cols
}
