package predict

import (
	"time"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
)

// Terminal draws predictions on a real terminal. An emulator of the same size reads the same bytes and holds the
// confirmed screen. The methods return the bytes to write to the terminal, valid until the next call.
type Terminal struct {
	Machine
	vt      *vterm.Terminal
	frame   vterm.Frame
	overlay []Cell // cells currently drawn over the screen
	drawn   bool   // predictions are drawn
	out     []byte
}

// NewTerminal returns an empty terminal of a size, in cells.
func NewTerminal(cols, rows int) *Terminal {
	t := &Terminal{vt: vterm.New(vterm.Options{Cols: cols, Rows: rows, ScrollbackLines: 1})}
	t.refresh()
	return t
}

// Write processes bytes for the terminal. whole reports that they end between two sequences; predictions are drawn only
// there.
func (t *Terminal) Write(b []byte, whole bool, now time.Time) []byte {
	isDrawn := t.drawn
	t.out = t.erasePredictions(t.out[:0])
	if isDrawn && len(b) > 0 && (b[0] == 0x1b || b[0] == 0xc2) { // REP may follow
		t.out = t.reprint(t.out)
	}
	t.out = append(t.out, b...)
	_, _ = t.vt.Write(b) // never fails
	t.refresh()
	t.Machine.Compare(t, now)
	if whole {
		t.out = t.drawPredictions(t.out)
	}
	return t.out
}

// Type predicts the effect of input message n.
func (t *Terminal) Type(b []byte, n uint64, now time.Time) []byte {
	t.Machine.AddInput(b, n, t, now)
	return t.redraw(now)
}

// Acknowledged handles the acknowledgement of all messages up to n.
func (t *Terminal) Acknowledged(n uint64, now time.Time) []byte {
	t.Machine.Acknowledge(n, now)
	return t.redraw(now)
}

// Tick updates the predictions at the time returned by Next.
func (t *Terminal) Tick(now time.Time) []byte { return t.redraw(now) }

// Resize changes the size; n is the newest input message.
func (t *Terminal) Resize(cols, rows int, n uint64) []byte {
	out := t.Clear(n)
	t.vt.Resize(cols, rows)
	t.refresh()
	return out
}

// Clear removes all predictions from the terminal.
func (t *Terminal) Clear(n uint64) []byte {
	t.Machine.Reset(n)
	t.out = t.erasePredictions(t.out[:0])
	return t.out
}

// reprint appends the character before the cursor again, so that a REP that follows repeats it.
func (t *Terminal) reprint(dst []byte) []byte {
	c := &t.frame.Cursor
	r := t.vt.RepeatableRune()
	if r == 0 || c.Col == 0 || t.Rune(c.Row, c.Col-1) == 0 {
		return dst
	}
	return utf8.AppendRune(append(dst, '\b'), r)
}

func (t *Terminal) redraw(now time.Time) []byte {
	t.Machine.Compare(t, now)
	t.out = t.out[:0]
	if _, _, _, ok := t.Drawn(); ok || t.drawn {
		t.out = t.drawPredictions(t.erasePredictions(t.out))
	}
	return t.out
}

func (t *Terminal) refresh() { t.vt.Frame(&t.frame, vterm.Query{}) }

// Cursor implements Screen. No prediction is made in a state that erasePredictions could not restore.
func (t *Terminal) Cursor() (row, col int, ok bool) {
	c := &t.frame.Cursor
	return c.Row, c.Col, !c.Pending && c.Visible && t.vt.CanRestoreOutputState()
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

// neutral resets modes so that cells can be drawn anywhere. AppendOutputState restores the program's settings
// afterwards.
const neutral = "\x1b[?6l\x1b[?69l\x1b[r\x1b[4l\x1b[?7h\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1b[m"

// erasePredictions appends sequences that remove the predictions from the terminal.
func (t *Terminal) erasePredictions(dst []byte) []byte {
	if !t.drawn {
		return dst
	}
	dst = append(dst, neutral...)
	for _, c := range t.overlay {
		dst = render.AppendCell(render.AppendCursor(dst, c.Row, c.Col), &t.frame, c.Row, c.Col)
	}
	t.overlay, t.drawn = t.overlay[:0], false
	return t.restoreCursor(dst, t.frame.Cursor.Row, t.frame.Cursor.Col)
}

// drawPredictions appends the predictions, underlined.
func (t *Terminal) drawPredictions(dst []byte) []byte {
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
	t.overlay, t.drawn = append(t.overlay[:0], cells...), true
	return render.AppendCursor(dst, row, col)
}

// restoreCursor appends the program's cursor and all other state that its output relies on.
func (t *Terminal) restoreCursor(dst []byte, row, col int) []byte {
	return t.vt.AppendOutputState(render.AppendCursor(dst, row, col))
}
