package vterm

import "github.com/longterm-dev/longterm/vterm/internal/parse"

// tabStops is a bit set of columns.
type tabStops []uint64

// everyEighth holds the default stops of 64 columns.
const everyEighth = 0x0101010101010101

// grow sets default stops in columns added by a wider screen.
func (s *tabStops) grow(cols int) {
	for len(*s) < (cols+63)/64 {
		*s = append(*s, everyEighth)
	}
}

// isSet reports whether a column is a tab stop.
func (s tabStops) isSet(col int) bool { return s[col/64]>>(col%64)&1 != 0 }
func (s tabStops) set(col int)        { s[col/64] |= 1 << (col % 64) }
func (s tabStops) unset(col int)      { s[col/64] &^= 1 << (col % 64) }

// resetTabs sets a stop at every eighth column.
func (p *page) resetTabs() {
	p.tabs = nil
	p.tabs.grow(p.cols)
}

func (p *page) setTab() { p.tabs.set(p.cur.Col) }

// tab moves to the nth next stop. The right margin stops a cursor to the left of it.
func (t *Terminal) tab(n int) {
	if t.cur.Pending && t.modes&modeMoreFix != 0 && t.modes&modeAutowrap != 0 {
		t.wrap()
	}
	t.forwardTab(n)
}

func (p *page) forwardTab(n int) {
	limit := p.cols - 1
	if p.cur.Col <= p.right {
		limit = p.right
	}
	for ; n > 0 && p.cur.Col < limit; n-- {
		p.cur.Col++
		for p.cur.Col < limit && !p.tabs.isSet(p.cur.Col) {
			p.cur.Col++
		}
	}
}

// backTab moves to the nth previous stop, or to the start of the line. Like xterm it keeps a pending wrap.
func (p *page) backTab(n int) {
	limit := 0
	if p.modes&modeOrigin != 0 {
		limit = p.left
	}
	for ; n > 0 && p.cur.Col > limit; n-- {
		p.cur.Col--
		for p.cur.Col > limit && !p.tabs.isSet(p.cur.Col) {
			p.cur.Col--
		}
	}
}

// clearTabs implements TBC.
func (p *page) clearTabs(s *parse.Seq) {
	switch s.Param(0, 0) {
	case 0:
		p.tabs.unset(p.cur.Col)
	case 3:
		clear(p.tabs)
	}
}

// tabControl implements CTC and DECST8C.
func (p *page) tabControl(s *parse.Seq) {
	switch what := s.Param(0, 0); {
	case s.Prefix == '?':
		if what == 5 {
			p.resetTabs()
		}
	case what == 0:
		p.setTab()
	case what == 2:
		p.tabs.unset(p.cur.Col)
	case what == 5:
		clear(p.tabs)
	}
}
