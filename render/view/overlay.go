package view

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/vterm/input"
)

// overlay is something that has keyboard and mouse until it closes.
type overlay interface {
	draw(v *viewer)
	key(v *viewer, k input.Key)
	paste(v *viewer, text string)
	// mouse gets presses, motion and wheels; held are the buttons that were down before.
	mouse(v *viewer, e *tcell.EventMouse, held tcell.ButtonMask)
}

// open shows an overlay in the place of another one.
func (v *viewer) open(o overlay) {
	v.over, v.fresh = o, true
	v.mode = modeInput
}

// closeOverlay gives keyboard and mouse back.
func (v *viewer) closeOverlay() {
	v.over, v.fresh = nil, true
	v.stopPreview()
}

// box is a panel over the panes, with a title in its first row.
func (v *viewer) box(w, h int, title string) layout.Rect {
	cols, rows := v.canvas.Size()
	area, _ := bars.Split(cols, rows)
	w, h = min(w, area.W), min(h, area.H)
	at := layout.Rect{X: (area.W - w) / 2, Y: max(0, (area.H-h)/3), W: w, H: h}
	for y := range h {
		v.canvas.Fill(at.X, at.Y+y, w, v.theme.Panel)
	}
	if title != "" {
		v.canvas.Text(at.X, at.Y, w, " "+title, v.theme.PanelTitle)
	}
	return at
}

// prompt asks for a line of text in the bar.
type prompt struct {
	label     string
	line      []rune
	at        int // cursor
	regexpKey bool
	regexp    bool
	change    func()        // after every change
	note      func() string // shown behind
	done      func(text string)
	cancel    func()
}

func (p *prompt) text() string { return string(p.line) }

func (p *prompt) key(v *viewer, k input.Key) {
	ctrl := k.Mods&input.Ctrl != 0
	switch {
	case k.Code == input.KeyEnter:
		v.closeOverlay()
		p.done(p.text())
		return
	case k.Code == input.KeyEscape || ctrl && (k.Code == 'c' || k.Code == 'g'):
		v.closeOverlay()
		if p.cancel != nil {
			p.cancel()
		}
		return
	case p.regexpKey && ctrl && k.Code == 'r':
		p.regexp = !p.regexp
	case !edit(&p.line, &p.at, k):
		return
	}
	p.changed()
}

func (p *prompt) changed() {
	if p.change != nil {
		p.change()
	}
}

func (p *prompt) paste(_ *viewer, text string) {
	insert(&p.line, &p.at, text)
	p.changed()
}

func (p *prompt) mouse(*viewer, *tcell.EventMouse, tcell.ButtonMask) {}

func (p *prompt) draw(v *viewer) {
	label := p.label
	if p.regexp {
		label = "regexp: "
	}
	note := ""
	if p.note != nil {
		note = p.note()
	}
	if p.regexpKey && note == "" {
		note = "Ctrl-R: regular expression"
	}
	v.bar.DrawLine(&v.canvas, v.theme, bars.Line{Label: label, Text: p.text(), At: p.at, Note: note})
}

// edit changes a line as a key says; false when it does not.
func edit(line *[]rune, at *int, k input.Key) bool {
	l := *line
	ctrl := k.Mods&input.Ctrl != 0
	switch {
	case k.Code == input.KeyBackspace || ctrl && k.Code == 'h':
		if *at > 0 {
			*line, *at = append(l[:*at-1:*at-1], l[*at:]...), *at-1
		}
	case k.Code == input.KeyDelete:
		if *at < len(l) {
			*line = append(l[:*at:*at], l[*at+1:]...)
		}
	case k.Code == input.KeyLeft:
		*at = max(0, *at-1)
	case k.Code == input.KeyRight:
		*at = min(len(l), *at+1)
	case k.Code == input.KeyHome || ctrl && k.Code == 'a':
		*at = 0
	case k.Code == input.KeyEnd || ctrl && k.Code == 'e':
		*at = len(l)
	case ctrl && k.Code == 'u':
		*line, *at = append([]rune{}, l[*at:]...), 0
	case ctrl && k.Code == 'w':
		from := *at
		for from > 0 && l[from-1] == ' ' {
			from--
		}
		for from > 0 && l[from-1] != ' ' {
			from--
		}
		*line, *at = append(l[:from:from], l[*at:]...), from
	case typedText(k) != "":
		insert(line, at, typedText(k))
	default:
		return false
	}
	return true
}

// typedText is the text a key types.
func typedText(k input.Key) string {
	switch {
	case k.Text != "":
		return k.Text
	case k.Code == input.KeySpace || k.Code == ' ' && k.Mods == 0:
		return " "
	}
	return ""
}

// insert puts text into a line, without what is no character.
func insert(line *[]rune, at *int, text string) {
	for _, r := range text {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			continue
		}
		l := *line
		*line = append(l[:*at:*at], append([]rune{r}, l[*at:]...)...)
		*at++
	}
}

// question asks for yes or no in the bar.
type question struct {
	text string
	yes  func()
}

func (q *question) key(v *viewer, k input.Key) {
	v.closeOverlay()
	if k.Text == "y" || k.Text == "Y" {
		q.yes()
	}
}

func (q *question) paste(v *viewer, _ string) { v.closeOverlay() }

func (q *question) mouse(v *viewer, e *tcell.EventMouse, _ tcell.ButtonMask) {
	if e.Buttons()&tcell.ButtonPrimary != 0 {
		v.closeOverlay()
	}
}

func (q *question) draw(v *viewer) { v.bar.DrawText(&v.canvas, " "+q.text+" y/n", v.theme.Alarm) }
