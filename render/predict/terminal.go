package predict

import (
	"time"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
)

// Terminal draws guesses on a real terminal. It knows what that shows by an emulator of the same size, which reads the
// same bytes. Its methods return what is to be written to the terminal, until the next call.
type Terminal struct {
	Machine
	vt    *vterm.Terminal
	frame vterm.Frame
	over  []Cell // what is drawn over the screen now
	drawn bool
	out   []byte
}

// NewTerminal is a terminal of a size, in cells, that shows nothing yet.
func NewTerminal(cols, rows int) *Terminal {
	t := &Terminal{vt: vterm.New(vterm.Options{Cols: cols, Rows: rows, ScrollbackLines: 1})}
	t.refresh()
	return t
}

// Write takes bytes for the terminal. whole says that they end between two sequences: only there guesses are drawn.
func (t *Terminal) Write(b []byte, whole bool, now time.Time) []byte {
	t.out = t.bare(t.out[:0])
	t.out = append(t.out, b...)
	_, _ = t.vt.Write(b) // never fails
	t.refresh()
	t.Machine.Look(t, now)
	if whole {
		t.out = t.cover(t.out)
	}
	return t.out
}

// Type takes the n-th message of typing.
func (t *Terminal) Type(b []byte, n uint64, now time.Time) []byte {
	t.Machine.Typed(b, n, t, now)
	return t.again(now)
}

// Take takes notice that messages were taken.
func (t *Terminal) Take(n uint64, now time.Time) []byte {
	t.Machine.Taken(n, now)
	return t.again(now)
}

// Tick takes notice of the time (Next).
func (t *Terminal) Tick(now time.Time) []byte { return t.again(now) }

// Resize takes another size; n is the newest message of typing.
func (t *Terminal) Resize(cols, rows int, n uint64) []byte {
	out := t.Clear(n)
	t.vt.Resize(cols, rows)
	t.refresh()
	return out
}

// Clear has the terminal show what the other end does, and nothing else.
func (t *Terminal) Clear(n uint64) []byte {
	t.Machine.Reset(n)
	t.out = t.bare(t.out[:0])
	return t.out
}

func (t *Terminal) again(now time.Time) []byte {
	t.Machine.Look(t, now)
	t.out = t.out[:0]
	if _, _, _, ok := t.Drawn(); ok || t.drawn {
		t.out = t.cover(t.bare(t.out))
	}
	return t.out
}

func (t *Terminal) refresh() { t.vt.Frame(&t.frame, vterm.Query{}) }

// Cursor implements Screen.
func (t *Terminal) Cursor() (row, col int, ok bool) {
	c := &t.frame.Cursor
	return c.Row, c.Col, !c.Pending && c.Visible
}

// Cols implements Screen.
func (t *Terminal) Cols() int { return t.frame.Cols }

// Rune implements Screen.
func (t *Terminal) Rune(row, col int) rune {
	if row >= len(t.frame.Lines) || col >= len(t.frame.Lines[row].Cells) {
		return ' '
	}
	c := t.frame.Lines[row].Cells[col]
	if c.Width() != vterm.WidthNarrow {
		return 0
	}
	var buf [16]byte
	text := t.frame.AppendText(buf[:0], c)
	r, size := utf8.DecodeRune(text)
	if size != len(text) {
		return 0
	}
	return r
}

// neutral is a state in which cells can be drawn anywhere: AppendCarry has what the program had set be so again.
const neutral = "\x1b[?6l\x1b[?69l\x1b[r\x1b[4l\x1b[?7h\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1b[m"

// bare takes guesses off the terminal.
func (t *Terminal) bare(dst []byte) []byte {
	if !t.drawn {
		return dst
	}
	dst = append(dst, neutral...)
	for _, c := range t.over {
		dst = render.AppendCell(render.AppendCursor(dst, c.Row, c.Col), &t.frame, c.Row, c.Col)
	}
	t.over, t.drawn = t.over[:0], false
	return t.home(dst, t.frame.Cursor.Row, t.frame.Cursor.Col)
}

// cover draws guesses, underlined.
func (t *Terminal) cover(dst []byte) []byte {
	cells, row, col, ok := t.Drawn()
	if _, _, plain := t.Cursor(); !ok || !plain {
		return dst
	}
	dst = append(dst, neutral...)
	for _, c := range cells {
		dst = render.AppendCursor(dst, c.Row, c.Col)
		if c.Erased {
			dst = append(dst, "\x1b[X"...)
			continue
		}
		dst = append(utf8.AppendRune(append(dst, "\x1b[4m"...), c.Rune), "\x1b[m"...)
	}
	t.over, t.drawn = append(t.over[:0], cells...), true
	return render.AppendCursor(dst, row, col)
}

// home is the cursor, and all else that output relies on.
func (t *Terminal) home(dst []byte, row, col int) []byte {
	return t.vt.AppendCarry(render.AppendCursor(dst, row, col))
}
