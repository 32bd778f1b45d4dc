package copymode

import (
	"fmt"
	"slices"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/page"
)

// Mode is copy mode of one pane: rows that stand still while the session goes on. It ends
// with Leave, and cannot begin again.
type Mode struct {
	host    Host
	history History // nil: there is none
	session string

	left    bool // the person is back at the live screen
	changed bool // something else has to be drawn

	page    page.Page
	loaded  bool     // history was fetched, as far as the page goes
	asked   bool     // it is being fetched
	waiting []func() // to run when that has come
	top     int      // row shown first
	height  int      // rows shown
	owed    int      // rows to go up when older ones have come
	cursor  page.Pos
	count   int  // how often the next motion is to be done, as far as it was typed; 0: nothing was
	jump    jump // to a character, as it was asked for last
	keys    bool // the keyboard moves a cursor; else the next key goes to the session
	sel     *page.Selection
	// passing: text was selected on the live screen; what is printed next ends copy mode.
	passing  bool
	search   *page.Search
	origin   page.Pos // where the search began
	started  int      // top then
	typed    bool     // the commands are known
	commands []page.Command
	places   []page.Place
}

// New begins at what a pane of some rows shows of a session's screen, from row top on.
// History, which may be nil, comes later.
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

// Leave shows the live screen again.
func (m *Mode) Leave() { m.left = true }

// Left reports that the live screen is shown again.
func (m *Mode) Left() bool { return m.left }

// Changed reports whether something else has to be drawn since the last call.
func (m *Mode) Changed() bool {
	changed := m.changed
	m.changed = false
	return changed
}

// UseKeys puts the keyboard on a cursor.
func (m *Mode) UseKeys() {
	m.keys = true
	m.cursor.Row = min(max(m.cursor.Row, m.top), m.top+m.height-1)
	m.cursor = m.page.Clamp(m.cursor)
}

// Passing reports that text was selected on the live screen: what is printed next ends it.
func (m *Mode) Passing() bool { return m.passing }

// StandsStill reports that the live screen is not what is shown; a nil Mode does not.
func (m *Mode) StandsStill() bool { return m != nil && !m.passing }

// Loaded reports whether history was fetched.
func (m *Mode) Loaded() bool { return m.loaded }

// Line is the line in a row of the pane, from 0; nil: there is none.
func (m *Mode) Line(i int) *render.Line { return m.page.Line(m.top + i) }

// Resize shows another number of rows.
func (m *Mode) Resize(height int) {
	m.height = height
	m.top = min(m.top, m.bottom())
}

// bottom is the last row that top may be.
func (m *Mode) bottom() int { return max(m.page.First, m.page.End()-m.height) }

// atEnd reports that the newest row is in sight.
func (m *Mode) atEnd() bool { return m.top >= m.bottom() }

// idle reports that only the newest rows are shown, without a cursor or a selection.
func (m *Mode) idle() bool { return m.atEnd() && !m.keys && m.sel == nil }

// scroll moves what is shown by some rows; what cannot be shown yet is owed.
func (m *Mode) scroll(by int) {
	want := m.top + by
	m.top = min(max(want, m.page.First), m.bottom())
	if !m.loaded && want < m.page.First {
		m.owed += m.page.First - want
	}
	if by > 0 {
		m.owed = 0
	}
	if m.keys {
		m.cursor.Row = min(max(m.cursor.Row, m.top), m.top+m.height-1)
		m.cursor = m.page.Clamp(m.cursor)
	}
}

// move puts the cursor somewhere and shows it; a selection follows.
func (m *Mode) move(to page.Pos) {
	m.cursor = m.page.Clamp(to)
	m.reveal(m.cursor.Row, false)
	if m.sel != nil {
		m.sel.Head = m.cursor
	}
}

// reveal scrolls so that a row is in sight, with rows around it when it was not.
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

// tail puts history before what is shown. The session may have printed in between: rows
// keep their places by what stands in them.
func (m *Mode) tail(p page.Page) {
	rows := len(m.page.Lines)
	start := p.End() - rows // where the old page's first row is now, if nothing was printed
	for back := 0; back <= min(start-p.First, 500); back++ {
		if sameText(p.Lines[start-back-p.First:], m.page.Lines) {
			start -= back
			break
		}
	}
	shift := start - m.page.First
	m.page, m.loaded, m.asked = p, true, false
	m.top += shift
	m.cursor.Row += shift
	m.origin.Row += shift
	m.started += shift
	if m.sel != nil {
		m.sel.Anchor.Row += shift
		m.sel.Head.Row += shift
	}
	m.payOwed()
	if m.search != nil {
		m.find(m.search.Pattern, m.search.Regexp, m.origin)
	}
}

// older puts rows before the first one.
func (m *Mode) older(lines []render.Line) {
	m.asked = false
	m.page.Prepend(lines)
	if m.search != nil {
		m.search.Older(&m.page, len(lines))
		if m.search.Current < 0 && len(m.search.Matches) > 0 {
			m.search.Near(m.origin)
			m.step(0)
		}
	}
	if m.typed {
		m.places = page.Commands(&m.page, m.commands)
	}
	m.payOwed()
}

// payOwed goes up by what is owed.
func (m *Mode) payOwed() {
	owed := m.owed
	m.owed = 0
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

// find searches anew and goes to the match at or before a position.
func (m *Mode) find(pattern string, isRegexp bool, from page.Pos) {
	m.search = page.NewSearch(&m.page, pattern, isRegexp)
	m.search.Near(from)
	m.step(0)
}

// step goes to another match.
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

// selecting begins a selection at the cursor, changes its unit, or ends it.
func (m *Mode) selecting(unit page.Unit) {
	switch {
	case m.sel == nil:
		m.sel = &page.Selection{Anchor: m.cursor, Head: m.cursor, Unit: unit}
	case m.sel.Unit == unit:
		m.sel = nil
	default:
		m.sel.Unit = unit
	}
}

// mark begins a selection that ends before the cursor.
func (m *Mode) mark() { m.sel = &page.Selection{Anchor: m.cursor, Head: m.cursor, Open: true} }

// selectLabel is the key that begins a selection.
func selectLabel(keys *keymap.Map) string {
	if label := keys.ScrollLabel("scroll-select"); label != "" {
		return label
	}
	return keys.ScrollLabel("scroll-mark")
}

// command goes to the place where a command was typed, before (-1) or after (1) the
// cursor.
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

// commandAt is the number of the command whose output the cursor is in; 0: unknown.
func (m *Mode) commandAt() int {
	n := 0
	for _, at := range m.places {
		if at.Row <= m.cursor.Row {
			n = at.N
		}
	}
	return n
}

// Hint says what the keys do.
func (m *Mode) Hint(keys *keymap.Map) string {
	key := keys.ScrollLabel
	switch {
	case !m.keys:
		return " copy mode; typing or Escape: back to the present"
	case m.jump.asks:
		return " which character? Escape: none"
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
