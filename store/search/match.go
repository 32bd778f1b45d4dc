package search

import (
	"bytes"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// snippetBytes is the length of the part of a long line that a hit shows.
const snippetBytes = 400

// matcher tests a line for a condition and finds the matching ranges. A match may have no range, if the matched text is
// empty.
type matcher interface {
	match(line, folded []byte) (ranges []Range, ok bool)
}

type literalMatcher struct {
	needle []byte // folded
	exact  []byte // as given, if case counts
	word   bool
}

func (m literalMatcher) match(line, folded []byte) ([]Range, bool) {
	text, needle := folded, m.needle
	if m.exact != nil {
		text, needle = line, m.exact
	}
	var list []Range
	for at := 0; ; {
		i := bytes.Index(text[at:], needle)
		if i < 0 {
			break
		}
		r := Range{at + i, at + i + len(needle)}
		if !m.word || isWholeWord(text, r) {
			list = append(list, r)
			at = r.End
			continue
		}
		_, n := utf8.DecodeRune(text[r.Start:])
		at = r.Start + n
	}
	if len(list) > 0 && m.exact == nil {
		unfold(line, list)
	}
	return list, len(list) > 0
}

// isWholeWord reports whether a range starts and ends at word boundaries.
func isWholeWord(text []byte, r Range) bool {
	before, _ := utf8.DecodeLastRune(text[:r.Start])
	after, _ := utf8.DecodeRune(text[r.End:])
	return (r.Start == 0 || !inWord(before)) && (r.End == len(text) || !inWord(after))
}

func inWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

type regexpMatcher struct{ *regexp.Regexp }

func (m regexpMatcher) match(line, _ []byte) ([]Range, bool) {
	found := m.FindAllIndex(line, -1)
	var list []Range
	for _, f := range found {
		if f[0] < f[1] {
			list = append(list, Range{f[0], f[1]})
		}
	}
	return list, len(found) > 0
}

// scanner finds matching lines in blocks. The zero value is ready.
type scanner struct {
	folded []byte // folded text of the block
	ascii  bool   // the text is ASCII
	ends   []int  // end of each line in folded
}

// mayMatch folds a block's text and reports whether it contains the literal that every hit contains.
func (s *scanner) mayMatch(p *plan, text []byte) bool {
	s.ascii = asciiLen(text) == len(text)
	s.folded = appendFold(s.folded[:0], text)
	return bytes.Contains(s.folded, p.required)
}

// scan calls found for each matching line of the block that mayMatch was called for.
func (s *scanner) scan(p *plan, b *block, found func(i int, ranges []Range)) {
	s.split(b)
	if len(p.required) == 0 {
		for i := range b.lines {
			s.try(p, b, i, found)
		}
		return
	}
	for from := 0; from < len(s.folded); {
		at := bytes.Index(s.folded[from:], p.required)
		if at < 0 {
			return
		}
		i, _ := slices.BinarySearch(s.ends, from+at+1) // the driver starts before its line's end
		s.try(p, b, i, found)
		from = s.ends[i] + 1
	}
}

func (s *scanner) try(p *plan, b *block, i int, found func(i int, ranges []Range)) {
	line, folded := b.line(i), s.folded[s.start(i):s.ends[i]]
	var all []Range
	for _, m := range p.matches {
		ranges, ok := m.match(line, folded)
		if !ok {
			return
		}
		all = append(all, ranges...)
	}
	found(i, merge(all))
}

func (s *scanner) start(i int) int {
	if i == 0 {
		return 0
	}
	return s.ends[i-1] + 1
}

// split finds where the folded lines end.
func (s *scanner) split(b *block) {
	s.ends = s.ends[:0]
	if s.ascii { // no length has changed
		for _, l := range b.lines {
			s.ends = append(s.ends, l.end)
		}
		return
	}
	s.folded = s.folded[:0]
	for i := range b.lines {
		if i > 0 {
			s.folded = append(s.folded, '\n')
		}
		s.folded = appendFold(s.folded, b.line(i))
		s.ends = append(s.ends, len(s.folded))
	}
}

// merge sorts ranges and joins those that overlap.
func merge(list []Range) []Range {
	slices.SortFunc(list, func(a, b Range) int { return a.Start - b.Start })
	var out []Range
	for _, r := range list {
		if n := len(out); n > 0 && r.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, r.End)
			continue
		}
		out = append(out, r)
	}
	return out
}

// setText sets the hit's text: the line, or a part of a long line.
func (h *Hit) setText(line []byte, ranges []Range) {
	h.Matches = ranges
	if len(line) <= snippetBytes {
		h.Text = string(line)
		return
	}
	start := 0
	if len(ranges) > 0 {
		start = max(0, min(ranges[0].Start-snippetBytes/4, len(line)-snippetBytes))
	}
	end := min(start+snippetBytes, len(line))
	start, end = runeStart(line, start), runeStart(line, end)
	h.Text, h.Start, h.Cut = string(line[start:end]), start, true
	h.Matches = nil
	for _, r := range ranges {
		if r = (Range{max(r.Start, start) - start, min(r.End, end) - start}); r.Start < r.End {
			h.Matches = append(h.Matches, r)
		}
	}
}

// runeStart returns the start of the character that contains byte i.
func runeStart(b []byte, i int) int {
	for 0 < i && i < len(b) && !utf8.RuneStart(b[i]) {
		i--
	}
	return i
}
