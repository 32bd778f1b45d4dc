package vterm

func (t *Terminal) codeScreens(c *codec) {
	alt := t.alternate != nil
	c.flag(&alt)
	shown := t.scr != t.primary
	c.flag(&shown)
	if c.reading {
		t.primary = newScreen(&t.tables, t.cols, t.rows)
		t.scr = t.primary
		if alt {
			t.alternate = newScreen(&t.tables, t.cols, t.rows)
		}
		if shown && alt {
			t.scr = t.alternate
		}
	}
	t.codeRows(c, t.primary)
	if alt {
		t.codeRows(c, t.alternate)
	}
}

func (t *Terminal) codeRows(c *codec, s *screen) {
	for _, r := range s.window() {
		if c.r.bad {
			return
		}
		if !c.reading {
			rec := t.tables.packRow(nil, r)
			c.bytes(&rec)
			continue
		}
		var rec []byte
		c.bytes(&rec)
		if !s.restoreRow(r, rec, len(t.images.Placements)) {
			c.fail()
		}
	}
}

func (t *Terminal) codeHistory(c *codec) {
	h := t.history
	base := h.FirstID()
	unsigned(c, &base, anyUint/2)
	c.flag(&h.unsettled)
	c.flag(&h.wrapped)
	signed(c, &h.widest, 0, lineCellsMax)
	n := h.Len()
	signed(c, &n, 0, 1<<30)
	for i := 0; i < n && !c.r.bad; i++ {
		if !c.reading {
			rec := h.record(i)
			c.bytes(&rec)
			continue
		}
		rec := c.r.bytes(c.r.uvarint())
		if !h.restoreLine(rec, len(t.images.Placements)) {
			c.fail()
			return
		}
	}
	if c.reading {
		h.base = base
	}
}
