package render

import (
	"fmt"
	"strings"
)

// MarkdownOptions controls what Markdown contains besides the text.
type MarkdownOptions struct {
	// State is a short description of the session, such as "running" or "exited with status 1".
	State string
	// Style adds a list of text with a conspicuous style: bold, inverse or coloured.
	Style bool
}

// maxListed limits each list, so that a hostile screen cannot flood it.
const maxListed = 100

// AppendMarkdown appends the screen as a section for a prompt: a line about its state, the text in a fence that nothing
// in the text can close, and a list of its links.
func AppendMarkdown(dst []byte, s *Screen, o MarkdownOptions) []byte {
	dst = fmt.Appendf(dst, "Terminal screen, %d columns × %d rows", s.Cols, s.Rows)
	if s.Title != "" {
		dst = fmt.Appendf(dst, ", title %s", codeSpan(s.Title))
	}
	if o.State != "" {
		dst = fmt.Appendf(dst, ", %s", oneLine(o.State))
	}
	if s.Alt {
		dst = append(dst, ", alternate screen"...)
	}
	if n := len(s.Scrollback); n > 0 {
		dst = fmt.Appendf(dst, ", after %d lines of history", n)
	}
	if s.Cursor.Visible {
		dst = fmt.Appendf(dst, ". Cursor: row %d, column %d (0-based).\n\n", s.Cursor.Y, s.Cursor.X)
	} else {
		dst = append(dst, ". Cursor: hidden.\n\n"...)
	}
	text := string(appendLines(Text(nil, s, TextOptions{})))
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	dst = fmt.Appendf(dst, "%stext\n%s%s\n", fence, text, fence)
	dst = appendLinks(dst, s)
	if o.Style {
		dst = appendStyled(dst, s)
	}
	return dst
}

// appendLines returns text whose lines no reader takes for Markdown: it replaces characters that some treat as line
// ends.
func appendLines(text []byte) []byte {
	return []byte(strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case isControl(r), r == 0x2028, r == 0x2029:
			return '\ufffd'
		}
		return r
	}, string(text)))
}

// longestRun returns the length of the longest run of a byte.
func longestRun(text string, c byte) int {
	longest, n := 0, 0
	for i := range len(text) {
		if text[i] == c {
			n++
			longest = max(longest, n)
		} else {
			n = 0
		}
	}
	return longest
}

// codeSpan returns text as inline code.
func codeSpan(text string) string {
	text = oneLine(text)
	mark := strings.Repeat("`", longestRun(text, '`')+1)
	if strings.Contains(text, "`") {
		return mark + " " + text + " " + mark
	}
	return mark + text + mark
}

func oneLine(text string) string {
	return strings.ReplaceAll(string(appendLines([]byte(text))), "\n", " ")
}

// eachSpan calls f for each span of the history and the screen.
func (s *Screen) eachSpan(f func(row int, s *Span)) {
	for _, l := range s.Scrollback {
		for i := range l.Spans {
			f(-1, &l.Spans[i])
		}
	}
	for _, l := range s.Lines {
		for i := range l.Spans {
			f(l.Row, &l.Spans[i])
		}
	}
}

// linked is a link's target and text.
type linked struct{ target, text string }

func appendLinks(dst []byte, s *Screen) []byte {
	var links []linked
	last := ""
	s.eachSpan(func(_ int, span *Span) {
		target, ok := safeLink(span.Link)
		switch {
		case !ok:
		case target == last: // continues in another style, or in the next row
			links[len(links)-1].text += span.Text
		default:
			links = append(links, linked{target, span.Text})
		}
		if last = target; !ok {
			last = ""
		}
	})
	if len(links) == 0 {
		return dst
	}
	dst = append(dst, "\nLinks:\n\n"...)
	seen := map[linked]bool{}
	for _, l := range links {
		if l.text = strings.TrimSpace(l.text); seen[l] || len(seen) == maxListed {
			continue
		}
		seen[l] = true
		dst = fmt.Appendf(dst, "- %s: %s\n", codeSpan(l.text), codeSpan(l.target))
	}
	return dst
}

// appendStyled lists text with a conspicuous style; in a menu that is the selection.
func appendStyled(dst []byte, s *Screen) []byte {
	n := 0
	s.eachSpan(func(row int, span *Span) {
		style := styleWords(span)
		text := strings.TrimSpace(span.Text)
		if style == "" || text == "" || row < 0 || n == maxListed {
			return
		}
		if n == 0 {
			dst = append(dst, "\nStyles:\n\n"...)
		}
		n++
		dst = fmt.Appendf(dst, "- row %d, column %d: %s: %s\n", row, span.Col, codeSpan(text), style)
	})
	return dst
}

// styleWords describes a span's style.
func styleWords(s *Span) string {
	var words []string
	for _, a := range []struct {
		on   bool
		name string
	}{
		{s.Bold, "bold"}, {s.Dim, "dim"}, {s.Italic, "italic"}, {s.Inverse, "inverse"}, {s.Blink, "blinking"},
		{s.Conceal, "concealed"}, {s.Strike, "struck"}, {s.Overline, "overlined"},
		{s.Underline != "", s.Underline + " underline"}, {s.FG != "", "text " + s.FG}, {s.BG != "", "background " + s.BG},
	} {
		if a.on {
			words = append(words, a.name)
		}
	}
	return strings.Join(words, ", ")
}
