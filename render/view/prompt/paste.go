package prompt

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Pastes from either bound on are shown as a placeholder.
const (
	pasteLines = 4
	pasteBytes = 1000
)

// pastes are the large texts that were pasted; the line holds a placeholder of each.
type pastes struct {
	texts []string // by number, from 1
}

// shorten is what stands for a pasted text in the line.
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

// expand puts the texts where their placeholders are.
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

// endingAfter is the end of a placeholder that begins at a position; 0: none does.
func (p *pastes) endingAfter(line string, at int) int {
	for i := range p.texts {
		if ph := p.placeholder(i + 1); strings.HasPrefix(line[at:], ph) {
			return at + len(ph)
		}
	}
	return 0
}

// beginningBefore is the beginning of a placeholder that ends at a position; -1: none does.
func (p *pastes) beginningBefore(line string, at int) int {
	for i := range p.texts {
		if ph := p.placeholder(i + 1); strings.HasSuffix(line[:at], ph) {
			return at - len(ph)
		}
	}
	return -1
}

// clean is a pasted text without what is no text.
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
