package vterm

import "github.com/longterm-dev/longterm/vterm/internal/grid"

// screens holds the two grids. The alternate one is nil until it is needed.
type screens struct {
	primary, alternate *grid.Screen
	scr                *grid.Screen // the active one
}

// all returns the existing screens.
func (s *screens) all() []*grid.Screen {
	if s.alternate == nil {
		return []*grid.Screen{s.primary}
	}
	return []*grid.Screen{s.primary, s.alternate}
}

// slot returns the index of the active screen in per-screen state.
func (s *screens) slot() int { return boolInt(s.scr != s.primary) }

// showAlternate switches between the screens. Both share one cursor, as in xterm.
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
			t.scr.Clear(t.blankCell())
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

// compactTables rebuilds tables that have grown too large, from what the screens still show. Earlier frames keep the
// old tables; the next frame is a full one.
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

// compactStyles assigns new ids to styles, so all cached ids are dropped.
func (t *Terminal) compactStyles() {
	t.tables.CompactStyles(t.all())
	t.penChanged()
	t.sgrCache.clear()
	t.blank, t.blankBG = 0, 0
	t.tablesVersion = t.tables.Version
	t.tables.Version++
}
