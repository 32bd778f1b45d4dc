package vterm

import (
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/vterm/internal/color"

	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// repliesMax limits the queued answers, in bytes: a program that sends queries without end and never reads gets no
// further answers.
const repliesMax = 1 << 20

// replyQueue holds the answers to be typed into the program.
type replyQueue struct {
	replies []byte
	bit8    bool // S8C1T: with 8-bit C1 controls
	bell    bool // the query being answered by replyOSC ended in BEL
}

// reply queues a reply to the program, in one of the forms of internal/replyform: output determines only numbers in it. c1
// is the second byte of the 7-bit form of its C1 control, which is sent as S7C1T or S8C1T selected.
func (a *replyQueue) reply(c1 byte, body string) {
	if len(a.replies)+len(body) > repliesMax {
		return
	}
	if a.bit8 {
		a.replies = append(a.replies, c1+0x40)
	} else {
		a.replies = append(a.replies, 0x1b, c1)
	}
	a.replies = append(a.replies, body...)
}

func (a *replyQueue) replyCSI(format string, args ...any) {
	a.reply('[', fmt.Sprintf(format, args...))
}

// replyDCS answers with a device control string.
func (a *replyQueue) replyDCS(format string, args ...any) {
	a.reply('P', fmt.Sprintf(format, args...)+a.terminator())
}

// replyOSC answers a query with the terminator that the query had.
func (a *replyQueue) replyOSC(format string, args ...any) {
	end := a.terminator()
	if a.bell {
		end = "\a"
	}
	a.reply(']', fmt.Sprintf(format, args...)+end)
}

// terminator returns BEL or ST, as the query had.
func (a *replyQueue) terminator() string {
	if a.bit8 {
		return "\x9c"
	}
	return "\x1b\\"
}

// versionName is the answer to XTVERSION.
const versionName = "longterm(1)"

// xtermPatch is the xterm patch level that DA2 reports.
const xtermPatch = 398

// primaryAttributes implements DA1: the level, then 132 columns, printer, sixel, selective erase, national sets,
// technical set, locator, state reports, windows, horizontal scrolling, colour, rectangles, text locator.
func (t *Terminal) primaryAttributes(s *parse.Seq) {
	if s.Param(0, 0) != 0 {
		return
	}
	if t.conform.level == 1 {
		t.replyCSI("?1;2c")
		return
	}
	t.replyCSI("?%d;1;2;4;6;9;15;16;17;18;21;22;28;29c", 60+t.conform.level)
}

func (t *Terminal) secondaryAttributes(s *parse.Seq) {
	if s.Param(0, 0) == 0 {
		t.replyCSI(">%d;%d;0c", [...]int{0, 0, 1, 24, 41, 64}[t.conform.level], xtermPatch)
	}
}

// tertiaryAttributes implements DA3: the unit id, zero as in xterm.
func (a *replyQueue) tertiaryAttributes(s *parse.Seq) {
	if s.Param(0, 0) == 0 {
		a.replyDCS("!|00000000")
	}
}

func (a *replyQueue) reportVersion(s *parse.Seq) {
	if s.Param(0, 0) == 0 {
		a.replyDCS(">|%s", versionName)
	}
}

// statusReport implements DSR.
func (t *Terminal) statusReport(s *parse.Seq) {
	switch s.Param(0, 0) {
	case 5:
		t.replyCSI("0n")
	case 6:
		row, col := t.fromOrigin()
		t.replyCSI("%d;%dR", row+1, col+1)
	}
}

// privateStatusReport implements DSR with DEC's and xterm's private numbers. It reports missing devices as absent.
func (t *Terminal) privateStatusReport(s *parse.Seq) {
	switch s.Param(0, 0) {
	case 6:
		row, col := t.fromOrigin()
		t.replyCSI("?%d;%d;1R", row+1, col+1)
	case 15:
		t.replyCSI("?13n")
	case 25:
		t.replyCSI("?20n")
	case 26:
		t.replyCSI("?27;1;0;0n")
	case 53, 55:
		t.replyCSI("?50n")
	case 56:
		t.replyCSI("?57;0n")
	case 62:
		t.replyCSI("0000*{")
	case 63:
		t.replyDCS("%d!~0000", s.Param(1, 0))
	case 75:
		t.replyCSI("?70n")
	case 85:
		t.replyCSI("?83n")
	case 996:
		t.replyCSI("?997;%dn", t.scheme())
	}
}

// scheme returns the colour scheme: 1 dark, 2 light.
func (t *Terminal) scheme() int { return 1 + boolInt(t.opts.LightScheme) }

// terminalParameters implements DECREQTPARM.
func (a *replyQueue) terminalParameters(s *parse.Seq) {
	if p := s.Param(0, 0); p <= 1 {
		a.replyCSI("%d;1;1;128;128;1;0x", p+2)
	}
}

// setLevel implements DECSCL: it sets the level and C1 form after a soft reset, as in DEC STD 070 and xterm (the
// manuals of the VT300 and later specify a hard one).
func (t *Terminal) setLevel(s *parse.Seq) {
	level := s.Param(0, 0) - 60
	if level < 1 || level > levelMax {
		return
	}
	t.softReset()
	t.conform.level = level
	t.bit8 = level > 1 && s.Param(1, 0) != 1 && s.N > 1
}

// cursorShape implements DECSCUSR: odd values blink.
func (p *page) cursorShape(s *parse.Seq) {
	n := s.Param(0, 1)
	if n > 6 {
		return
	}
	p.shape.chosen = n > 0
	n = max(n, 1)
	p.shape.shape = CursorShape((n - 1) / 2)
	p.setMode(modeCursorBlink, n%2 == 1)
}

// shapeNumber returns the parameter of DECSCUSR for the current shape.
func (p *page) shapeNumber() int {
	return 2*int(p.shape.shape) + 2 - boolInt(p.modes&modeCursorBlink != 0)
}

// repeat implements REP: it repeats the character printed immediately before, up to a screenful. After a control
// function it does nothing (ECMA-48 leaves it open; xterm, VTE and tmux agree).
func (t *Terminal) repeat(s *parse.Seq) {
	if t.before == 0 || t.lastRune == 0 {
		return
	}
	r := t.lastRune
	for range min(s.Count(0), t.cols*t.rows) {
		t.join = 0
		if t.penStale {
			t.freshenPen()
		}
		t.print(r)
	}
	t.join = 0
}

// Outer describes the terminal in which this one is shown, for answers to programs. Empty fields report defaults.
// Snapshots do not contain it.
type Outer struct {
	// Colours as X11 specifies them (rgb:rrrr/gggg/bbbb).
	Foreground string `json:"fg,omitempty"`
	Background string `json:"bg,omitempty"`
	// Scheme is dark or light.
	Scheme string `json:"scheme,omitempty"`
	// Keys is "none" if the terminal has no kitty keyboard protocol, "press" if it reports neither releases of keys nor their
	// alternates, "all" if it does.
	Keys string `json:"keys,omitempty"`
	// Size of a cell in pixels.
	CellWidth  int `json:"cell_width,omitempty"`
	CellHeight int `json:"cell_height,omitempty"`
}

// Values of Outer.
const (
	SchemeDark, SchemeLight = "dark", "light"
	KeysNone                = "none"
	KeysPress, KeysAll      = "press", "all"
)

// SetOuter sets the answers to programs about the terminal around this one. Programs that follow the colour scheme (mode 2031)
// get a report if it changes.
func (t *Terminal) SetOuter(o Outer) {
	t.opts.outer = o
	if o.Scheme != "" {
		t.SetLightScheme(o.Scheme == SchemeLight)
	}
	t.SetCellSize(o.CellWidth, o.CellHeight)
}

// spec returns a dynamic colour for an answer: the outer terminal's, unless a program has set another.
func (c *colors) spec(i int) string {
	if i < 2 && c.outer != nil && c.Dynamic[i] == [...]uint32{color.Defaults.Foreground, color.Defaults.Background}[i] {
		of := [...]string{c.outer.Foreground, c.outer.Background}[i]
		if v, ok := color.Parse(of); ok && strings.HasPrefix(of, "rgb") {
			return color.Format(v)
		}
	}
	return color.Format(c.Dynamic[i])
}

// reportedKitty returns the keyboard flags in force, without those that the outer terminal cannot serve.
func (t *Terminal) reportedKitty() uint8 {
	flags := t.kitty[t.slot()].flags()
	if t.opts.outer.Keys == KeysPress {
		flags &^= KittyEventTypes | KittyAlternateKeys
	}
	return flags
}
