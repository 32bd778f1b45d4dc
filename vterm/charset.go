package vterm

// charset is the index of a character set in charsetTables.
type charset uint8

// charsets holds the sets designated to G0–G3 and which of them are in use. With UTF-8 no right half exists, so GR is
// stored for DECRQSS and save/restore only.
type charsets struct {
	g      [4]charset
	gl, gr uint8
	single uint8 // 2 or 3 for the next character only (SS2, SS3); 0 none
}

// translate maps a character below 0x80 through the active set, and ends a single shift.
func (c *charsets) translate(r rune) rune {
	set := c.g[c.gl]
	if c.single != 0 {
		set = c.g[c.single]
		c.single = 0
	}
	if set == charsetASCII || r < 0x20 {
		return r
	}
	return charsetTables[set].translate(r)
}

func (s *charsetTable) translate(r rune) rune {
	for _, m := range s.mappings {
		if m.from == r {
			return m.to
		}
	}
	if first := rune(0x7f - len(s.last)); r >= first && r < 0x7f {
		return s.last[r-first]
	}
	return r
}

// updateSimple updates t.simple: whether ASCII runs can ignore character sets and insert mode.
func (t *Terminal) updateSimple() {
	c := &t.charsets
	t.simple = c.g[c.gl] == charsetASCII && c.single == 0 && t.modes&modeInsert == 0
}

// designate implements SCS: name is the set's final byte after its intermediates.
func (t *Terminal) designate(slot int, name string, size96 bool) {
	set, ok := findCharset(name, size96)
	if !ok {
		return
	}
	if charsetTables[set].national && t.modes&modeNational == 0 {
		return
	}
	t.charsets.g[slot] = set
	t.updateSimple()
}

func findCharset(name string, size96 bool) (charset, bool) {
	for i := range charsetTables {
		s := &charsetTables[i]
		if s.size96 != size96 {
			continue
		}
		for _, n := range s.names {
			if n == name {
				return charset(i), true
			}
		}
	}
	return 0, false
}

// lockingShift implements SI, SO, LS2, LS3.
func (t *Terminal) lockingShift(slot int) {
	t.charsets.gl = uint8(slot)
	t.updateSimple()
}

// singleShift implements SS2, SS3.
func (t *Terminal) singleShift(slot int) {
	t.charsets.single = uint8(slot)
	t.updateSimple()
}
