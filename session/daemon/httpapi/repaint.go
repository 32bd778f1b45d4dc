//go:build unix

package httpapi

import (
	"bytes"
	"context"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/vterm"
)

// primeBytes is how much output before a drawing is scanned for incomplete sequences.
const primeBytes = 32 << 10

// repaint draws the whole screen and records its offset.
func (a *attached) repaint(ctx context.Context) error {
	var modes vterm.Modes
	var carry, settings, keyStack []byte
	var past, above []vterm.Line
	set := a.srv.redactorFor(ctx)
	var at uint64
	a.frame = vterm.Frame{}
	// The emulator may be behind the sent output: a drawing of that state would repeat the later lines.
	err := a.e.Session.WithScreenAt(ctx, a.offset, func(v session.View) {
		modes, at = v.Modes, v.Offset
		if a.history > 0 {
			h, before := v.Engine.Recent(a.history+redact.ContextLines), 0
			above, before, _ = redact.LinesAround(h, max(0, h.Len()-a.history), h.Len())
			past = above[before:]
		} else if !set.Empty() {
			above = redact.LinesAbove(v.Engine)
		}
		v.Engine.Frame(&a.frame, vterm.Query{}) // after the lines, with what they refer to
		if c, ok := v.Engine.(outputStateEngine); ok {
			carry, settings, keyStack = c.AppendOutputState(nil), c.AppendSettings(nil), c.AppendKeyStack(nil, modes.AltScreen)
		}
	})
	if err != nil {
		return err
	}
	if !set.Empty() {
		set.RedactFrame(&a.frame, above)
		carry = nil // it may be the beginning of one
	}
	a.drawn = attach.Control{Cols: a.frame.Cols, Rows: a.frame.Rows}
	fits := a.cols == 0 || a.cols == a.drawn.Cols && a.rows == a.drawn.Rows
	if !fits {
		crop(&a.frame, a.cols, a.rows)
	}
	// The drawing would cover lines that a scrolling terminal keeps, so they are printed first.
	if a.inSync && fits && !a.filter.Contain {
		if _, err := a.sendOutput(at); err != nil {
			return err
		}
	}
	a.offset, a.inSync = at, fits
	if err := a.sendInfo(false); err != nil {
		return err
	}
	a.out = append(a.out[:0], endString...)
	if a.history > 0 {
		a.out = a.appendScrollback(a.out, past)
		a.history = 0
	}
	if a.settings != "" && a.settings != string(settings) { // it may have some that are unset now
		a.out = render.AppendSettingsReset(a.out)
	}
	a.settings = string(settings)
	a.out = append(a.out, settings...)
	if a.frame.Title == "" && a.titled { // restores the title from before the session, and saves it again
		a.out = append(a.out, "\x1b[23;0t\x1b[22;0t"...)
	}
	a.titled = a.frame.Title != ""
	a.out = render.AppendAttachedModes(a.out, &modes, a.filter.Contain)
	a.out = append(a.out, keyStack...)
	n := len(a.out)
	a.out = render.AppendANSI(a.out, &a.frame, render.ANSIOptions{Repaint: true, Exact: fits})
	if a.painted && !a.filter.Contain {
		a.out = append(a.out[:n], bytes.Replace(a.out[n:], clearScreen, clearRows(a.rows), 1)...)
	}
	a.painted = true
	if fits { // raw output follows
		a.out = append(a.out, carry...)
		a.out = append(a.out, a.filter.Prime(a.outputBefore())...)
	}
	return a.send(websocket.BinaryMessage, a.out)
}

// appendScrollback prints past lines and scrolls them and the terminal's earlier contents off, because the drawing clears the
// screen.
func (a *attached) appendScrollback(dst []byte, past []vterm.Line) []byte {
	f := a.frame
	f.Lines = past
	text := render.AppendANSI(nil, &f, render.ANSIOptions{})
	dst = append(dst, '\r')
	dst = append(dst, bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))...)
	return append(dst, bytes.Repeat([]byte("\n"), max(0, a.rows-1))...)
}

// endString is ST: a daemon before this one may have been killed within a string.
const endString = "\x1b\\"

// clearScreen starts a drawing. It erases rows, because some terminals move the text of a cleared screen into their
// history, where it would appear twice.
var clearScreen = []byte("\x1b[H\x1b[2J")

// clearRows returns the sequence that erases the screen row by row.
func clearRows(rows int) []byte {
	var b []byte
	for row := range rows {
		b = append(render.AppendCursor(b, row, 0), "\x1b[2K"...)
	}
	return append(b, "\x1b[H"...)
}

// outputStateEngine is an engine that can restore the state, apart from the screen, that affects later output.
type outputStateEngine interface {
	AppendOutputState(dst []byte) []byte
	render.Settings
}

// outputBefore returns the kept output before the offset, at most primeBytes.
func (a *attached) outputBefore() []byte {
	start, _ := a.e.Session.OutputRange()
	from := max(start, a.offset-min(a.offset, primeBytes))
	var all []byte
	for from < a.offset {
		c, err := a.e.Session.Output(from, a.buf)
		if err == nil {
			err = a.srv.maskChunk(a.ctx, a.e, c)
		}
		if err != nil || c.Next <= from {
			return nil // unknown: assume that no sequence is incomplete
		}
		if c.Gap > 0 {
			all = nil
		}
		all = append(all, c.Data...)
		from = c.Next
	}
	return all[:len(all)-int(min(from-a.offset, uint64(len(all))))]
}

// crop cuts a frame to the part that fits a smaller terminal: its beginning, or as far on as the cursor is, if that is
// shown.
func crop(f *vterm.Frame, cols, rows int) {
	top, left := 0, 0
	if f.Cursor.Visible {
		top, left = max(0, f.Cursor.Row-rows+1), max(0, f.Cursor.Col-cols+1)
	}
	n := 0
	for _, l := range f.Lines {
		if l.Row -= top; l.Row < 0 {
			continue
		}
		if l.Row >= rows {
			break
		}
		l.Cells = cropCells(l.Cells, left, cols)
		f.Lines[n] = l
		n++
	}
	f.Lines = f.Lines[:n]
	f.Cols, f.Rows = min(f.Cols, cols), min(f.Rows, rows)
	f.Cursor.Row, f.Cursor.Col = min(f.Cursor.Row-top, rows-1), min(f.Cursor.Col-left, cols-1)
}

// cropCells returns cols cells starting at from, without halves of wide characters.
func cropCells(cells []vterm.Cell, from, cols int) []vterm.Cell {
	cells = cells[min(from, len(cells)):]
	if from > 0 && len(cells) > 0 && cells[0].Width() == vterm.WidthTail {
		cells[0] = vterm.NewCell(0, vterm.WidthNarrow, cells[0].Style(), 0)
	}
	if len(cells) > cols {
		cells = cells[:cols:cols]
		if last := cells[cols-1]; last.Width() == vterm.WidthWide {
			cells[cols-1] = vterm.NewCell(0, vterm.WidthNarrow, last.Style(), 0)
		}
	}
	return cells
}
