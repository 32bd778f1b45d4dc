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

// ahead is what a pane draws of what was typed before its echo comes: over the session's screen, which stays as it is.
type ahead struct {
	predict.Machine
	newest   uint64 // message of typing
	cells    []predict.Cell
	row, col int // the cursor, where on
	on       bool
	armed    bool // a timer runs that looks again
}

// Predict says when what is typed is drawn before its echo comes: always, never, else where the link is slow.
func (s *Set) Predict(when string) { s.predict = when }

// typed takes the n-th message of typing.
func (p *Pane) typed(in Input, n uint64) {
	a := &p.ahead
	a.Always = p.set.predict == "always"
	if p.set.predict == "never" || n != a.newest+1 { // some were typed while there was no connection
		a.Reset(n)
	} else {
		a.Typed(in.bytes(&p.modes), n, underneath{&p.screen}, p.set.host.Now())
	}
	a.newest = n
	p.guess()
}

// bytes are what the program gets, as far as is known here: its modes may be others there.
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

// takeNotice takes what a frame says of typing, its screen being shown already.
func (p *Pane) takeNotice(f Frame, resized bool) {
	a := &p.ahead
	if f.Anew {
		p.sendOuter()
	}
	if a.newest == 0 {
		return
	}
	if f.Anew || f.Held || resized {
		a.Reset(a.newest)
	}
	if f.Taken > 0 {
		a.Taken(f.Taken, p.set.host.Now())
	}
	p.guess()
}

// guess has drawn what is guessed now, and looks again when that can be wrong.
func (p *Pane) guess() {
	a, now := &p.ahead, p.set.host.Now()
	a.Look(underneath{&p.screen}, now)
	cells, row, col, on := a.Drawn()
	if !slices.Equal(cells, a.cells) {
		p.markCells(a.cells)
		p.markCells(cells)
	}
	a.cells, a.row, a.col, a.on = cells, row, col, on
	if at := a.Next(); !at.IsZero() && !a.armed {
		a.armed = true
		p.set.host.After(max(at.Sub(now), time.Millisecond), func() {
			a.armed = false
			p.guess()
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

// drawAhead draws what is guessed of a row of the screen, underlined.
func (p *Pane) drawAhead(c *canvas.Canvas, at layout.Rect, row int) {
	look := canvas.Plain.Reverse(p.modes.ReverseVideo)
	for _, cell := range p.ahead.cells {
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

// cursor is the session's, where it is thought to be.
func (p *Pane) cursor() render.Cursor {
	own := p.screen.Cursor
	if p.ahead.on {
		own.X, own.Y = p.ahead.col, p.ahead.row
	}
	return own
}

// underneath is a session's screen as guesses are compared with it.
type underneath struct{ *render.Screen }

// Cursor implements predict.Screen. In the last column it may be before or behind what stands there.
func (u underneath) Cursor() (row, col int, ok bool) {
	c := &u.Screen.Cursor
	return c.Y, c.X, c.Visible && c.X < u.Screen.Cols-1
}

// Cols implements predict.Screen.
func (u underneath) Cols() int { return u.Screen.Cols }

// Rune implements predict.Screen.
func (u underneath) Rune(row, col int) (found rune) {
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
