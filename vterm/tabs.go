package vterm

import "github.com/longterm-dev/longterm/vterm/internal/parse"

// resetTabs sets a stop at every eighth column, for the largest screen there can be.
func (t *Terminal) resetTabs() {
	t.tabs = make([]uint64, (t.cols+63)/64)
	for i := range t.tabs {
		t.tabs[i] = 0x0101010101010101
	}
}

// growTabs gives the columns that a wider screen added their default stops.
func (t *Terminal) growTabs() {
	for len(t.tabs) < (t.cols+63)/64 {
		t.tabs = append(t.tabs, 0x0101010101010101)
	}
}

func (t *Terminal) tabAt(col int) bool { return t.tabs[col/64]>>(col%64)&1 != 0 }

func (t *Terminal) setTab()   { t.tabs[t.cur.Col/64] |= 1 << (t.cur.Col % 64) }
func (t *Terminal) unsetTab() { t.tabs[t.cur.Col/64] &^= 1 << (t.cur.Col % 64) }

// tab moves to the nth next stop. The right margin stops a cursor left of it.
func (t *Terminal) tab(n int) {
	if t.cur.Pending && t.modes&modeMoreFix != 0 && t.modes&modeAutowrap != 0 {
		t.wrap()
	}
	limit := t.cols - 1
	if t.cur.Col <= t.right {
		limit = t.right
	}
	for ; n > 0 && t.cur.Col < limit; n-- {
		t.cur.Col++
		for t.cur.Col < limit && !t.tabAt(t.cur.Col) {
			t.cur.Col++
		}
	}
}

// backTab moves to the nth stop before, or to the start of the line. Like xterm it leaves
// a pending wrap alone.
func (t *Terminal) backTab(n int) {
	limit := 0
	if t.modes&modeOrigin != 0 {
		limit = t.left
	}
	for ; n > 0 && t.cur.Col > limit; n-- {
		t.cur.Col--
		for t.cur.Col > limit && !t.tabAt(t.cur.Col) {
			t.cur.Col--
		}
	}
}

// clearTabs is TBC.
func (t *Terminal) clearTabs(s *parse.Seq) {
	switch s.Param(0, 0) {
	case 0:
		t.unsetTab()
	case 3:
		clear(t.tabs)
	}
}

// tabControl is CTC and DECST8C.
func (t *Terminal) tabControl(s *parse.Seq) {
	switch p := s.Param(0, 0); {
	case s.Prefix == '?':
		if p == 5 {
			t.resetTabs()
		}
	case p == 0:
		t.setTab()
	case p == 2:
		t.unsetTab()
	case p == 5:
		clear(t.tabs)
	}
}
