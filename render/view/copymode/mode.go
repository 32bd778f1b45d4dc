package copymode

import (
	"fmt"
	"slices"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/page"
)

// Mode is copy mode of a pane: frozen rows while the session continues. It ends with Leave and cannot be restarted.
type Mode struct {
	host    Host
	history History // nil means no history
	session string

	ended   bool // copy mode has ended
	changed bool // a redraw is needed

	page      page.Page
	loaded    bool     // all needed history was fetched
	fetching  bool     // history is being fetched
	waiting   []func() // functions to run when the fetched rows have arrived
	top       int      // number of the first shown row
	height    int      // number of shown rows
	owedRows  int      // rows to scroll up when older ones have arrived
	cursor    page.Pos
	count     int  // count for the next motion, as typed so far; 0: none
	jump      jump // the last jump to a character
	hasCursor bool // the keyboard moves a cursor; otherwise the next key goes to the session
	sel       *page.Selection
	// endsOnOutput is set if text was selected on the live screen: further output ends copy mode.
	endsOnOutput bool
	search       *page.Search
	origin       page.Pos // position at which the search started
	originTop    int      // value of top at that time
	placesKnown  bool     // places is known
	commands     []page.Command
	places       []page.Place // rows in which commands were typed
}

// New returns a mode with the rows that a pane shows of a session's screen, from row top on. History, which may be nil,
// is loaded later.
func New(host Host, history History, session string, screen *render.Screen, top, height int) *Mode {
	m := &Mode{
		host: host, history: history, session: session, changed: true,
		page:   page.Page{Lines: slices.Clone(screen.Lines), Cols: screen.Cols},
		top:    top,
		cursor: page.Pos{Row: screen.Cursor.Y, Col: screen.Cursor.X},
		height: height,
	}
	m.cursor = m.page.Clamp(m.cursor)
	return m
}

// Leave ends copy mode.
func (m *Mode) Leave() { m.ended = true }

// IsLive reports whether copy mode has ended.
func (m *Mode) IsLive() bool { return m.ended }

// NeedsRedraw reports whether a redraw is needed since the last call.
func (m *Mode) NeedsRedraw() bool {
	changed := m.changed
	m.changed = false
	return changed
}

// UseKeys gives the keyboard a cursor.
func (m *Mode) UseKeys() {
	m.hasCursor = true
	m.cursor.Row = min(max(m.cursor.Row, m.top), m.top+m.height-1)
	m.cursor = m.page.Clamp(m.cursor)
}

// EndsOnOutput reports whether further output ends copy mode, because text was selected on the live screen.
func (m *Mode) EndsOnOutput() bool { return m.endsOnOutput }

// IsFrozen reports whether frozen rows are shown instead of the live screen. It is false for a nil Mode.
func (m *Mode) IsFrozen() bool { return m != nil && !m.endsOnOutput }

// HasHistory reports whether history was fetched.
func (m *Mode) HasHistory() bool { return m.loaded }

// Line returns the line in a row of the pane, from 0, or nil.
func (m *Mode) Line(i int) *render.Line { return m.page.Line(m.top + i) }

// Resize shows another number of rows.
func (m *Mode) Resize(height int) {
	m.height = height
	m.top = min(m.top, m.bottom())
}

// bottom returns the largest valid value of top.
func (m *Mode) bottom() int { return max(m.page.First, m.page.End()-m.height) }

// atEnd reports whether the newest row is visible.
func (m *Mode) atEnd() bool { return m.top >= m.bottom() }

// idle reports whether the newest rows are shown, without a cursor or a selection.
func (m *Mode) idle() bool { return m.atEnd() && !m.hasCursor && m.sel == nil }

// scroll scrolls by a number of rows. Rows that are not loaded yet are scrolled when they arrive.
func (m *Mode) scroll(by int) {
	want := m.top + by
	m.top = min(max(want, m.page.First), m.bottom())
	if !m.loaded && want < m.page.First {
		m.owedRows += m.page.First - want
	}
	if by > 0 {
		m.owedRows = 0
	}
	if m.hasCursor {
		m.cursor.Row = min(max(m.cursor.Row, m.top), m.top+m.height-1)
		m.cursor = m.page.Clamp(m.cursor)
	}
}

// move moves the cursor, scrolls to it and extends the selection.
func (m *Mode) move(to page.Pos) {
	m.cursor = m.page.Clamp(to)
	m.reveal(m.cursor.Row, false)
	if m.sel != nil {
		m.sel.Head = m.cursor
	}
}

// reveal scrolls so that a row is visible, with rows around it if it was not.
func (m *Mode) reveal(row int, around bool) {
	switch {
	case around && (row < m.top || row >= m.top+m.height):
		m.top = row - m.height/3
	case row < m.top:
		m.top = row
	case row >= m.top+m.height:
		m.top = row - m.height + 1
	}
	m.top = min(max(m.top, m.page.First), m.bottom())
}

