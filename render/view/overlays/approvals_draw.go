package overlays

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/statusbar"
)

// Sizes of the panel, in cells.
const (
	approvalsWidth  = 78
	approvalsHeight = 20
	narrowPanel     = 40
	roomyPanel      = 8 // rows below the title from which each answer has its own row
)

// Draw draws the approval that is shown: what it is about, as far as there is room, above the answers.
func (p *Approvals) Draw(s *Screen) {
	p.refresh()
	th := s.Theme
	cols, rows := s.Canvas.Size()
	w := min(approvalsWidth, cols)
	// a constant size, so that the panes below are not redrawn
	inner := s.box(w, min(approvalsHeight, max(2, rows-1))-1, p.title(w))
	w = inner.W
	foot := p.footRows(inner.H)
	text := p.text(w-2, foot == 1)
	s.Canvas.HideCursor()
	p.visibleRows = max(0, inner.H-foot)
	if p.rowsBelow = len(text) - p.visibleRows; p.rowsBelow > 0 && p.visibleRows > 1 {
		p.visibleRows-- // for the row of the marker
	}
	p.first = min(p.first, max(0, len(text)-p.visibleRows))
	p.rowsBelow = max(0, len(text)-p.visibleRows-p.first)
	for y := range min(p.visibleRows, len(text)) {
		r := text[p.first+y]
		st := th.Panel
		if p.first+y < p.whatRows(w-2) {
			st = st.Bold(true)
		}
		s.Canvas.Text(inner.X+1, inner.Y+y, inner.W-1, r, st)
	}
	y := inner.Y + inner.H - foot
	if p.visibleRows > 0 && (p.rowsBelow > 0 || p.first > 0) && y-inner.Y > p.visibleRows {
		s.Canvas.Text(inner.X+1, y-1, inner.W-1, statusbar.Cut(fmt.Sprintf("… %d more rows: PageDown", p.rowsBelow), inner.W-1), th.PanelKey)
	}
	p.drawFoot(s, layout.Rect{X: inner.X, Y: y, W: inner.W, H: foot})
	p.seenID, p.seenGroup = p.shown.ID, nil
	for i := range p.all {
		if p.all[i].Group == p.shown.Group {
			p.seenGroup = append(p.seenGroup, p.all[i].ID)
		}
	}
}

func (p *Approvals) title(w int) string {
	if p.shown.ID == "" {
		return "Approvals"
	}
	if w < narrowPanel {
		return fmt.Sprintf("%s %s %d/%d", p.shown.ID, p.shown.Risk, p.index+1, max(len(p.all), 1))
	}
	t := "Approval " + p.shown.ID
	if n := len(p.all); n > 1 && !p.ended {
		t += fmt.Sprintf("  %d of %d", p.index+1, n)
	}
	if p.shown.Count > 1 {
		t += fmt.Sprintf("  requested %d times", p.shown.Count)
	}
	if p.shown.Risk != "" {
		t += "  " + p.shown.Risk + " risk"
	}
	return t
}

// footRows returns how many of the rows answers and hints use.
func (p *Approvals) footRows(of int) int {
	switch {
	case of < roomyPanel:
		return 1
	case p.ended || p.shown.ID == "":
		return 2
	case p.line != nil:
		return 3
	}
	return 2 + len(replies)
}

// text returns the description in rows of a width. brief means that the answers have no rows.
func (p *Approvals) text(w int, brief bool) (rows []string) {
	if p.shown.ID == "" {
		return []string{"No pending approvals."}
	}
	for _, r := range p.about() {
		if r == "" && w < narrowPanel {
			continue
		}
		rows = append(rows, wrap(r, w)...)
	}
	for i := range replies { // notes that do not fit their answer's row go here
		if note := p.note(i); note != "" && !p.ended && (brief || canvas.TextWidth(p.label(i)+": "+visible(note)) > w) {
			rows = append(rows, wrap(fmt.Sprintf("%d %s: %s", i+1, replies[i].label, note), w)...)
		}
	}
	return rows
}

// whatRows returns the number of rows of the command itself.
func (p *Approvals) whatRows(w int) int { return len(wrap(p.shown.What, w)) }

func (p *Approvals) drawFoot(s *Screen, at layout.Rect) {
	th := s.Theme
	put := func(y int, text string, st tcell.Style) { s.Canvas.Text(at.X, at.Y+y, at.W, " "+text, st) }
	p.area = panelArea{}
	last := at.H - 1
	switch {
	case p.shown.ID == "":
		put(last, "any key closes", th.PanelKey)
	case p.ended:
		how := p.Outcome(p.shown.ID)
		if how == "" {
			how = "no longer pending"
		}
		put(last, how+"; press any key", th.PanelKey)
	case p.line != nil:
		p.drawLine(s, at)
	case at.H == 1:
		p.drawBrief(s, at)
	default:
		for i := range replies {
			p.drawReply(s, layout.Rect{X: at.X, Y: at.Y + 1 + i, W: at.W, H: 1}, i)
		}
		p.area = panelArea{at.X, at.Y + 1, at.W, len(replies)}
		put(last, truncateGroups(p.hint(), at.W-1), th.PanelKey)
	}
}

