package view

import (
	"fmt"
	"slices"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/page"
)

// look is a person looking back: rows that stand still while the session goes on.
type look struct {
	page   page.Page
	loaded bool // history was fetched, as far as the page goes
	asked  bool // it is being fetched
	top    int  // row shown first
	height int  // rows shown
	owed   int  // rows to go up when older ones have come
	cursor page.Pos
	keys   bool // the keyboard moves a cursor; else the next key goes to the session
	sel    *page.Selection
	// passing: text was selected on the live screen; what is printed next ends the look.
	passing  bool
	search   *page.Search
	origin   page.Pos // where the search began
	started  int      // top then
	typed    bool     // the commands are known
	commands []page.Command
	places   []page.Place
}

// newLook begins at what the pane shows. History comes later.
func newLook(p *pane) *look {
	l := &look{
		page:   page.Page{Lines: slices.Clone(p.screen.Lines), Cols: p.screen.Cols},
		top:    p.top,
		cursor: page.Pos{Row: p.screen.Cursor.Y, Col: p.screen.Cursor.X},
		height: p.inner().H,
	}
	l.cursor = l.page.Clamp(l.cursor)
	return l
}

// standsStill reports that the screen is not what is shown.
func (l *look) standsStill() bool { return l != nil && !l.passing }

func (l *look) resize(in layout.Rect) {
	if l != nil {
		l.height = in.H
		l.top = min(l.top, l.bottom())
	}
}

// bottom is the last row that top may be.
func (l *look) bottom() int { return max(l.page.First, l.page.End()-l.height) }

// atEnd reports that the newest row is in sight.
func (l *look) atEnd() bool { return l.top >= l.bottom() }

// idle reports that the person looks at nothing but the newest rows.
func (l *look) idle() bool { return l.atEnd() && !l.keys && l.sel == nil }

// scroll moves what is shown by some rows; what cannot be shown yet is owed.
func (l *look) scroll(by int) {
	want := l.top + by
	l.top = min(max(want, l.page.First), l.bottom())
	if !l.loaded && want < l.page.First {
		l.owed += l.page.First - want
	}
	if by > 0 {
		l.owed = 0
	}
	if l.keys {
		l.cursor.Row = min(max(l.cursor.Row, l.top), l.top+l.height-1)
		l.cursor = l.page.Clamp(l.cursor)
	}
}

// move puts the cursor somewhere and shows it; a selection follows.
func (l *look) move(to page.Pos) {
	l.cursor = l.page.Clamp(to)
	l.reveal(l.cursor.Row, false)
	if l.sel != nil {
		l.sel.Head = l.cursor
	}
}

// reveal scrolls so that a row is in sight, with rows around it when it was not.
func (l *look) reveal(row int, around bool) {
	switch {
	case around && (row < l.top || row >= l.top+l.height):
		l.top = row - l.height/3
	case row < l.top:
		l.top = row
	case row >= l.top+l.height:
		l.top = row - l.height + 1
	}
	l.top = min(max(l.top, l.page.First), l.bottom())
}

// tail puts history before what is shown. The session may have printed in between: rows
// keep their places by what stands in them.
func (l *look) tail(p page.Page) {
	rows := len(l.page.Lines)
	start := p.End() - rows // where the old page's first row is now, if nothing was printed
	for back := 0; back <= min(start-p.First, 500); back++ {
		if sameText(p.Lines[start-back-p.First:], l.page.Lines) {
			start -= back
			break
		}
	}
	shift := start - l.page.First
	l.page, l.loaded, l.asked = p, true, false
	l.top += shift
	l.cursor.Row += shift
	l.origin.Row += shift
	l.started += shift
	if l.sel != nil {
		l.sel.Anchor.Row += shift
		l.sel.Head.Row += shift
	}
	l.settle()
	if l.search != nil {
		l.find(l.search.Pattern, l.search.Regexp, l.origin)
	}
}

// older puts rows before the first one.
func (l *look) older(lines []render.Line) {
	l.asked = false
	l.page.Prepend(lines)
	if l.search != nil {
		l.search.Older(&l.page, len(lines))
		if l.search.Current < 0 && len(l.search.Matches) > 0 {
			l.search.Near(l.origin)
			l.step(0)
		}
	}
	if l.typed {
		l.places = page.Commands(&l.page, l.commands)
	}
	l.settle()
}

// settle goes up by what is owed.
func (l *look) settle() {
	owed := l.owed
	l.owed = 0
	l.scroll(-owed)
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
func (l *look) find(pattern string, isRegexp bool, from page.Pos) {
	l.search = page.NewSearch(&l.page, pattern, isRegexp)
	l.search.Near(from)
	l.step(0)
}

// step goes to another match.
func (l *look) step(by int) bool {
	if l.search == nil {
		return false
	}
	m, ok := l.search.Step(by)
	if ok {
		l.cursor = l.page.Clamp(m.From)
		l.reveal(l.cursor.Row, true)
	}
	return ok
}

// selecting begins a selection at the cursor, changes its unit, or ends it.
func (l *look) selecting(unit page.Unit) {
	switch {
	case l.sel == nil:
		l.sel = &page.Selection{Anchor: l.cursor, Head: l.cursor, Unit: unit}
	case l.sel.Unit == unit:
		l.sel = nil
	default:
		l.sel.Unit = unit
	}
}

// command goes to the place where a command was typed, before (-1) or after (1) the
// cursor.
func (l *look) command(by int) bool {
	for i := range l.places {
		at := l.places[i]
		if by < 0 {
			at = l.places[len(l.places)-1-i]
		}
		if by < 0 && at.Row < l.cursor.Row || by > 0 && at.Row > l.cursor.Row {
			l.cursor = l.page.Clamp(page.Pos{Row: at.Row})
			l.top = min(max(at.Row-1, l.page.First), l.bottom())
			return true
		}
	}
	return false
}

// commandAt is the number of the command whose output the cursor is in; 0: unknown.
func (l *look) commandAt() int {
	n := 0
	for _, at := range l.places {
		if at.Row <= l.cursor.Row {
			n = at.N
		}
	}
	return n
}

// hint says what the keys do.
func (l *look) hint(keys *keymap.Map) string {
	key := keys.ScrollLabel
	switch {
	case !l.keys:
		return " looking back; typing or Escape: back to the present"
	case l.search != nil && l.search.Pattern != "":
		return fmt.Sprintf(" %s %s  %s %s  %s search  %s back", l.search.Pattern, l.search.Count(),
			key("scroll-match-up"), key("scroll-match-down"), key("scroll-search"), key("scroll-leave"))
	case l.sel != nil:
		return fmt.Sprintf(" %s copies  Escape ends the selection", key("scroll-copy"))
	}
	return fmt.Sprintf(" %s search  %s select  %s copy  %s %s commands  %s copy output  %s back", key("scroll-search"), key("scroll-select"),
		key("scroll-copy"), key("scroll-command-up"), key("scroll-command-down"), key("scroll-copy-output"), key("scroll-leave"))
}
