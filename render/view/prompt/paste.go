package prompt

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A paste that reaches either limit is shown as a placeholder.
const (
	pasteLines = 4
	pasteBytes = 1000
)

// pastes holds the large pasted texts; the line contains a placeholder for each.
type pastes struct {
	texts []string // by number, from 1
}

// shorten stores a long pasted text and returns its placeholder in the line.
func (p *pastes) shorten(text string) string {
	lines := strings.Count(text, "\n")
	if lines < pasteLines && len(text) < pasteBytes {
		return text
	}
	p.texts = append(p.texts, text)
	return p.placeholder(len(p.texts))
}

func (p *pastes) placeholder(n int) string {
	text := p.texts[n-1]
	if lines := strings.Count(text, "\n"); lines > 0 {
		return fmt.Sprintf("[pasted text #%d +%d lines]", n, lines)
	}
	return fmt.Sprintf("[pasted text #%d %d characters]", n, utf8.RuneCountInString(text))
}

// expand replaces the placeholders by their texts.
func (p *pastes) expand(line string) string {
	if len(p.texts) == 0 {
		return line
	}
	pairs := make([]string, 0, 2*len(p.texts))
	for i, t := range p.texts {
		pairs = append(pairs, p.placeholder(i+1), t)
	}
	return strings.NewReplacer(pairs...).Replace(line)
}

// endingAfter returns the end of a placeholder that starts at a position, or 0.
func (p *pastes) endingAfter(line string, at int) int {
	for i := range p.texts {
		if ph := p.placeholder(i + 1); strings.HasPrefix(line[at:], ph) {
			return at + len(ph)
		}
	}
	return 0
}

// beginningBefore returns the start of a placeholder that ends at a position, or -1.
func (p *pastes) beginningBefore(line string, at int) int {
	for i := range p.texts {
		if ph := p.placeholder(i + 1); strings.HasSuffix(line[:at], ph) {
			return at - len(ph)
		}
	}
	return -1
}

// clean returns a pasted text without control characters.
func clean(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(text, "\uFFFD"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r >= 0x7f && r < 0xa0:
			return -1
		}
		return r
	}, text)
}
