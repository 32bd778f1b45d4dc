package vterm

import (
	"slices"

	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// titles are window title and icon label with their stack (CSI 22/23 t).
type titles struct {
	window, icon string
	stack        [][2]string // icon, window
	// modes of XTSMTITLE: set and query titles in hex. UTF-8 modes are always on.
	setHex, queryHex bool
}

const (
	titleMax      = 4096 // bytes
	titleStackMax = 10   // as in xterm
)

// windowOps is XTWINOPS. What needs a window is only told to the owner.
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
		t.pushTitle(s.Param(1, 0))
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

// resizeTo is a request for a size in cells, where -1 keeps one side and 0 asks for that
// of the whole display, which is the present one here.
func (t *Terminal) resizeTo(rows, cols int) {
	if rows <= 0 {
		rows = t.rows
	}
	if cols <= 0 {
		cols = t.cols
	}
	t.requestSize(cols, rows)
}

// requestedCellsMax bounds the screen that a program can ask for: a few bytes of output
// can have every cell written.
const requestedCellsMax = 1 << 18

// requestSize changes the size as the program asked and tells the owner, who may undo
// it. With Options.FixedSize, and when it would be very large, it is only told.
func (t *Terminal) requestSize(cols, rows int) {
	cols, rows = min(cols, MaxCols), min(rows, MaxRows)
	t.emit(Event{Kind: EventResize, Num: cols<<16 | rows})
	if !t.opts.FixedSize && cols*rows <= requestedCellsMax {
		t.resize(cols, rows)
	}
}

// reportTitle echoes what output chose, so it is off unless Options.ReportTitle is set.
func (t *Terminal) reportTitle(kind byte, s string) {
	if !t.opts.ReportTitle {
		s = ""
	} else if t.title.queryHex {
		s = toHex(s)
	}
	t.reply(']', string(kind)+s+t.terminator())
}

// pushTitle is CSI 22 ; which t: 0 both, 1 icon label, 2 window title.
func (t *Terminal) pushTitle(which int) {
	if which > 2 {
		return
	}
	if len(t.title.stack) == titleStackMax {
		t.title.stack = slices.Delete(t.title.stack, 0, 1)
	}
	t.title.stack = append(t.title.stack, [2]string{t.title.icon, t.title.window})
}

// popTitle is CSI 23 ; which t.
func (t *Terminal) popTitle(which int) {
	n := len(t.title.stack)
	if n == 0 || which > 2 {
		return
	}
	top := t.title.stack[n-1]
	t.title.stack = t.title.stack[:n-1]
	if which != 2 {
		t.setIcon(top[0])
	}
	if which != 1 {
		t.setTitle(top[1])
	}
}

func (t *Terminal) setTitle(s string) {
	t.title.window = s
	t.emit(Event{Kind: EventTitle, Text: s})
}

func (t *Terminal) setIcon(s string) {
	t.title.icon = s
	t.emit(Event{Kind: EventIconLabel, Text: s})
}

func (t *Terminal) titleModesOn(s *parse.Seq)  { t.titleModes(s, true) }
func (t *Terminal) titleModesOff(s *parse.Seq) { t.titleModes(s, false) }

// titleModes is XTSMTITLE and XTRMTITLE.
func (t *Terminal) titleModes(s *parse.Seq, on bool) {
	if s.N == 0 {
		t.title.setHex, t.title.queryHex = false, false
	}
	for i := range s.N {
		switch s.Param(i, -1) {
		case 0:
			t.title.setHex = on
		case 1:
			t.title.queryHex = on
		}
	}
}

// columnsPerPage is DECSCPP: 80 or 132 columns.
func (t *Terminal) columnsPerPage(s *parse.Seq) {
	switch n := s.Param(0, 0); n {
	case 0, 80:
		t.requestSize(80, t.rows)
	case 132:
		t.requestSize(132, t.rows)
	}
}

// linesPerScreen is DECSNLS.
func (t *Terminal) linesPerScreen(s *parse.Seq) {
	if n := s.Param(0, 0); n >= 1 && n <= 255 {
		t.requestSize(t.cols, n)
	}
}
