package overlays

import (
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Prompt reads a line of text in the status bar.
type Prompt struct {
	Label  string
	Secret bool                           // do not show the typed text
	Search bool                           // Ctrl-R switches to a regular expression
	Change func(text string, regexp bool) // after every change; may be nil
	Note   func() string                  // text shown after the line; may be nil
	Done   func(text string)
	Cancel func()  // may be nil
	Behind Overlay // overlay that stays visible below; may be nil
	line   line
	regexp bool
}

// NewPrompt returns a prompt with an initial text.
func NewPrompt(label, text string, done func(text string)) *Prompt {
	runes := []rune(text)
	return &Prompt{Label: label, Done: done, line: line{runes, len(runes)}}
}

// Key edits the line. Enter accepts it, Escape cancels.
func (p *Prompt) Key(k input.Key) Result {
	ctrl := k.Mods&input.Ctrl != 0
	switch {
	case k.Code == input.KeyEnter:
		return Result{Close: true, Then: func() { p.Done(p.line.String()) }}
	case k.Code == input.KeyEscape || ctrl && (k.Code == 'c' || k.Code == 'g'):
		return Result{Close: true, Then: p.Cancel}
	case p.Search && ctrl && k.Code == 'r':
		p.regexp = !p.regexp
	case !p.line.edit(k):
		return Result{}
	}
	return p.onChange()
}

func (p *Prompt) onChange() Result {
	if p.Change != nil {
		p.Change(p.line.String(), p.regexp)
	}
	return Result{}
}

// Paste adds to the line.
func (p *Prompt) Paste(text string) Result {
	p.line.insert(text)
	return p.onChange()
}

// Mouse ignores mouse events.
func (p *Prompt) Mouse(*tcell.EventMouse, tcell.ButtonMask) Result { return Result{} }

// Draw draws the prompt in the bar.
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
	s.Bar.DrawLine(s.Canvas, s.Theme, statusbar.Line{Label: label, Text: text, At: p.line.at, Note: note})
}

// Confirmation requests a confirmation in the status bar.
type Confirmation struct {
	Text   string
	Yes    func()
	No     func()  // may be nil
	Behind Overlay // overlay that stays visible below; may be nil
}

// Key handles y as yes and everything else as no.
func (q *Confirmation) Key(k input.Key) Result {
	if k.Text == "y" || k.Text == "Y" {
		return Result{Close: true, Then: q.Yes}
	}
	return Result{Close: true, Then: q.No}
}

// Paste closes the question as a no.
func (q *Confirmation) Paste(string) Result { return Result{Close: true, Then: q.No} }

// Mouse closes the question as a no on a click.
func (q *Confirmation) Mouse(e *tcell.EventMouse, _ tcell.ButtonMask) Result {
	if e.Buttons()&tcell.ButtonPrimary == 0 {
		return Result{}
	}
	return Result{Close: true, Then: q.No}
}

// Draw draws the question in the bar.
func (q *Confirmation) Draw(s *Screen) {
	if q.Behind != nil {
		q.Behind.Draw(s)
	}
	s.Bar.DrawText(s.Canvas, " "+q.Text+" y/n", s.Theme.Alarm)
}

// DigitPrompt reads a single digit.
type DigitPrompt struct {
	Text string
	Take func(n int) // receives 1 to 9
}

// Key handles a digit; any other key cancels.
func (q *DigitPrompt) Key(k input.Key) Result {
	if k.Code >= '1' && k.Code <= '9' && k.Mods == 0 {
		return Result{Close: true, Then: func() { q.Take(int(k.Code - '0')) }}
	}
	return closed
}

// Paste closes the prompt without a number.
func (q *DigitPrompt) Paste(string) Result { return closed }

// Mouse closes the prompt on a click.
func (q *DigitPrompt) Mouse(e *tcell.EventMouse, _ tcell.ButtonMask) Result {
	return Result{Close: e.Buttons()&tcell.ButtonPrimary != 0}
}

// Draw draws the prompt in the bar.
func (q *DigitPrompt) Draw(s *Screen) { s.Bar.DrawText(s.Canvas, " "+q.Text+" 1-9", s.Theme.Alarm) }
