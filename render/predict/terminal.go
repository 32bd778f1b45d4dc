package predict

import (
	"slices"
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

// Write processes bytes for the terminal.
func (t *Terminal) Write(b []byte, now time.Time) []byte {
	t.out = append(t.erasePredictions(t.out[:0]), b...)
	_, _ = t.vt.Write(b) // never fails
	t.refresh()
	t.Machine.Compare(t, now)
	t.out = t.drawPredictions(t.out)
	return t.out
}

// Type predicts the effect of input message n.
func (t *Terminal) Type(b []byte, n uint64, now time.Time) []byte {
	t.Machine.AddInput(b, n, t, now)
	return t.redraw(now)
}

// HandleAck handles the acknowledgement of all messages up to n.
func (t *Terminal) HandleAck(n uint64, now time.Time) []byte {
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

func (t *Terminal) redraw(now time.Time) []byte {
	t.Machine.Compare(t, now)
	t.out = t.out[:0]
	if _, _, _, ok := t.Overlay(); ok || t.drawn {
		t.out = t.drawPredictions(t.erasePredictions(t.out))
	}
	return t.out
}

func (t *Terminal) refresh() { t.vt.Frame(&t.frame, vterm.Query{}) }

// Cursor implements Screen. No prediction is made or drawn in a state that erasePredictions could not restore.
func (t *Terminal) Cursor() (row, col int, ok bool) {
	c := &t.frame.Cursor
	return c.Row, c.Col, c.Visible && t.vt.CanDrawOver()
}

// Cols implements Screen.
func (t *Terminal) Cols() int { return t.frame.Cols }

// Rune implements Screen. It returns 0 too for a cell that erasePredictions could not restore.
func (t *Terminal) Rune(row, col int) rune {
	if row >= len(t.frame.Lines) {
		return ' '
	}
	l := &t.frame.Lines[row]
	if l.Size != vterm.LineNormal {
		return 0
	}
	if col >= len(l.Cells) {
		return ' '
	}
	c := l.Cells[col]
	st := t.frame.Style(c)
	switch {
	case c.Width() != vterm.WidthNarrow || c&(vterm.CellCluster|vterm.CellProtected|vterm.CellImage) != 0 || st.Link != 0:
		return 0
	case !c.Blank() && c.Rune() < maxNarrow:
		return c.Rune()
	case c.Blank() && st == vterm.Style{BG: st.BG}: // as ECH leaves it
		return ' '
	}
	return 0
}

// maxNarrow is the first code point of scripts whose widths depend on modes or neighbours.
const maxNarrow = 0x1100

// erasePredictions appends sequences that remove the predictions from the terminal.
func (t *Terminal) erasePredictions(dst []byte) []byte {
	if !t.drawn {
		return dst
	}
	dst = append(dst, "\x1b[m"...)
	for _, c := range t.overlay {
		dst = render.AppendCell(render.AppendCursor(dst, c.Row, c.Col), &t.frame, c.Row, c.Col)
	}
	t.overlay, t.drawn = t.overlay[:0], false
	return t.vt.AppendEndDrawing(dst)
}

// drawPredictions appends the predictions, underlined.
func (t *Terminal) drawPredictions(dst []byte) []byte {
	cells, row, col, ok := t.Overlay()
	if _, _, canDraw := t.Cursor(); !ok || !canDraw || slices.ContainsFunc(cells, t.isFixed) {
		return dst
	}
	dst = append(dst, "\x1b[m"...)
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

// isFixed reports whether a cell cannot be drawn over: erasePredictions could not restore it, or it was removed since the
// prediction.
func (t *Terminal) isFixed(c Cell) bool {
	return c.Row >= t.frame.Rows || c.Col >= t.frame.Cols-1 || t.Rune(c.Row, c.Col) == 0
}
