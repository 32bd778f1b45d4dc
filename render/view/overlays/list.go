package overlays

import (
	"fmt"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/fuzzy"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Item is a line of a list to choose from.
type Item struct {
	Text    string // what is shown and searched
	Extra   string // shown on the right
	Sign    string
	Color   tcell.Color // of the sign
	Session string      // id of the one to preview; empty: none
	Do      func()
}

// List is a panel to choose from: type to find, Enter takes.
type List struct {
	Title   string
	Items   func() []Item // asked for before every drawing and key
	Preview bool          // the chosen session is shown beside
	line    line
	chosen  int // index of hits
	first   int // hit shown first
	all     []Item
	hits    []fuzzy.Hit
	area    layout.Rect // of the hits, as last drawn
}

func (l *List) refresh() {
	l.all = l.Items()
	texts := make([]string, len(l.all))
	for i := range l.all {
		texts[i] = l.all[i].Text
	}
	l.hits = fuzzy.Find(l.line.String(), texts)
	l.chosen = max(0, min(l.chosen, len(l.hits)-1))
}

// choice is the chosen item.
func (l *List) choice() *Item {
	if l.chosen >= len(l.hits) {
		return nil
	}
	return &l.all[l.hits[l.chosen].Index]
}

// Key chooses, or edits what is searched.
func (l *List) Key(k input.Key) Result {
	l.refresh() // several keys may have come since it was drawn
	ctrl := k.Mods&input.Ctrl != 0
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
		l.chosen = 0
	}
	return Result{}
}

func (l *List) step(by int) {
	if n := len(l.hits); n > 0 {
		l.chosen = (l.chosen + by + n) % n
	}
}

func (l *List) take() Result {
	if it := l.choice(); it != nil {
		return Result{Close: true, Do: it.Do}
	}
	return closed
}

// Paste adds to what is searched.
func (l *List) Paste(text string) Result {
	l.line.insert(text)
	return Result{}
}

// Mouse takes what is clicked; a click beside closes the list.
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
	listHeight      = 20
	previewFrom     = 70 // columns of the terminal from which on there is a preview
	previewMinWidth = 30
)

// Draw draws the list, as far as it fits around what is chosen.
func (l *List) Draw(s *Screen) {
	l.refresh()
	cols, rows := s.Canvas.Size()
	w, h := listWidth, min(listHeight, rows-2)
	previewed := l.Preview && cols >= previewFrom && rows > 10
	if previewed {
		w, h = max(previewFrom, cols*4/5), max(10, rows*3/4)
	}
	if cols < w {
		w = cols
	}
	box := s.box(w, max(h, 3), fmt.Sprintf("%s  %d", l.Title, len(l.hits)))
	inner := layout.Rect{X: box.X, Y: box.Y + 2, W: box.W, H: box.H - 2}
	if previewed {
		inner.W = max(previewMinWidth, box.W*2/5)
	}
	l.area = inner
	th := s.Theme
	s.Canvas.Text(box.X, box.Y+1, box.W, " › "+l.line.String(), th.PanelKey)
	if len(l.line.text) == 0 {
		s.Canvas.Text(box.X+3, box.Y+1, box.W-3, "type to find · ↑↓ choose · Enter takes · Esc closes", th.PanelDim)
	}
	s.Canvas.ShowCursor(min(box.X+3+canvas.TextWidth(string(l.line.text[:l.line.at])), box.X+box.W-1), box.Y+1, tcell.CursorStyleDefault)
	l.first = min(max(l.first, l.chosen-inner.H+1), l.chosen)
	for i := range inner.H {
		if l.first+i < len(l.hits) {
			l.drawItem(s, inner, i)
		}
	}
	if previewed {
		side := layout.Rect{X: inner.X + inner.W + 1, Y: inner.Y, W: box.W - inner.W - 1, H: inner.H}
		id := ""
		if it := l.choice(); it != nil {
			id = it.Session
		}
		s.Preview(side, id)
	}
}

func (l *List) drawItem(s *Screen, in layout.Rect, i int) {
	hit := l.hits[l.first+i]
	it := &l.all[hit.Index]
	th := s.Theme
	base, dim, match := th.Panel, th.PanelDim, th.PanelMatch
	if l.first+i == l.chosen {
		base, dim, match = th.PanelSelected, th.PanelSelected, th.PanelSelected.Underline(true)
	}
	y := in.Y + i
	s.Canvas.Fill(in.X, y, in.W, base)
	sign := base
	if it.Color != tcell.ColorDefault && l.first+i != l.chosen {
		sign = base.Foreground(it.Color)
	}
	s.Canvas.Text(in.X+1, y, 2, it.Sign, sign)
	extra := min(canvas.TextWidth(it.Extra), in.W/2)
	room := in.W - 4 - extra - 1
	at := 0
	for n, r := range []rune(canvas.Printable(it.Text)) {
		w := canvas.TextWidth(string(r))
		if at+w > room {
			s.Canvas.Put(in.X+3+max(0, room-1), y, 1, "…", dim)
			break
		}
		st := base
		if len(hit.At) > 0 && hit.At[0] == n {
			st, hit.At = match, hit.At[1:]
		}
		if w > 0 {
			s.Canvas.Put(in.X+3+at, y, w, string(r), st)
		}
		at += w
	}
	s.Canvas.Text(in.X+in.W-extra-1, y, extra, it.Extra, dim)
}
