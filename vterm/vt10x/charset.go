package vt10x

// charsets holds the designated and invoked sets (ECMA-35). Only ASCII, DEC Special Graphics and the British set are
// supported; others count as ASCII.
type charsets struct {
	g      [4]byte // final byte of the designation of G0 to G3; 0 is ASCII
	shift  uint8   // index of the set in GL
	single uint8   // index of the set for the next character only (SS2, SS3); 0: none
}

// plain reports whether text needs no translation.
func (c *charsets) plain() bool {
	g := c.g[c.shift&3]
	return c.single == 0 && g != '0' && g != 'A'
}

// specialGraphics holds the characters 0x5f to 0x7e of DEC Special Graphics (VT100 User Guide, table 3-9).
var specialGraphics = [32]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼',
	'⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

func (c *charsets) translate(b byte) rune {
	g := c.g[c.shift&3]
	if c.single != 0 {
		g, c.single = c.g[c.single&3], 0
	}
	switch {
	case g == '0' && b >= 0x5f && b <= 0x7e:
		return specialGraphics[b-0x5f]
	case g == 'A' && b == '#':
		return '£'
	}
	return rune(b)
}

// designate handles ESC ( F and similar sequences; inter is the intermediate byte.
func (c *charsets) designate(inter, final byte) {
	switch inter {
	case '(', ')', '*', '+':
		c.g[inter-'('] = final
	case '-', '.', '/': // 96-character sets
		c.g[inter-'-'+1] = 0
	}
}
