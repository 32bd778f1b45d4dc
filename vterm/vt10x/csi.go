package vt10x

import (
	"strings"

	vt "github.com/hinshun/vt10x"

	"github.com/longterm-dev/longterm/vterm"
)

const (
	maxParams = 32
	// maxParam limits every number, as xterm's parser does.
	maxParam = 65535
)

// params holds the numbers of a control sequence; omitted ones are -1.
type params struct {
	prefix byte   // one of < = > ?, or 0
	inter  string // intermediate bytes
	n      int
	v      [maxParams]int32
	sub    uint32 // bit i: v[i] follows a ':'
}

// get returns parameter i, or def if it was omitted.
func (p *params) get(i, def int) int {
	if i >= p.n || p.v[i] < 0 {
		return def
	}
	return int(p.v[i])
}

// count returns parameter i as a count: 0 means 1 (ECMA-48 §5.4.2, note).
func (p *params) count(i int) int { return max(p.get(i, 1), 1) }

func (p *params) isSub(i int) bool { return p.sub>>i&1 != 0 }

// parse parses the bytes between CSI and the final byte. It returns false if they are out of order, which means an
// undefined sequence.
func (p *params) parse(s []byte) bool {
	if len(s) > 0 && s[0] >= '<' && s[0] <= '?' {
		p.prefix, s = s[0], s[1:]
	}
	end := len(s)
	for end > 0 && s[end-1] < 0x30 {
		end--
	}
	p.inter, s = string(s[end:]), s[:end]
	if len(s) == 0 {
		return true
	}
	p.n, p.v[0] = 1, -1
	for _, b := range s {
		switch {
		case b >= '0' && b <= '9':
			v := &p.v[p.n-1]
			*v = min(max(*v, 0)*10+int32(b-'0'), maxParam)
		case b != ';' && b != ':':
			return false
		case p.n == maxParams:
			return true // xterm too keeps the first ones
		default:
			if b == ':' {
				p.sub |= 1 << p.n
			}
			p.v[p.n] = -1
			p.n++
		}
	}
	return true
}

// motions lists the functions with one count that are passed to the library, by final byte. The library's csi.go has
// its own names for them.
var motions = [128]struct {
	known, erases bool
}{
	'@': {true, true},  // ICH
	'A': {true, false}, // CUU
	'B': {true, false}, // CUD
	'C': {true, false}, // CUF
	'D': {true, false}, // CUB
	'E': {true, false}, // CNL
	'F': {true, false}, // CPL
	'G': {true, false}, // CHA
	'I': {true, false}, // CHT
	'L': {true, true},  // IL
	'M': {true, true},  // DL
	'P': {true, true},  // DCH
	'S': {true, true},  // SU
	'T': {true, true},  // SD
	'X': {true, true},  // ECH
	'Z': {true, false}, // CBT
	'`': {true, false}, // HPA
	'a': {true, false}, // HPR
	'd': {true, false}, // VPA
	'e': {true, false}, // VPR
}

// runCSI runs a control sequence: seq is the part before the final byte.
func (e *Engine) runCSI(seq []byte, final byte) {
	var p params
	if !p.parse(seq) {
		return
	}
	switch {
	case p.inter != "":
		e.runInter(&p, final)
	case p.prefix != 0:
		e.runPrivate(&p, final)
	case motions[final&0x7f].known:
		e.motion(&p, final)
	default:
		e.runPublic(&p, final)
	}
}

// motion passes a function with one count to the library, with the count limited to the screen: the library would loop
// and compute slices with any count.
func (e *Engine) motion(p *params, final byte) {
	if final == 'T' && p.n > 1 {
		return // highlight mouse tracking
	}
	if motions[final].erases {
		e.penErase()
	}
	e.putf("\x1b[%d%c", min(p.count(0), max(e.cols, e.rows)), final)
	if final == 'L' || final == 'M' {
		e.flush()
		if cur := e.grid.cur; cur.Y >= *e.grid.top && cur.Y <= *e.grid.bottom {
			e.put("\r") // ECMA-48 §8.3.32, §8.3.67: to the line home position
		}
	}
}

// runPublic runs a sequence without prefix and intermediates.
func (e *Engine) runPublic(p *params, final byte) {
	switch final {
	case 'H', 'f': // CUP, HVP
		e.putf("\x1b[%d;%dH", min(p.count(0), e.rows), min(p.count(1), e.cols))
	case 'J':
		e.eraseDisplay(p.get(0, 0))
	case 'K':
		if how := p.get(0, 0); how <= 2 {
			e.penErase()
			e.putf("\x1b[%dK", how)
		}
	case 'g': // TBC
		if how := p.get(0, 0); how == 0 || how == 3 {
			e.putf("\x1b[%dg", how)
		}
	case 'b':
		e.repeat(p.count(0))
	case 'r':
		e.setMargins(p)
	case 's', 'u':
		e.ansiCursor(p, final)
	case 'm':
		e.pen = e.sgr(p, e.pen)
	case 'h', 'l':
		e.setModes(p, ansiModes, final == 'h')
	case 'c', 'n', 't':
		e.query(p, final)
	}
}

// ansiCursor implements SCOSC and SCORC. With parameters CSI s is DECSLRM, which is not supported.
func (e *Engine) ansiCursor(p *params, final byte) {
	switch {
	case p.n > 0:
	case final == 's':
		e.saveCursor()
	default:
		e.restoreCursor()
	}
}

func (e *Engine) eraseDisplay(how int) {
	if how > 2 {
		return // ED 3: no scrollback
	}
	e.penErase()
	e.putf("\x1b[%dJ", how)
	if how != 1 {
		return
	}
	e.flush()
	if e.grid.cur.Y == 1 { // the library forgets row 0
		row := (*e.grid.lines)[0]
		for x := range row {
			row[x] = e.grid.cur.Attr
			row[x].Char = ' '
		}
	}
}

