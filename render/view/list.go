package view

import (
	"fmt"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/fuzzy"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/vterm/input"
)

// item is a line of a list to choose from.
type item struct {
	text  string // what is shown and searched
	extra string // shown on the right
	sign  string
	color tcell.Color
	id    string // session to preview
	run   func(v *viewer)
}

// list is a panel to choose from: type to find, Enter takes.
type list struct {
	title   string
	items   func(v *viewer) []item // anew whenever sessions change
	preview bool
	line    []rune
	at      int
	chosen  int // index of hits
	first   int // hit shown first
	all     []item
	hits    []fuzzy.Hit
	area    layout.Rect // of the hits, as last drawn
}

func (l *list) refresh(v *viewer) {
	l.all = l.items(v)
	texts := make([]string, len(l.all))
	for i := range l.all {
		texts[i] = l.all[i].text
	}
	l.hits = fuzzy.Find(string(l.line), texts)
	l.chosen = max(0, min(l.chosen, len(l.hits)-1))
}

// choice is the chosen item.
func (l *list) choice() *item {
	if l.chosen >= len(l.hits) {
		return nil
	}
	return &l.all[l.hits[l.chosen].Index]
}

func (l *list) key(v *viewer, k input.Key) {
	l.refresh(v) // several keys may have come since it was drawn
	ctrl := k.Mods&input.Ctrl != 0
	switch {
	case k.Code == input.KeyEscape || ctrl && (k.Code == 'c' || k.Code == 'g'):
		v.closeOverlay()
	case k.Code == input.KeyEnter:
		l.take(v)
	case k.Code == input.KeyUp || ctrl && (k.Code == 'p' || k.Code == 'k') || k.Code == input.KeyTab && k.Mods&input.Shift != 0:
		l.step(-1)
	case k.Code == input.KeyDown || ctrl && (k.Code == 'n' || k.Code == 'j') || k.Code == input.KeyTab:
		l.step(1)
	case k.Code == input.KeyPageUp:
		l.chosen = max(0, l.chosen-l.area.H)
	case k.Code == input.KeyPageDown:
		l.chosen = max(0, min(len(l.hits)-1, l.chosen+l.area.H))
	case edit(&l.line, &l.at, k):
		l.chosen = 0
	}
}

func (l *list) step(by int) {
	if n := len(l.hits); n > 0 {
		l.chosen = (l.chosen + by + n) % n
	}
}

func (l *list) take(v *viewer) {
	it := l.choice()
	v.closeOverlay()
	if it != nil {
		it.run(v)
	}
}

func (l *list) paste(_ *viewer, text string) { insert(&l.line, &l.at, text) }

func (l *list) mouse(v *viewer, e *tcell.EventMouse, held tcell.ButtonMask) {
	x, y := e.Position()
	switch b := e.Buttons(); {
	case b&tcell.WheelUp != 0:
		l.chosen = max(0, l.chosen-1)
	case b&tcell.WheelDown != 0:
		l.chosen = max(0, min(len(l.hits)-1, l.chosen+1))
	case b&tcell.ButtonPrimary == 0 || held != 0:
	case !l.area.Contains(x, y):
		v.closeOverlay()
	case l.first+y-l.area.Y < len(l.hits):
		l.chosen = l.first + y - l.area.Y
		l.take(v)
	}
}

// Sizes of a list, in cells.
const (
	listWidth       = 76
	listHeight      = 20
	previewFrom     = 70 // columns of the terminal from which on there is a preview
	previewMinWidth = 30
)

func (l *list) draw(v *viewer) {
	l.refresh(v)
	cols, rows := v.canvas.Size()
	w, h := listWidth, min(listHeight, rows-2)
	previewed := l.preview && cols >= previewFrom && rows > 10
	if previewed {
		w, h = max(previewFrom, cols*4/5), max(10, rows*3/4)
	}
	if cols < w {
		w = cols
	}
	box := v.box(w, max(h, 3), fmt.Sprintf("%s  %d", l.title, len(l.hits)))
	inner := layout.Rect{X: box.X, Y: box.Y + 2, W: box.W, H: box.H - 2}
	if previewed {
		inner.W = max(previewMinWidth, box.W*2/5)
	}
	l.area = inner
	th := v.theme
	v.canvas.Text(box.X, box.Y+1, box.W, " › "+string(l.line), th.PanelKey)
	if len(l.line) == 0 {
		v.canvas.Text(box.X+3, box.Y+1, box.W-3, "type to find · ↑↓ choose · Enter takes · Esc closes", th.PanelDim)
	}
	v.canvas.ShowCursor(min(box.X+3+canvas.TextWidth(string(l.line[:l.at])), box.X+box.W-1), box.Y+1, tcell.CursorStyleDefault)
	l.first = min(max(l.first, l.chosen-inner.H+1), l.chosen)
	for i := range inner.H {
		if l.first+i < len(l.hits) {
			l.drawItem(v, inner, i)
		}
	}
	if previewed {
		side := layout.Rect{X: inner.X + inner.W + 1, Y: inner.Y, W: box.W - inner.W - 1, H: inner.H}
		id := ""
		if it := l.choice(); it != nil {
			id = it.id
		}
		v.drawPreview(side, id)
	}
}

func (l *list) drawItem(v *viewer, in layout.Rect, i int) {
	hit := l.hits[l.first+i]
	it := &l.all[hit.Index]
	th := v.theme
	base, dim, match := th.Panel, th.PanelDim, th.PanelMatch
	if l.first+i == l.chosen {
		base, dim, match = th.PanelSelected, th.PanelSelected, th.PanelSelected.Underline(true)
	}
	y := in.Y + i
	v.canvas.Fill(in.X, y, in.W, base)
	sign := base
	if it.color != tcell.ColorDefault && l.first+i != l.chosen {
		sign = base.Foreground(it.color)
	}
	v.canvas.Text(in.X+1, y, 2, it.sign, sign)
	extra := min(canvas.TextWidth(it.extra), in.W/2)
	room := in.W - 4 - extra - 1
	at := 0
	for n, r := range []rune(canvas.Printable(it.text)) {
		w := canvas.TextWidth(string(r))
		if at+w > room {
			v.canvas.Put(in.X+3+max(0, room-1), y, 1, "…", dim)
			break
		}
		st := base
		if len(hit.At) > 0 && hit.At[0] == n {
			st, hit.At = match, hit.At[1:]
		}
		if w > 0 {
			v.canvas.Put(in.X+3+at, y, w, string(r), st)
		}
		at += w
	}
	v.canvas.Text(in.X+in.W-extra-1, y, extra, it.extra, dim)
}

// preview is a session shown in a list.
type preview struct {
	p    *pane
	want string
}

// drawPreview shows a session's live screen.
func (v *viewer) drawPreview(at layout.Rect, id string) {
	if v.preview.want != id {
		v.stopPreview()
		v.preview.want = id
		if id != "" {
			v.preview.p = v.watch(id, layout.Rect{W: at.W, H: at.H + 1}, 0, 0)
		}
	}
	p := v.preview.p
	for i := range at.H {
		var line *render.Line
		if p != nil {
			line = p.row(i)
		}
		v.canvas.Line(layout.Rect{X: at.X, Y: at.Y + i, W: at.W, H: 1}, line, at.W, 0, p != nil && p.modes.ReverseVideo)
	}
}

func (v *viewer) stopPreview() {
	if v.preview.p != nil {
		v.preview.p.stream.Close()
	}
	v.preview = preview{}
}
