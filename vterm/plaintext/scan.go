package plaintext

import (
	"bytes"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/bytescan"
)

// state is the state of the scanner between two bytes.
type state uint8

const (
	ground           state = iota
	escape                 // after ESC
	escapeMore             // after ESC and an intermediate
	csi                    // after CSI, reading parameters
	csiOther               // in a CSI sequence that is ignored
	controlString          // in OSC, DCS, APC, PM or SOS
	controlStringESC       // after ESC in a string
)

const (
	maxParam   = 1 << 16
	tabColumns = 8
	// maxString is the length at which an unterminated string is abandoned, so that a stray introducer does not swallow
	// the rest of a log.
	maxString = 16 << 20
)

// scanner holds the state between two bytes. It buffers only an incomplete character: the content of strings is not
// needed.
type scanner struct {
	state     state
	began     uint64 // offset of the sequence's first byte
	osc       bool   // the string is an OSC, which BEL ends
	remaining int    // bytes until the string is abandoned
	n, arg    int    // number of parameters so far, and the first parameter; -1 if omitted
	part      [utf8.UTFMax]byte
	parts     int
}

// take consumes some bytes of b, at least one.
func (p *Writer) take(b []byte) int {
	switch {
	case p.state == controlString:
		return p.takeString(b)
	case p.state != ground:
		p.read++
		p.step(b[0])
		return 1
	case p.parts > 0:
		return p.takePart(b[0])
	case b[0] >= 0x20 && b[0] < 0x7f:
		return p.takeText(b)
	case b[0] >= utf8.RuneSelf && utf8.FullRune(b):
		return p.takeRune(b)
	case b[0] >= utf8.RuneSelf:
		return p.takePart(b[0])
	}
	p.read++
	p.control(b[0])
	return 1
}

// takeLines consumes whole lines of printable ASCII, as in most logs: no column of them is written twice, so they need
// no columns. It returns 0 if b does not start with one, or not at the start of a line.
func (p *Writer) takeLines(b []byte) (n int) {
	if p.state != ground || p.parts > 0 || !p.line.empty() {
		return 0
	}
	for most := min(window-1, p.maxLine()); ; {
		text := bytescan.ASCII(b[n:])
		end := n + text
		if end < len(b) && b[end] == '\r' {
			end++
		}
		if end >= len(b) || b[end] != '\n' || text > most {
			return n
		}
		p.read += uint64(end + 1 - n)
		p.finish(b[n:n+text], false)
		n = end + 1
	}
}

// Printable returns the length of the printable ASCII at the start of p.
func Printable(p []byte) int { return bytescan.ASCII(p) }

// takeText consumes printable ASCII.
func (p *Writer) takeText(b []byte) int {
	n := p.line.ascii(b[:bytescan.ASCII(b)])
	p.read += uint64(n)
	p.finalize()
	return n
}

// finalize keeps the line within its window.
func (p *Writer) finalize() {
	if p.line.full() {
		p.line.finalize()
		p.spill()
	}
}

// takeRune consumes a character. The longest valid prefix of an ill-formed one becomes one U+FFFD (Unicode §3.9).
func (p *Writer) takeRune(b []byte) int {
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 {
		for n < len(b) && n < utf8.UTFMax && !utf8.FullRune(b[:n]) && b[n]&0xc0 == 0x80 {
			n++
		}
		if n > 1 && utf8.FullRune(b[:n]) {
			n--
		}
	}
	p.read += uint64(n)
	p.rune(r)
	return n
}

// takePart adds a byte to an incomplete character and prints the character once it is complete or ill-formed. It does
// not consume a byte that does not belong to the character.
func (p *Writer) takePart(c byte) int {
	if p.parts > 0 && c&0xc0 != 0x80 {
		p.parts = 0
		p.rune(utf8.RuneError)
		return 0
	}
	p.part[p.parts] = c
	p.parts++
	if part := p.part[:p.parts]; !utf8.FullRune(part) {
		p.read++
		return 1
	}
	had := p.parts - 1
	p.parts = 0
	p.read -= uint64(had)
	return p.takeRune(p.part[:had+1]) - had
}