// repeat implements REP, which terminfo's xterm-256color entry lets programs use.
func (e *Engine) repeat(n int) {
	if e.lastRune == 0 {
		return
	}
	for range min(n, e.cols*e.rows, maxParam) {
		e.print(e.lastRune)
	}
}

// setMargins implements DECSTBM.
func (e *Engine) setMargins(p *params) {
	top, bottom := p.count(0), min(max(p.get(1, 0), 0), e.rows)
	if bottom == 0 {
		bottom = e.rows
	}
	if top < bottom {
		e.putf("\x1b[%d;%dr", top, bottom)
	}
}

func (e *Engine) saveCursor() {
	e.put("\x1b7")
	e.saved = savedCursor{e.pen, e.cs}
}

func (e *Engine) restoreCursor() {
	e.put("\x1b8")
	e.flush() // it changes the library's pen
	e.pen, e.cs = e.saved.pen, e.saved.cs
}

// runPrivate runs a sequence with one of the prefixes < = > ?.
func (e *Engine) runPrivate(p *params, final byte) {
	switch string([]byte{p.prefix, final}) {
	case "?h", "?l":
		e.setModes(p, decModes, final == 'h')
	case "?J", "?K": // DECSED, DECSEL: nothing is ever protected
		p.prefix = 0
		e.runPublic(p, final)
	case "?n", ">c", "=c", ">q", "?u":
		e.query(p, final)
	case ">u", "<u", "=u":
		e.setKitty(p)
	case ">m", ">n", ">f":
		e.modifyOtherKeys(p, final)
	}
}

// runInter runs a sequence with intermediate bytes.
func (e *Engine) runInter(p *params, final byte) {
	switch {
	case p.inter == " " && final == 'q' && p.prefix == 0:
		e.setCursorType(p.get(0, 0))
	case p.inter == "!" && final == 'p' && p.prefix == 0:
		e.softReset()
	case p.inter == "$" && final == 'p':
		e.reportMode(p)
	}
}

// setCursorType implements DECSCUSR: 0 and 1 blinking block, then block, underline, bar, each
// blinking first.
func (e *Engine) setCursorType(n int) {
	if n > 6 {
		return
	}
	e.cursorType = n
	n = max(n, 1) - 1
	e.cursor.Shape, e.cursor.Blink = vterm.CursorShape(n/2), n%2 == 0
}

// runEscape runs an escape sequence; inter are its intermediate bytes.
func (e *Engine) runEscape(inter []byte, final byte) {
	if len(inter) > 0 {
		switch {
		case len(inter) == 1 && inter[0] == '#' && final == '8':
			e.alignmentTest()
		case len(inter) == 1 && strings.IndexByte("()*+-./", inter[0]) >= 0:
			e.cs.designate(inter[0], final)
		}
		return
	}
	switch final {
	case 'D', 'M': // IND, RI: may scroll a line in
		e.penErase()
		e.put("\x1b" + string(final))
	case 'E', 'H': // NEL, HTS
		e.put("\x1b" + string(final))
	case '7':
		e.saveCursor()
	case '8':
		e.restoreCursor()
	case '=', '>': // DECKPAM, DECKPNM
		e.setAppKeypad(final == '=')
	case 'N', 'O': // SS2, SS3
		e.cs.single = final - 'N' + 2
	case 'n', 'o': // LS2, LS3
		e.cs.shift = final - 'n' + 2
	case 'Z': // DECID
		e.reply(deviceAttributes)
	case 'c':
		e.reset()
	}
}

// alignmentTest implements DECALN.
func (e *Engine) alignmentTest() {
	e.setPen(0, kindNarrow)
	e.put("\x1b[r\x1b#8\x1b[H")
}

// control runs a C0 control.
func (e *Engine) control(b byte) {
	switch b {
	case 0x07:
		e.emit(vterm.Event{Kind: vterm.EventBell})
	case '\b', '\t', '\n', '\v', '\f', '\r':
		e.out = append(e.out, b)
		if len(e.out) >= flushAt {
			e.flush()
		}
	case 0x0e, 0x0f: // SO, SI
		e.cs.shift = 0x0f - b
	}
}

// softReset implements DECSTR (VT510 manual, table 5-10). The cursor stays.
func (e *Engine) softReset() {
	e.flush()
	*e.grid.top, *e.grid.bottom = 0, e.rows-1
	*e.grid.mode |= vt.ModeWrap
	e.grid.cur.State = 0
	*e.grid.saved = vt.Cursor{}
	e.pen, e.cs, e.saved, e.insert = vterm.Style{}, charsets{}, savedCursor{}, false
	e.cursor.Visible = true
	e.setAppKeypad(false)
	e.changeModes(func(m *vterm.Modes) { m.AppCursor = false })
}

// reset implements RIS. The library's own implementation clears only a part of the screen and leaves the screens
// swapped.
func (e *Engine) reset() {
	if e.modes.AltScreen {
		e.leaveAlt()
	}
	e.setPen(0, kindErased)
	e.put("\x1bc\x1b[2J")
	e.flush()
	e.pen, e.cs, e.saved, e.insert, e.lastRune = vterm.Style{}, charsets{}, savedCursor{}, false, 0
	e.cursor, e.cursorType = vterm.Cursor{Visible: true, Blink: true}, 0
	e.kitty, e.palette = [2]kittyStack{}, nil
	e.changeModes(func(m *vterm.Modes) {
		*m = vterm.Modes{CellWidth: m.CellWidth, CellHeight: m.CellHeight}
	})
	e.emit(vterm.Event{Kind: vterm.EventReset})
}
