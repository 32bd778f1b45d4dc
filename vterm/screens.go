package vterm

import "github.com/longterm-dev/longterm/vterm/internal/grid"

// screens are the two grids; the alternate one is nil until it is needed.
type screens struct {
	primary, alternate *grid.Screen
	scr                *grid.Screen // the active one
}

// all are the screens there are.
func (s *screens) all() []*grid.Screen {
	if s.alternate == nil {
		return []*grid.Screen{s.primary}
	}
	return []*grid.Screen{s.primary, s.alternate}
}

// slot is the index of the active screen in what is kept per screen.
func (s *screens) slot() int { return boolInt(s.scr != s.primary) }

// showAlternate switches between the screens. The cursor is one for both, as in xterm.
func (t *Terminal) showAlternate(on, wipe bool) {
	t.setMode(modeAlt47|modeAlt1047|modeAlt1049, on)
	was := t.scr != t.primary
	if on {
		if t.alternate == nil {
			t.alternate = grid.NewScreen(&t.tables, t.cols, t.rows)
		}
		t.scr.Flush()
		t.scr = t.alternate
		if wipe {
			t.scr.Clear(t.erased())
		}
	} else {
		t.scr.Flush()
		t.scr = t.primary
	}
	if on != was {
		t.scr.TouchAll()
		t.emit(Event{Kind: EventAltScreen, Num: boolInt(on)})
	}
}

// compactTables rebuilds tables that grew too large with what the screens still show.
// Frames taken before keep the old ones; the next frame is a full one.
func (t *Terminal) compactTables() {
	if t.tables.Styles.Full() {
		t.compactStyles()
	}
	if t.tables.Clusters.Full() {
		t.tables.CompactClusters(t.all())
		t.tablesVersion = t.tables.Version
		t.tables.Version++
	}
}

// compactStyles gives styles new numbers, which all that keeps one forgets.
func (t *Terminal) compactStyles() {
	t.tables.CompactStyles(t.all())
	t.penChanged()
	t.sgrSeen.clear()
	t.blank, t.blankBG = 0, 0
	t.tablesVersion = t.tables.Version
	t.tables.Version++
}
