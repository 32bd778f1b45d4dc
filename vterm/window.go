package vterm

import (
	"strings"

	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// windowOps implements XTWINOPS. Operations that need a window are only reported to the owner.
func (t *Terminal) windowOps(s *parse.Seq) {
	switch op := s.Param(0, 0); op {
	case 8:
		t.resizeTo(s.Param(1, -1), s.Param(2, -1))
	case 11:
		t.replyCSI("1t")
	case 13:
		t.replyCSI("3;0;0t")
	case 14:
		t.replyCSI("4;%d;%dt", t.rows*t.opts.CellHeight, t.cols*t.opts.CellWidth)
	case 15:
		t.replyCSI("5;%d;%dt", t.rows*t.opts.CellHeight, t.cols*t.opts.CellWidth)
	case 16:
		t.replyCSI("6;%d;%dt", t.opts.CellHeight, t.opts.CellWidth)
	case 18:
		t.replyCSI("8;%d;%dt", t.rows, t.cols)
	case 19:
		t.replyCSI("9;%d;%dt", t.rows, t.cols)
	case 20:
		t.reportTitle('L', t.title.icon)
	case 21:
		t.reportTitle('l', t.title.window)
	case 22:
		t.title.push(s.Param(1, 0))
	case 23:
		t.popTitle(s.Param(1, 0))
	case 1, 2, 3, 4, 5, 6, 7, 9, 10:
		t.emit(Event{Kind: EventWindow, Num: op})
	default:
		if op >= 24 {
			t.resizeTo(op, -1)
		}
	}
}

// oscPointer sets the shape of the mouse pointer: OSC 22 ; shape. Queries and the stack of kitty's protocol ("?", "<", ">") are ignored.
func (t *Terminal) oscPointer(_ int, name string) {
	name = strings.TrimPrefix(name, "=")
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" && len(name) <= pointerMax {
		t.pointer = name
	}
}

// pointerMax bounds the name of a shape of the mouse pointer, in bytes.
const pointerMax = 64

// resizeTo handles a request for a size in cells. -1 keeps a side, and 0 requests that of the whole display, which
// equals the current one here.
func (t *Terminal) resizeTo(rows, cols int) {
	if rows <= 0 {
		rows = t.rows
	}
	if cols <= 0 {
		cols = t.cols
	}
	t.requestSize(cols, rows)
}

// requestedCellsMax limits the screen size that a program can request: a few bytes of output can write every cell.
const requestedCellsMax = 1 << 18

// requestSize changes the size and reports it to the owner, which may undo it. With Options.FixedSize, or for a very
// large size, it only reports the request.
func (t *Terminal) requestSize(cols, rows int) {
	cols, rows = min(cols, MaxCols), min(rows, MaxRows)
	t.emit(Event{Kind: EventResize, Num: cols<<16 | rows})
	if !t.opts.FixedSize && cols*rows <= requestedCellsMax {
		t.resize(cols, rows)
	}
}

// columnsPerPage implements DECSCPP: 80 or 132 columns.
func (t *Terminal) columnsPerPage(s *parse.Seq) {
	switch n := s.Param(0, 0); n {
	case 0, 80:
		t.requestSize(80, t.rows)
	case 132:
		t.requestSize(132, t.rows)
	}
}

// linesPerScreen implements DECSNLS.
func (t *Terminal) linesPerScreen(s *parse.Seq) {
	if n := s.Param(0, 0); n >= 1 && n <= 255 {
		t.requestSize(t.cols, n)
	}
}

// SetLightScheme sets the colour scheme of the surrounding terminal and reports it to programs that enabled mode 2031.
func (t *Terminal) SetLightScheme(light bool) {
	if t.opts.LightScheme == light {
		return
	}
	t.opts.LightScheme = light
	if t.modes&modeScheme != 0 {
		t.replyCSI("?997;%dn", t.scheme())
	}
}

// SetCellSize changes the pixel size of a cell as reported to programs.
func (t *Terminal) SetCellSize(width, height int) {
	if width <= 0 || height <= 0 || width == t.opts.CellWidth && height == t.opts.CellHeight {
		return
	}
	t.opts.CellWidth, t.opts.CellHeight = width, height
	if t.modes&modeInBandResize != 0 {
		t.reportSize()
	}
}