// prependTail adds history before the shown rows. The session may have printed since, so it finds the shown rows by their
// text.
func (m *Mode) prependTail(p page.Page) {
	rows := len(m.page.Lines)
	start := p.End() - rows // where the old page's first row is now, if nothing was printed
	for back := 0; back <= min(start-p.First, 500); back++ {
		if sameText(p.Lines[start-back-p.First:], m.page.Lines) {
			start -= back
			break
		}
	}
	shift := start - m.page.First
	m.page, m.loaded, m.fetching = p, true, false
	m.top += shift
	m.cursor.Row += shift
	m.origin.Row += shift
	m.originTop += shift
	if m.sel != nil {
		m.sel.Anchor.Row += shift
		m.sel.Head.Row += shift
	}
	m.scrollOwed()
	if m.search != nil {
		m.find(m.search.Pattern, m.search.Regexp, m.origin)
	}
}

// prependOlder adds rows before the first one.
func (m *Mode) prependOlder(lines []render.Line) {
	m.fetching = false
	m.page.Prepend(lines)
	if m.search != nil {
		m.search.AddOlder(&m.page, len(lines))
		if m.search.Current < 0 && len(m.search.Matches) > 0 {
			m.search.SelectNear(m.origin)
			m.step(0)
		}
	}
	if m.placesKnown {
		m.places = page.Commands(&m.page, m.commands)
	}
	m.scrollOwed()
}

// scrollOwed scrolls up by the rows that were not loaded before.
func (m *Mode) scrollOwed() {
	owed := m.owedRows
	m.owedRows = 0
	m.scroll(-owed)
}

func sameText(a, b []render.Line) bool {
	if len(a) < len(b) {
		return false
	}
	for i := range b {
		if a[i].Text != b[i].Text {
			return false
		}
	}
	return true
}

// find starts a search and selects the match at or before a position.
func (m *Mode) find(pattern string, isRegexp bool, from page.Pos) {
	m.search = page.NewSearch(&m.page, pattern, isRegexp)
	m.search.SelectNear(from)
	m.step(0)
}

// step moves to another match.
func (m *Mode) step(by int) bool {
	if m.search == nil {
		return false
	}
	match, ok := m.search.Step(by)
	if ok {
		m.cursor = m.page.Clamp(match.From)
		m.reveal(m.cursor.Row, true)
	}
	return ok
}

// toggleSelection starts a selection at the cursor, changes its unit, or ends it.
func (m *Mode) toggleSelection(unit page.Unit) {
	switch {
	case m.sel == nil:
		m.sel = &page.Selection{Anchor: m.cursor, Head: m.cursor, Unit: unit}
	case m.sel.Unit == unit:
		m.sel = nil
	default:
		m.sel.Unit = unit
	}
}

// mark starts a selection that ends before the cursor.
func (m *Mode) mark() { m.sel = &page.Selection{Anchor: m.cursor, Head: m.cursor, Open: true} }

// selectLabel returns the label of the key that starts a selection.
func selectLabel(keys *keymap.Map) string {
	if label := keys.ScrollLabel("scroll-select"); label != "" {
		return label
	}
	return keys.ScrollLabel("scroll-mark")
}

// command moves to the previous (-1) or next (1) place where a command was typed.
func (m *Mode) command(by int) bool {
	for i := range m.places {
		at := m.places[i]
		if by < 0 {
			at = m.places[len(m.places)-1-i]
		}
		if by < 0 && at.Row < m.cursor.Row || by > 0 && at.Row > m.cursor.Row {
			m.cursor = m.page.Clamp(page.Pos{Row: at.Row})
			m.top = min(max(at.Row-1, m.page.First), m.bottom())
			return true
		}
	}
	return false
}

// commandAt returns the number of the command whose output is at the cursor, or 0.
func (m *Mode) commandAt() int {
	n := 0
	for _, at := range m.places {
		if at.Row <= m.cursor.Row {
			n = at.N
		}
	}
	return n
}

// Hint returns the hint about keys for the status bar.
func (m *Mode) Hint(keys *keymap.Map) string {
	key := keys.ScrollLabel
	switch {
	case !m.hasCursor:
		return " copy mode; type or press Escape to leave"
	case m.jump.waiting:
		return " jump to which character? Escape cancels"
	case m.count > 0:
		return fmt.Sprintf(" %d times …", m.count)
	case m.search != nil && m.search.Pattern != "":
		return fmt.Sprintf(" %s %s  %s %s  %s search  %s back", m.search.Pattern, m.search.Count(),
			key("scroll-match-up"), key("scroll-match-down"), key("scroll-search"), key("scroll-leave"))
	case m.sel != nil:
		return fmt.Sprintf(" %s copies  Escape ends the selection", key("scroll-copy"))
	}
	return fmt.Sprintf(" %s search  %s select  %s copy  %s %s commands  %s copy output  %s back", key("scroll-search"), selectLabel(keys),
		key("scroll-copy"), key("scroll-command-up"), key("scroll-command-down"), key("scroll-copy-output"), key("scroll-leave"))
}