func (p *Writer) rune(r rune) {
	if r >= 0x80 && r < 0xa0 { // C1 control (ECMA-48 §5.3)
		p.began = p.read - 2 // in UTF-8
		p.introduce(byte(r - 0x40))
		return
	}
	p.line.print(r)
	p.finalize()
}

// control runs a C0 control.
func (p *Writer) control(b byte) {
	switch b {
	case 0x1b:
		p.state, p.began = escape, p.read-1
	case '\n', '\v', '\f':
		p.endLine()
	case '\r':
		p.line.move(0)
	case '\b':
		p.line.move(p.line.col - 1)
	case '\t':
		p.line.tab()
		p.finalize()
	}
}

// step consumes one byte of a sequence (https://vt100.net/emu/dec_ansi_parser).
func (p *Writer) step(b byte) {
	switch {
	case b == 0x18 || b == 0x1a: // CAN, SUB
		p.state = ground
	case p.state == controlStringESC && b == '\\':
		p.state = ground
	case b == 0x1b:
		p.state = escape
	case p.state == controlStringESC:
		p.state = escape
		p.step(b)
	case b < 0x20:
		p.control(b)
	case b >= 0x7f: // nothing in a sequence
	case p.state == escape && b >= 0x30:
		p.introduce(b)
	case p.state == escape:
		p.state = escapeMore
	case p.state == escapeMore && b < 0x30:
	case p.state == escapeMore:
		p.state = ground
	case b >= 0x40:
		p.endCSI(b)
	default:
		p.param(b)
	}
}

// introduce handles the byte after ESC, or a C1 control as its 7-bit form.
func (p *Writer) introduce(b byte) {
	p.state = ground
	switch b {
	case '[':
		p.state, p.n, p.arg = csi, 0, -1
	case ']', 'P', '_', '^', 'X', 'k':
		p.state, p.osc, p.remaining = controlString, b == ']' || b == 'k', maxString
	case 'D', 'E': // IND, NEL
		p.endLine()
	case 'c': // RIS: what was printed was printed
		p.line.move(0)
	}
}

// param handles a parameter byte. Only the first parameter is used, and none if there is a private prefix, a
// sub-parameter or an intermediate.
func (p *Writer) param(b byte) {
	switch {
	case b >= '0' && b <= '9' && p.n == 0:
		p.arg = min(max(p.arg, 0)*10+int(b-'0'), maxParam)
	case b == ';':
		p.n++
	case b >= '0' && b <= '9':
	default:
		p.state = csiOther
	}
}

func (p *Writer) endCSI(final byte) {
	run := p.state == csi
	p.state = ground
	if !run {
		return
	}
	n, e := max(p.arg, 1), &p.line
	switch final {
	case 'C', 'a': // CUF, HPR
		e.move(e.col + n)
	case 'D': // CUB
		e.move(e.col - n)
	case 'G', '`': // CHA, HPA
		e.move(n - 1)
	case '@': // ICH
		e.insert(n)
	case 'P': // DCH
		e.remove(n)
	case 'X': // ECH
		e.erase(e.col, e.col+n)
	case 'K': // EL
		p.eraseLine(max(p.arg, 0))
	}
}

func (p *Writer) eraseLine(how int) {
	e := &p.line
	switch how {
	case 0:
		e.erase(e.col, len(e.cells))
	case 1:
		e.erase(0, e.col+1)
	case 2:
		e.erase(0, len(e.cells))
	}
}

// takeString consumes a string up to a control that may end it.
func (p *Writer) takeString(b []byte) int {
	b = b[:min(len(b), p.remaining)]
	n := bytes.IndexAny(b, "\x07\x18\x1a\x1b")
	if n < 0 {
		p.read += uint64(len(b))
		if p.remaining -= len(b); p.remaining == 0 {
			p.state = ground
		}
		return len(b)
	}
	n++
	p.read += uint64(n)
	p.remaining -= n
	switch c := b[n-1]; {
	case c == 0x1b:
		p.state = controlStringESC
	case c != 0x07 || p.osc || p.remaining == 0:
		p.state = ground
	}
	return n
}
