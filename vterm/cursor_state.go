package vterm

import (
	"fmt"
	"strings"
)

// AppendCarry appends what puts a real terminal, on which this screen was just painted in
// full, into the state that the program's next output relies on and no frame shows:
// margins, insert, wrap and origin mode, character sets, the saved cursor, and the pen.
// Most of the time that is a pen.
func (t *Terminal) AppendCarry(dst []byte) []byte {
	n := len(dst)
	dst = t.appendSavedCursor(dst)
	dst = t.appendMargins(dst)
	if len(dst) > n { // margins and the saved cursor moved it
		row, col := t.cur.Row, t.cur.Col
		if t.modes&modeOrigin != 0 {
			row, col = row-t.top, col-t.left
		}
		dst = fmt.Appendf(dst, "\x1b[%d;%dH", row+1, col+1)
	}
	dst = appendCharsets(dst, &t.charsets)
	if t.pen != (Style{}) {
		dst = fmt.Appendf(dst, "\x1b[%sm", sgrString(t.pen))
	}
	return dst
}

// appendSavedCursor has the terminal save the cursor as the program did (DECSC).
func (t *Terminal) appendSavedCursor(dst []byte) []byte {
	s := &t.saved[t.slot()]
	if !s.set {
		return dst
	}
	dst = appendCharsets(dst, &s.charsets)
	dst = fmt.Appendf(dst, "\x1b[%d;%dH\x1b[%sm\x1b7\x1b[m", s.cur.Row+1, s.cur.Col+1, sgrString(s.pen))
	if s.charsets.g != [4]charset{} || s.charsets.gl != 0 {
		dst = append(dst, "\x1b(B\x1b)B\x1b*B\x1b+B\x0f"...)
	}
	return dst
}

func (p *page) appendMargins(dst []byte) []byte {
	if p.modes&modeMargins != 0 {
		dst = fmt.Appendf(dst, "\x1b[?69h\x1b[%d;%ds", p.left+1, p.right+1)
	}
	if p.top > 0 || p.bottom < p.rows-1 {
		dst = fmt.Appendf(dst, "\x1b[%d;%dr", p.top+1, p.bottom+1)
	}
	if p.modes&modeOrigin != 0 {
		dst = append(dst, "\x1b[?6h"...)
	}
	if p.modes&modeInsert != 0 {
		dst = append(dst, "\x1b[4h"...)
	}
	if p.modes&modeAutowrap == 0 {
		dst = append(dst, "\x1b[?7l"...)
	}
	return dst
}

// appendCharsets designates and shifts, on a terminal that has ASCII everywhere.
func appendCharsets(dst []byte, c *charsets) []byte {
	for slot, set := range c.g {
		if set == charsetASCII {
			continue
		}
		table, in := &charsetTables[set], "()*+"
		if table.size96 {
			in = " -./"
		}
		dst = append(dst, '\x1b', in[slot])
		dst = append(dst, table.names[0]...)
	}
	if c.gl > 0 {
		dst = append(dst, strings.Split("\x0f \x0e \x1bn \x1bo", " ")[c.gl]...)
	}
	return dst
}