// hint returns the available keys.
func (p *Approvals) hint() string {
	h := "↑↓ Enter or 1-4: answer  Esc: later"
	if len(p.all) > 1 {
		h += "  ←→: others"
	}
	switch n := p.groupSize(); {
	case p.forGroup:
		h += "  a: only this one"
	case n > 1:
		h += fmt.Sprintf("  a: all %d like this", n)
	}
	return h
}

// drawReply draws an answer with what it would allow.
func (p *Approvals) drawReply(s *Screen, at layout.Rect, i int) {
	th := s.Theme
	st, dim, mark := th.Panel, th.PanelDim, " "
	if i == p.choice {
		st, dim, mark = th.PanelSelected, th.PanelSelected, "▸"
	}
	if p.unavailableReason(i) != "" {
		st = dim
	}
	label, note := " "+mark+p.label(i), p.note(i)
	s.Canvas.Fill(at.X, at.Y, at.W, st)
	n := min(at.W, canvas.TextWidth(label))
	s.Canvas.Text(at.X, at.Y, n, label, st)
	if note != "" && at.W > n+2 {
		s.Canvas.Text(at.X+n, at.Y, at.W-n, statusbar.Cut(": "+visible(note), at.W-n), dim)
	}
}

// label returns an answer as its row shows it.
func (p *Approvals) label(i int) string {
	label := fmt.Sprintf(" %d %s", i+1, replies[i].label)
	if p.forGroup {
		label += fmt.Sprintf(", to all %d", p.groupSize())
	}
	return label
}

// note returns what an answer would allow, or why it is unavailable.
func (p *Approvals) note(i int) string {
	switch {
	case p.unavailableReason(i) != "":
		return p.unavailableReason(i)
	case i == 1 && p.forGroup:
		return "each for its command"
	case i == 1:
		return strings.Join(p.shown.Covers, ", ")
	case i == replyAlways:
		return p.shown.Rule
	}
	return ""
}

// drawBrief draws the answers in one row.
func (p *Approvals) drawBrief(s *Screen, at layout.Rect) {
	x := at.X
	s.Canvas.Fill(at.X, at.Y, at.W, s.Theme.Panel)
	for i := range replies {
		label := fmt.Sprintf("%d%s", i+1, replies[i].brief)
		if at.W < narrowPanel {
			label = fmt.Sprintf("%d%.3s", i+1, replies[i].brief)
		}
		st := s.Theme.PanelKey
		if i == p.choice {
			st = s.Theme.PanelSelected
		}
		n := min(canvas.TextWidth(label), at.X+at.W-x)
		if n <= 0 {
			return
		}
		s.Canvas.Text(x, at.Y, n, label, st)
		x += n + 1
	}
}

// drawLine draws the rule or reason being typed, with its cursor visible.
func (p *Approvals) drawLine(s *Screen, at layout.Rect) {
	th := s.Theme
	label, hint := " rule: ", " Enter: allow by this rule  Esc: back"
	if p.choice == replyReject {
		label, hint = " why not? ", " Enter: reject  Esc: back"
	}
	y := at.Y
	if at.H > 1 {
		y++
		s.Canvas.Text(at.X, at.Y+at.H-1, at.W, truncateGroups(hint, at.W), th.PanelKey)
	}
	if at.W < narrowPanel {
		label = label[:strings.IndexAny(label, ":?")+1]
	}
	n := canvas.TextWidth(label)
	room := max(1, at.W-n-1)
	text, before := p.line.String(), string(p.line.text[:p.line.at])
	if hidden := canvas.OverflowBytes(before, room-1); hidden > 0 {
		hidden = canvas.OverflowBytes(before, room-2)
		before, text = "…"+before[hidden:], "…"+text[hidden:]
	}
	s.Canvas.Text(at.X, y, n, label, th.PanelKey)
	s.Canvas.Text(at.X+n, y, at.W-n, text, th.Panel)
	s.Canvas.ShowCursor(min(at.X+at.W-1, at.X+n+canvas.TextWidth(before)), y, tcell.CursorStyleDefault)
}

// truncateGroups returns a hint truncated to a width at the end of a group of keys.
func truncateGroups(hint string, w int) string {
	for canvas.TextWidth(hint) > w {
		i := strings.LastIndex(hint, "  ")
		if i <= 0 {
			return statusbar.Cut(hint, w)
		}
		hint = hint[:i]
	}
	return hint
}

// wrap breaks a text into rows of a width, at newlines and wherever a row is full: no character of a command may be
// invisible.
func wrap(text string, w int) (rows []string) {
	w = max(w, 2)
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		var b strings.Builder
		at := 0
		for _, r := range visible(l) {
			n := canvas.TextWidth(string(r))
			if at+n > w {
				rows = append(rows, b.String())
				b.Reset()
				at = 0
			}
			b.WriteRune(r)
			at += n
		}
		rows = append(rows, b.String())
	}
	return rows
}

// visible replaces invisible and deceptive characters by their names: control characters, and those that change the
// text direction or have no width.
func visible(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
