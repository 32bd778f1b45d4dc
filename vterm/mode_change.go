package vterm

import "github.com/longterm-dev/longterm/vterm/internal/parse"

// changeModes implements SM and DECSET, RM and DECRST.
func (t *Terminal) changeModes(s *parse.Seq, on bool) {
	for i := range s.N {
		if m := findMode(s.Param(i, 0), s.Prefix == 0); m != nil {
			t.changeMode(m, on)
		}
	}
}

// changeMode sets or resets a mode and runs its handler.
func (t *Terminal) changeMode(m *mode, on bool) {
	if m.fixed != 0 {
		return
	}
	t.modes &^= exclusive(m.bit)
	t.setMode(m.bit, on)
	if m.changed != nil {
		m.changed(t, on)
	}
}

// exclusive returns the group of modes of which at most one is on. Setting one ends the others, and resetting any ends
// all, as in xterm.
func exclusive(bit modeBits) modeBits {
	switch {
	case bit&mouseTrackings != 0:
		return mouseTrackings
	case bit&mouseEncodings != 0:
		return mouseEncodings
	}
	return 0
}

func (p *page) setMode(bit modeBits, on bool) {
	if on {
		p.modes |= bit
	} else {
		p.modes &^= bit
	}
}

// requestMode implements DECRQM: 0 unknown, 1 set, 2 reset, 3 and 4 permanently so.
func (t *Terminal) requestMode(s *parse.Seq) {
	if t.conform.level < 3 {
		return
	}
	number, state := s.Param(0, 0), 0
	if m := findMode(number, s.Prefix == 0); m != nil {
		switch {
		case m.fixed != 0:
			state = m.fixed
		case t.modes&m.bit != 0:
			state = 1
		default:
			state = 2
		}
	}
	prefix := ""
	if s.Prefix != 0 {
		prefix = "?"
	}
	t.replyCSI("%s%d;%d$y", prefix, number, state)
}

// saveModes implements XTSAVE, restoreModes XTRESTORE.
func (p *page) saveModes(s *parse.Seq) {
	if p.savedModes == nil {
		p.savedModes = make(map[int]bool)
	}
	for i := range s.N {
		if m := findMode(s.Param(i, 0), false); m != nil {
			p.savedModes[m.number] = p.modes&m.bit != 0
		}
	}
}

func (t *Terminal) restoreModes(s *parse.Seq) {
	for i := range s.N {
		m := findMode(s.Param(i, 0), false)
		if m == nil {
			continue
		}
		if on, ok := t.savedModes[m.number]; ok && on != (t.modes&m.bit != 0) {
			t.changeMode(m, on)
		}
	}
}

func (t *Terminal) changedANSI(on bool) {
	t.parser.VT52 = !on
	if !on {
		t.charsets = charsets{}
		t.updateSimple()
	}
}

func (t *Terminal) changedNational(on bool) {
	if !on {
		for i := range t.charsets.g {
			if charsetTables[t.charsets.g[i]].national {
				t.charsets.g[i] = charsetASCII
			}
		}
		t.updateSimple()
	}
}

// changedColumns implements DECCOLM: with mode 40 the screen gets 80 or 132 columns, is cleared unless DECNCSM is set,
// and margins and cursor go home (VT510, "DECCOLM").
func (t *Terminal) changedColumns(on bool) {
	if t.modes&modeAllowColumns == 0 {
		t.setMode(modeColumns132, !on)
		return
	}
	cols := 80
	if on {
		cols = 132
	}
	t.requestSize(cols, t.rows)
	if t.modes&modeKeepOnColumns == 0 || t.conform.level < 5 {
		for i := range t.rows {
			t.eraseRow(i, false)
		}
	}
	t.setMode(modeMargins, false)
	t.resetMargins()
	t.setMode(modeColumns132, on)
	t.home()
}

// changedMargins implements DECLRMM: resetting it drops the left and right margin.
func (t *Terminal) changedMargins(on bool) {
	if on = on && t.conform.level >= 4; !on {
		t.setMode(modeMargins, false)
		t.left, t.right = 0, t.cols-1
	}
}

// changedSaveCursor implements mode 1048.
func (t *Terminal) changedSaveCursor(on bool) {
	if on {
		t.saveCursor()
	} else {
		t.restoreCursor()
	}
}

// changedAlt1047 clears the alternate screen on leaving it.
func (t *Terminal) changedAlt1047(on bool) {
	if !on && t.scr == t.alternate && t.alternate != nil {
		t.scr.Clear(t.blankCell())
	}
	t.showAlternate(on, false)
}

// changedAlt1049 saves and restores the cursor even if the screen does not change, like xterm: leaving twice restores
// the saved cursor twice.
func (t *Terminal) changedAlt1049(on bool) {
	if on {
		t.saveCursor()
		t.showAlternate(true, true)
		t.cur.Pending = false
		return
	}
	t.showAlternate(false, false)
	t.restoreCursor()
}

// changedSync implements mode 2026.
func (t *Terminal) changedSync(on bool) {
	if on != t.syncing {
		t.syncing = on
		t.emit(Event{Kind: EventSync, Num: boolInt(on)})
	}
}

// changedInBand implements mode 2048: enabling it reports the size.
func (t *Terminal) changedInBand(on bool) {
	if on {
		t.reportSize()
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
