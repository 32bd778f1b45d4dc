package overlays

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/fuzzy"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Item is an entry of a list.
type Item struct {
	Key        string // identifies an item of a list that changes by itself, to keep it chosen; may be ""
	Name       string // text in a separate column, also searched
	Text       string // text that is shown and searched
	Extra      string // shown on the right
	ExtraColor tcell.Color
	Names      string // further words to search, not shown
	EnterHint  string // action of Enter, if items differ
	Sign       string
	Color      tcell.Color // colour of the sign
	Session    string      // session to preview; "" means none
	Below      string      // shown below the list while it is chosen; may be ""
	Do         func()      // action of the item
}

// nameGap separates the columns in the searched text.
const nameGap = "  "

func (it *Item) searchItem() fuzzy.Item {
	text := it.Text
	if it.Name != "" {
		text = it.Name + nameGap + it.Text
	}
	return fuzzy.Item{Text: text, Names: it.Names}
}

// VisibleSessions returns the sessions of at most most visible hits.
func (l *List) VisibleSessions(most int) (ids []string) {
	l.refresh()
	shown := l.area.H
	if shown < 1 { // it was not drawn yet
		shown = most
	}
	for i := l.first; i < min(len(l.hits), l.first+shown) && len(ids) < most; i++ {
		if id := l.all[l.hits[i].Index].Session; id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// List is a panel to choose from: typing searches, Enter runs the chosen item.
type List struct {
	Title string
	Items func() []Item // called before every drawing and key
	// returns the item for the typed line itself, which comes first, or nil; found: some items match; may be nil
	ItemForLine func(line string, found bool) *Item
	Preview     bool // show the chosen session next to the list
	Wide        bool // use most of the terminal
	Grouped     bool // show a name only where it differs from the one above
	// Places is set if names are file positions, whose end matters: they get half of the width.
	Places bool
	Empty  string                                             // shown for an empty list
	Hint   string                                             // hint about keys, in place of that about Enter
	OnKey  func(k input.Key, it *Item) (r Result, taken bool) // handles further keys; may be nil
	line   line
	chosen int // index of hits
	first  int // hit shown first
	all    []Item
	hits   []fuzzy.Hit
	area   layout.Rect // area of the hits, as last drawn
	// lost is set if the chosen item has left the list since it was drawn: a key was not meant for the one at its place.
	lost bool
}

func (l *List) refresh() {
	key := ""
	if it := l.choice(); it != nil {
		key = it.Key
	}
	defer func() {
		if key == "" {
			return
		}
		if at := slices.IndexFunc(l.hits, func(h fuzzy.Hit) bool { return l.all[h.Index].Key == key }); at >= 0 {
			l.chosen = at
		} else {
			l.lost = true
		}
	}()
	l.all = l.Items()
	texts := make([]fuzzy.Item, len(l.all))
	for i := range l.all {
		texts[i] = l.all[i].searchItem()
	}
	l.hits = fuzzy.Find(l.line.String(), texts)
	if l.ItemForLine != nil {
		if it := l.ItemForLine(l.line.String(), len(l.hits) > 0); it != nil {
			l.all = append(l.all, *it)
			l.hits = slices.Insert(l.hits, 0, fuzzy.Hit{Index: len(l.all) - 1})
		}
	}
	l.chosen = max(0, min(l.chosen, len(l.hits)-1))
}

// choice returns the chosen item, or nil.
func (l *List) choice() *Item {
	if l.chosen >= len(l.hits) {
		return nil
	}
	return &l.all[l.hits[l.chosen].Index]
}

// Key chooses an item, or edits the search text.
func (l *List) Key(k input.Key) Result {
	l.refresh() // several keys may have come since it was drawn
	ctrl := k.Mods&input.Ctrl != 0
	if l.OnKey != nil && !l.lost {
		if r, taken := l.OnKey(k, l.choice()); taken {
			return r
		}
	}
	switch {
	case k.Code == input.KeyEscape || ctrl && (k.Code == 'c' || k.Code == 'g'):
		return closed
	case k.Code == input.KeyEnter:
		return l.take()
	case k.Code == input.KeyUp || ctrl && (k.Code == 'p' || k.Code == 'k') || k.Code == input.KeyTab && k.Mods&input.Shift != 0:
		l.step(-1)
	case k.Code == input.KeyDown || ctrl && (k.Code == 'n' || k.Code == 'j') || k.Code == input.KeyTab:
		l.step(1)
	case k.Code == input.KeyPageUp:
		l.chosen = max(0, l.chosen-l.area.H)
	case k.Code == input.KeyPageDown:
		l.chosen = max(0, min(len(l.hits)-1, l.chosen+l.area.H))
	case l.line.edit(k):
		l.chosen, l.hits = 0, nil
	}
	return Result{}
}

func (l *List) step(by int) {
	if n := len(l.hits); n > 0 {
		l.chosen = (l.chosen + by + n) % n
	}
}

func (l *List) take() Result {
	if l.lost {
		return Result{}
	}
	if it := l.choice(); it != nil {
		return Result{Close: true, Then: it.Do}
	}
	return closed
}

// Paste adds to the search text.
func (l *List) Paste(text string) Result {
	l.line.insert(text)
	l.chosen, l.hits = 0, nil
	return Result{}
}

// Mouse chooses the clicked item. A click outside of the list closes it.
func (l *List) Mouse(e *tcell.EventMouse, held tcell.ButtonMask) Result {
	x, y := e.Position()
	switch b := e.Buttons(); {
	case b&tcell.WheelUp != 0:
		l.chosen = max(0, l.chosen-1)
	case b&tcell.WheelDown != 0:
		l.chosen = max(0, min(len(l.hits)-1, l.chosen+1))
	case b&tcell.ButtonPrimary == 0 || held != 0:
	case !l.area.Contains(x, y):
		return closed
	case l.first+y-l.area.Y < len(l.hits):
		l.chosen = l.first + y - l.area.Y
		return l.take()
	}
	return Result{}
}

// Sizes of a list, in cells.
const (
	listWidth       = 76
	namedWidth      = 96 // width with a column of names
	listHeight      = 20
	previewFrom     = 70 // smallest terminal width for a preview
	previewMinWidth = 30
	maxName         = 24
	belowHeight     = 4 // rows of the chosen item's text
)

// Draw draws the list around the chosen item, as far as it fits.
func (l *List) Draw(s *Screen) {
	l.refresh()
	l.lost = false
	cols, rows := s.Canvas.Size()
	w, h := listWidth, min(listHeight, rows-3)
	names := l.nameWidth()
	if names > 0 {
		w = namedWidth
	}
	previewed := l.Preview && cols >= previewFrom && rows > 10
	if previewed || l.Wide {
		w, h = max(previewFrom, cols*4/5), max(10, rows*3/4)
	}
	if l.Wide && previewed {
		l.drawSplit(s, w, h)
		return
	}
	box := s.box(w, max(h, 2), fmt.Sprintf("%s  %d", l.Title, len(l.hits)))
	inner := layout.Rect{X: box.X, Y: box.Y + 1, W: box.W, H: max(0, box.H-1)}
	if previewed {
		inner.W = max(previewMinWidth, box.W*2/5)
	}
	l.drawQuery(s, layout.Rect{X: box.X, Y: box.Y, W: box.W, H: 1})
	if it := l.choice(); it != nil && it.Below != "" && inner.H > 2*belowHeight {
		inner.H -= belowHeight + 1
		s.drawBelow(layout.Rect{X: inner.X, Y: inner.Y + inner.H, W: inner.W, H: belowHeight + 1}, it.Below)
	}
	l.drawHits(s, inner)
	if previewed {
		side := layout.Rect{X: inner.X + inner.W + 1, Y: inner.Y, W: box.W - inner.W - 1, H: inner.H}
		for y := range side.H {
			s.Canvas.Sign(side.X-1, side.Y+y, "│", s.Theme.PanelEdge)
		}
		id := ""
		if it := l.choice(); it != nil {
			id = it.Session
		}
		s.Preview(side, id)
	}
}

// drawBelow draws a line and below it the text of the chosen item.
func (s *Screen) drawBelow(at layout.Rect, text string) {
	for x := range at.W {
		s.Canvas.Sign(at.X+x, at.Y, "─", s.Theme.PanelEdge)
	}
	for i, row := range wrap(text, at.W-2) {
		if i+1 < at.H {
			s.Canvas.Text(at.X+1, at.Y+1+i, at.W-2, row, s.Theme.Panel)
		}
	}
}

// drawSplit draws the list over the whole width, and the chosen session's screen below it.
func (l *List) drawSplit(s *Screen, w, h int) {
	cols, rows := s.Canvas.Size()
	box := s.box(max(w, cols-8), max(h, rows-6), fmt.Sprintf("%s  %d", l.Title, len(l.hits)))
	l.drawQuery(s, layout.Rect{X: box.X, Y: box.Y, W: box.W, H: 1})
	high := min(max(len(l.all), 1), (box.H-2)/2)
	l.drawHits(s, layout.Rect{X: box.X, Y: box.Y + 1, W: box.W, H: high})
	side := layout.Rect{X: box.X + 1, Y: box.Y + high + 2, W: box.W - 2, H: box.H - high - 2}
	for x := range box.W {
		s.Canvas.Sign(box.X+x, side.Y-1, "─", s.Theme.PanelEdge)
	}
	id := ""
	if it := l.choice(); it != nil {
		id = it.Session
	}
	s.Preview(side, id)
}

// drawHits draws the visible hits.
func (l *List) drawHits(s *Screen, at layout.Rect) {
	l.area = at
	l.first = max(0, min(max(l.first, l.chosen-at.H+1), l.chosen))
	names := min(l.nameWidth(), at.W/3)
	if l.Places {
		names = min(l.nameWidth(), at.W/2)
	}
	for i := range at.H {
		if l.first+i < len(l.hits) {
			l.drawItem(s, layout.Rect{X: at.X, Y: at.Y + i, W: at.W, H: 1}, l.first+i, names)
		}
	}
	switch {
	case at.H < 1 || len(l.hits) > 0:
	case len(l.all) > 0:
		s.Canvas.Text(at.X+3, at.Y, at.W-3, "no matches", s.Theme.PanelDim)
	case l.Empty != "":
		s.Canvas.Text(at.X+3, at.Y, at.W-3, cut(l.Empty, at.W-3), s.Theme.PanelDim)
	}
}

// nameWidth returns the width of the name column; 0 without names.
func (l *List) nameWidth() (w int) {
	for i := range l.all {
		w = max(w, canvas.TextWidth(l.all[i].Name))
	}
	return min(w, maxName)
}

// drawQuery draws the search text, with its end visible.
func (l *List) drawQuery(s *Screen, at layout.Rect) {
	th := s.Theme
	text, before := l.line.String(), string(l.line.text[:l.line.at])
	n := canvas.OverflowBytes(before, at.W-4)
	before, text = before[n:], text[n:]
	s.Canvas.Text(at.X, at.Y, at.W, " › "+text, th.PanelKey)
	if len(l.line.text) == 0 {
		s.Canvas.Text(at.X+3, at.Y, at.W-3, firstThatFits(at.W-3, hintsOf(l)...), th.PanelDim)
	} else if it := l.choice(); it != nil && it.EnterHint != "" {
		if n := canvas.TextWidth(it.EnterHint) + 1; n < at.W-6-canvas.TextWidth(text) {
			s.Canvas.Text(at.X+at.W-n, at.Y, n, it.EnterHint, th.PanelDim)
		}
	}
	s.Canvas.ShowCursor(min(at.X+3+canvas.TextWidth(before), at.X+at.W-1), at.Y, tcell.CursorStyleDefault)
}

// hintsOf returns the hints about keys, the longest first.
func hintsOf(l *List) []string {
	if it := l.choice(); it != nil && it.EnterHint != "" {
		return []string{"type to find  ↑↓ choose  " + it.EnterHint + "  Ctrl-Y copies  Esc closes", it.EnterHint + "  Esc closes", "type to find"}
	}
	if l.Hint != "" {
		return []string{"type to find  ↑↓ choose  " + l.Hint + "  Esc closes", l.Hint + "  Esc closes", "type to find"}
	}
	return []string{"type to find  ↑↓ choose  Enter selects  Esc closes", "type to find  Enter selects", "type to find"}
}

// firstThatFits returns the first text that fits into w columns, or "".
func firstThatFits(w int, texts ...string) string {
	for _, t := range texts {
		if canvas.TextWidth(t) <= w {
			return t
		}
	}
	return ""
}

// drawItem draws a hit: sign, name, text, and the note on the right.
func (l *List) drawItem(s *Screen, at layout.Rect, n, names int) {
	hit := l.hits[n]
	it := &l.all[hit.Index]
	th := s.Theme
	base, dim, match := th.Panel, th.PanelDim, th.PanelMatch
	if n == l.chosen {
		base, dim, match = th.PanelSelected, th.PanelSelected, th.PanelSelected.Underline(true)
	}
	s.Canvas.Fill(at.X, at.Y, at.W, base)
	sign := base
	if n != l.chosen {
		sign = th.On(base, it.Color)
	}
	s.Canvas.Text(at.X+1, at.Y, 2, it.Sign, sign)
	extra := cut(it.Extra, max(0, at.W/2))
	room := at.W - 4 - canvas.TextWidth(extra) - 1
	x := at.X + 3
	if it.Name != "" && names > 0 {
		name := it.Name
		if l.Grouped && n > l.first && l.all[l.hits[n-1].Index].Name == name {
			name = ""
		}
		skip := 0
		if l.Places {
			name, skip = endOf(name, min(names, room))
		}
		l.drawMatched(s, layout.Rect{X: x, Y: at.Y, W: min(names, room), H: 1}, name, &hit.At, skip, base.Bold(true), match)
		x, room = x+names+len(nameGap), room-names-len(nameGap)
		skip = utf8.RuneCountInString(it.Name + nameGap)
		l.drawMatched(s, layout.Rect{X: x, Y: at.Y, W: room, H: 1}, it.Text, &hit.At, skip, base, match)
	} else {
		l.drawMatched(s, layout.Rect{X: x, Y: at.Y, W: room, H: 1}, it.Text, &hit.At, 0, base, match)
	}
	if n != l.chosen {
		dim = th.On(dim, it.ExtraColor)
	}
	s.Canvas.Text(at.X+at.W-canvas.TextWidth(extra)-1, at.Y, canvas.TextWidth(extra), extra, dim)
}

// endOf returns the end of a text that fits w columns, with "…" for the omitted part, and the index of the character
// that "…" replaces.
func endOf(text string, w int) (string, int) {
	n := canvas.OverflowBytes(text, w)
	if n == 0 {
		return text, 0
	}
	n = canvas.OverflowBytes(text, w-1)
	return "…" + text[n:], max(0, utf8.RuneCountInString(text[:n])-1)
}

// drawMatched draws a text with its matching characters highlighted. found holds their indices plus skip.
func (l *List) drawMatched(s *Screen, at layout.Rect, text string, found *[]int, skip int, base, match tcell.Style) {
	text = canvas.Printable(text)
	shown := []rune(cut(text, at.W))
	x := 0
	for i, r := range shown {
		st := base
		for len(*found) > 0 && (*found)[0] < skip+i {
			*found = (*found)[1:]
		}
		if len(*found) > 0 && (*found)[0] == skip+i && (r != '…' || i < len(shown)-1) {
			st = match
		}
		if w := canvas.TextWidth(string(r)); w > 0 {
			s.Canvas.Text(at.X+x, at.Y, w, string(r), st)
			x += w
		}
	}
	for n := skip + utf8.RuneCountInString(text); len(*found) > 0 && (*found)[0] < n; {
		*found = (*found)[1:]
	}
}
