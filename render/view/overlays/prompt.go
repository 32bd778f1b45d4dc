package overlays

import (
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Prompt asks for a line of text in the bar.
type Prompt struct {
	Label  string
	Secret bool                           // what is typed is not shown
	Search bool                           // Ctrl-R makes a regular expression of it
	Change func(text string, regexp bool) // after every change; may be nil
	Note   func() string                  // shown behind; may be nil
	Done   func(text string)
	Cancel func()  // may be nil
	Behind Overlay // is seen meanwhile; may be nil
	line   line
	regexp bool
}

// NewPrompt asks for a line that begins with a text.
func NewPrompt(label, text string, done func(text string)) *Prompt {
	runes := []rune(text)
	return &Prompt{Label: label, Done: done, line: line{runes, len(runes)}}
}

// Key edits the line; Enter takes it, Escape does not.
func (p *Prompt) Key(k input.Key) Result {
	ctrl := k.Mods&input.Ctrl != 0
	switch {
	case k.Code == input.KeyEnter:
		return Result{Close: true, Do: func() { p.Done(p.line.String()) }}
	case k.Code == input.KeyEscape || ctrl && (k.Code == 'c' || k.Code == 'g'):
		return Result{Close: true, Do: p.Cancel}
	case p.Search && ctrl && k.Code == 'r':
		p.regexp = !p.regexp
	case !p.line.edit(k):
		return Result{}
	}
	return p.changed()
}

func (p *Prompt) changed() Result {
	if p.Change != nil {
		p.Change(p.line.String(), p.regexp)
	}
	return Result{}
}

// Paste adds to the line.
func (p *Prompt) Paste(text string) Result {
	p.line.insert(text)
	return p.changed()
}

// Mouse means nothing to it.
func (p *Prompt) Mouse(*tcell.EventMouse, tcell.ButtonMask) Result { return Result{} }

// Draw draws it into the bar.
func (p *Prompt) Draw(s *Screen) {
	if p.Behind != nil {
		p.Behind.Draw(s)
	}
	label := p.Label
	if p.regexp {
		label = "regexp: "
	}
	note := ""
	if p.Note != nil {
		note = p.Note()
	}
	if p.Search && note == "" {
		note = "Ctrl-R: regular expression"
	}
	text := p.line.String()
	if p.Secret {
		text = strings.Repeat("•", len(p.line.text))
	}
	s.Bar.DrawLine(s.Canvas, s.Theme, bars.Line{Label: label, Text: text, At: p.line.at, Note: note})
}

// Question asks for yes or no in the bar.
type Question struct {
	Text string
	Yes  func()
}

// Key takes y for yes and everything else for no.
func (q *Question) Key(k input.Key) Result {
	if k.Text == "y" || k.Text == "Y" {
		return Result{Close: true, Do: q.Yes}
	}
	return closed
}

// Paste is no answer.
func (q *Question) Paste(string) Result { return closed }

// Mouse is no: a click closes it.
func (q *Question) Mouse(e *tcell.EventMouse, _ tcell.ButtonMask) Result {
	return Result{Close: e.Buttons()&tcell.ButtonPrimary != 0}
}

// Draw draws it into the bar.
func (q *Question) Draw(s *Screen) { s.Bar.DrawText(s.Canvas, " "+q.Text+" y/n", s.Theme.Alarm) }

// Number asks for a number of one digit.
type Number struct {
	Text string
	Take func(n int) // 1 to 9
}

// Key takes a digit; any other key takes nothing.
func (q *Number) Key(k input.Key) Result {
	if k.Code >= '1' && k.Code <= '9' && k.Mods == 0 {
		return Result{Close: true, Do: func() { q.Take(int(k.Code - '0')) }}
	}
	return closed
}

// Paste is no number.
func (q *Number) Paste(string) Result { return closed }

// Mouse takes nothing: a click closes it.
func (q *Number) Mouse(e *tcell.EventMouse, _ tcell.ButtonMask) Result {
	return Result{Close: e.Buttons()&tcell.ButtonPrimary != 0}
}

// Draw draws it into the bar.
func (q *Number) Draw(s *Screen) { s.Bar.DrawText(s.Canvas, " "+q.Text+" 1-9", s.Theme.Alarm) }
