package panes

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/predict"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// localEcho draws typed text over a session's screen until its echo arrives. The screen itself stays unchanged.
type localEcho struct {
	predict.Machine
	newest   uint64         // number of the newest input message
	cells    []predict.Cell // cells drawn over the screen
	row, col int            // predicted cursor, if on is set
	on       bool           // predictions are drawn
	armed    bool           // a timer for the next check runs
}

// SetLocalEcho sets when typed text is drawn before its echo arrives: always, never, or on slow links (default).
func (s *Set) SetLocalEcho(when string) { s.predict = when }

// noteInput predicts the effect of input message n.
func (p *Pane) noteInput(in Input, n uint64) {
	a := &p.echo
	a.Always = p.set.predict == "always"
	if p.set.predict == "never" || n != a.newest+1 { // some were typed while there was no connection
		a.Reset(n)
	} else {
		a.AddInput(in.bytes(&p.modes), n, confirmedScreen{&p.screen}, p.set.host.Now())
	}
	a.newest = n
	p.updateEcho()
}

// bytes returns the bytes that the program receives, as far as known here: its modes may have changed since.
func (in *Input) bytes(m *vterm.Modes) []byte {
	switch {
	case in.Key != nil:
		return input.AppendKey(nil, *in.Key, m)
	case in.Mouse != nil:
		return input.AppendMouse(nil, *in.Mouse, m)
	case in.Paste != nil:
		return input.AppendPaste(nil, []byte(*in.Paste), m)
	case in.Focus != nil:
		return input.AppendFocus(nil, *in.Focus, m)
	}
	return nil
}

// confirmEcho handles a frame's acknowledgement of input, after its screen was applied.
func (p *Pane) confirmEcho(f Frame, resized bool) {
	a := &p.echo
	if f.Reconnecting {
		p.sendOuter()
	}
	if a.newest == 0 {
		return
	}
	if f.Reconnecting || f.InputRejected || resized {
		a.Reset(a.newest)
	}
	if f.Acked > 0 {
		a.Acknowledge(f.Acked, p.set.host.Now())
	}
	p.updateEcho()
}

// updateEcho draws the current predictions and schedules the next check.
func (p *Pane) updateEcho() {
	a, now := &p.echo, p.set.host.Now()
	a.Compare(confirmedScreen{&p.screen}, now)
	cells, row, col, on := a.Overlay()
	if !slices.Equal(cells, a.cells) {
		p.markCells(a.cells)
		p.markCells(cells)
	}
	a.cells, a.row, a.col, a.on = cells, row, col, on
	if at := a.Next(); !at.IsZero() && !a.armed {
		a.armed = true
		p.set.host.After(max(at.Sub(now), time.Millisecond), func() {
			a.armed = false
			p.updateEcho()
		})
	}
}

func (p *Pane) markCells(cells []predict.Cell) {
	for _, c := range cells {
		if i := c.Row - p.top; i >= 0 && i < len(p.dirty) {
			p.dirty[i] = true
		}
	}
}

// drawEcho draws the predictions in a row of the screen, underlined.
func (p *Pane) drawEcho(c *canvas.Canvas, at layout.Rect, row int) {
	look := canvas.Plain.Reverse(p.modes.ReverseVideo)
	for _, cell := range p.echo.cells {
		x := cell.Col - p.left
		switch {
		case cell.Row != row || x < 0 || x >= at.W:
		case cell.Erased:
			c.Put(at.X+x, at.Y, 1, " ", look)
		default:
			c.Put(at.X+x, at.Y, 1, string(cell.Rune), look.Underline(true))
		}
	}
}

// cursor returns the session's cursor at its predicted position.
func (p *Pane) cursor() render.Cursor {
	own := p.screen.Cursor
	if p.echo.on {
		own.X, own.Y = p.echo.col, p.echo.row
	}
	return own
}

// confirmedScreen is the session's screen, with which predictions are compared.
type confirmedScreen struct{ *render.Screen }

// Cursor implements predict.Screen. In the last column the cursor may be before or after the character.
func (u confirmedScreen) Cursor() (row, col int, ok bool) {
	c := &u.Screen.Cursor
	return c.Y, c.X, c.Visible && c.X < u.Screen.Cols-1
}

// Cols implements predict.Screen.
func (u confirmedScreen) Cols() int { return u.Screen.Cols }

// Rune implements predict.Screen.
func (u confirmedScreen) Rune(row, col int) (found rune) {
	if row < 0 || row >= len(u.Lines) {
		return ' '
	}
	for i := range u.Lines[row].Spans {
		s := &u.Lines[row].Spans[i]
		if col < s.Col || col >= s.Col+s.Width {
			continue
		}
		if s.Image != nil || s.Lost {
			return 0
		}
		found = ' '
		s.Characters(func(text string, at, width int) bool {
			if at > col {
				return false
			}
			if col < at+width {
				r, size := utf8.DecodeRuneInString(text)
				if found = r; width != 1 || size != len(text) {
					found = 0
				}
			}
			return true
		})
		return found
	}
	return ' '
}
