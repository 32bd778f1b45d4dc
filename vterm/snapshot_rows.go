package vterm

import "github.com/longterm-dev/longterm/vterm/internal/grid"

func (c *codec) screens(t *Terminal) {
	alt := t.alternate != nil
	c.flag(&alt)
	shown := t.scr != t.primary
	c.flag(&shown)
	if c.reading {
		t.primary = grid.NewScreen(&t.tables, t.cols, t.rows)
		t.scr = t.primary
		if alt {
			t.alternate = grid.NewScreen(&t.tables, t.cols, t.rows)
		}
		if shown && alt {
			t.scr = t.alternate
		}
	}
	c.rows(t, t.primary)
	if alt {
		c.rows(t, t.alternate)
	}
}

func (c *codec) rows(t *Terminal, s *grid.Screen) {
	for _, r := range s.Window() {
		if c.r.Bad {
			return
		}
		if !c.reading {
			rec := t.tables.EncodeRow(nil, r)
			c.bytes(&rec)
			continue
		}
		var rec []byte
		c.bytes(&rec)
		if !s.RestoreRow(r, rec, len(t.images.Placements)) {
			c.fail()
		}
	}
}

func (c *codec) scrollback(t *Terminal) {
	h := t.history
	base := h.FirstID()
	unsigned(c, &base, anyUint/2)
	c.flag(&h.Stale)
	c.flag(&h.Wrapped)
	signed(c, &h.Widest, 0, grid.MaxCols)
	n := h.Len()
	signed(c, &n, 0, 1<<30)
	for i := 0; i < n && !c.r.Bad; i++ {
		if !c.reading {
			rec := h.Record(i)
			c.bytes(&rec)
			continue
		}
		rec := c.r.Bytes(c.r.Uvarint())
		if !h.Restore(rec, len(t.images.Placements)) {
			c.fail()
			return
		}
	}
	if c.reading {
		h.Base = base
	}
}
