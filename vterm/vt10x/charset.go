package vt10x

// charsets are what is designated and invoked (ECMA-35). Only ASCII, DEC Special
// Graphics and the British set are known; others count as ASCII.
type charsets struct {
	g     [4]byte // final byte of the designation of G0 to G3; 0 is ASCII
	shift uint8   // which of them is in GL
	once  uint8   // SS2, SS3: which of them takes the next character only; 0: none
}

func (c *charsets) plain() bool {
	g := c.g[c.shift&3]
	return c.once == 0 && g != '0' && g != 'A'
}

// specialGraphics are the characters 0x5f to 0x7e of DEC Special Graphics (VT100 User
// Guide, table 3-9).
var specialGraphics = [32]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼',
	'⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

func (c *charsets) translate(b byte) rune {
	g := c.g[c.shift&3]
	if c.once != 0 {
		g, c.once = c.g[c.once&3], 0
	}
	switch {
	case g == '0' && b >= 0x5f && b <= 0x7e:
		return specialGraphics[b-0x5f]
	case g == 'A' && b == '#':
		return '£'
	}
	return rune(b)
}

// designate takes ESC ( F and the like: inter is the intermediate byte.
func (c *charsets) designate(inter, final byte) {
	switch inter {
	case '(', ')', '*', '+':
		c.g[inter-'('] = final
	case '-', '.', '/': // 96-character sets
		c.g[inter-'-'+1] = 0
	}
}
