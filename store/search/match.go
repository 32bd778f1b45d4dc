package search

import (
	"bytes"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// snippetBytes is how much of a long line a hit shows.
const snippetBytes = 400

// matcher finds where a line meets a condition. A line may meet it with no range, if
// what matched is empty.
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
		if !m.word || alone(text, r) {
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

// alone tells that no word goes on beside the range.
func alone(text []byte, r Range) bool {
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

// scanner looks through blocks. The zero value is ready.
type scanner struct {
	folded []byte // the block's text
	ascii  bool   // all of it
	ends   []int  // of each line, in folded
}

// may folds a block's text and tells whether it holds what every hit does.
func (s *scanner) may(p *plan, text []byte) bool {
	s.ascii = asciiLen(text) == len(text)
	s.folded = appendFold(s.folded[:0], text)
	return bytes.Contains(s.folded, p.driver)
}

// scan calls found for each line of a block that matches. It is the block whose text
// may was called for.
func (s *scanner) scan(p *plan, b *block, found func(i int, ranges []Range)) {
	s.split(b)
	if len(p.driver) == 0 {
		for i := range b.lines {
			s.try(p, b, i, found)
		}
		return
	}
	for from := 0; from < len(s.folded); {
		at := bytes.Index(s.folded[from:], p.driver)
		if at < 0 {
			return
		}
		i, _ := slices.BinarySearch(s.ends, from+at+1) // the driver begins before its line's end
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

// show puts the line into the hit, or a part of it if it is long.
func (h *Hit) show(line []byte, ranges []Range) {
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

// runeStart is i, or the begin of the character in whose midst it is.
func runeStart(b []byte, i int) int {
	for 0 < i && i < len(b) && !utf8.RuneStart(b[i]) {
		i--
	}
	return i
}
