package page

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/longterm-dev/longterm/render"
)

// MaxMatches limits the stored matches, the newest ones.
const MaxMatches = 10_000

// Match is a matching range of text, both ends included. It may continue in further rows if they are wrapped.
type Match struct{ From, To Pos }

// Search finds text in a page. Lower case letters match either case, upper case letters only themselves.
type Search struct {
	Pattern string
	Regexp  bool
	Err     error
	Matches []Match // in reading order
	Current int     // index; -1 without a match
	re      *regexp.Regexp
	lowered string // a plain pattern in lower case: lines without it are skipped
}

// NewSearch searches a page. Err holds the error of an invalid pattern.
func NewSearch(p *Page, pattern string, isRegexp bool) *Search {
	s := &Search{Pattern: pattern, Regexp: isRegexp, Current: -1}
	if pattern == "" {
		return s
	}
	expr := pattern
	if !isRegexp {
		expr, s.lowered = regexp.QuoteMeta(pattern), strings.ToLower(pattern)
	}
	if !strings.ContainsFunc(pattern, unicode.IsUpper) {
		expr = "(?i)" + expr
	}
	if s.re, s.Err = regexp.Compile(expr); s.Err != nil {
		s.Err = fmt.Errorf("not a regular expression: %w", s.Err)
		return s
	}
	s.Matches = s.searchRows(p, p.First, p.End())
	return s
}

// AddOlder adds the matches in n rows that were prepended to the page.
func (s *Search) AddOlder(p *Page, n int) {
	if s.re == nil || len(s.Matches) >= MaxMatches {
		return
	}
	found := s.searchRows(p, p.First, p.First+n)
	if len(s.Matches) > 0 && len(found) > 0 && !found[len(found)-1].To.Before(s.Matches[0].From) {
		found = found[:len(found)-1]
	}
	found = found[max(0, len(found)+len(s.Matches)-MaxMatches):]
	if s.Current >= 0 {
		s.Current += len(found)
	}
	s.Matches = append(found, s.Matches...)
}

// searchRows searches rows [from, to). Wrapped rows are searched as one line.
func (s *Search) searchRows(p *Page, from, to int) []Match {
	var out []Match
	var joined strings.Builder
	for row := from; row < to; {
		first := row
		for row < to-1 && p.Line(row).Wrapped {
			row++
		}
		row++
		if row == first+1 {
			out = s.line(out, p, p.Line(first).Text, first, row)
			continue
		}
		joined.Reset()
		for r := first; r < row; r++ {
			joined.WriteString(p.Line(r).Text)
		}
		out = s.line(out, p, joined.String(), first, row)
	}
	return out[max(0, len(out)-MaxMatches):]
}

func (s *Search) line(out []Match, p *Page, text string, first, end int) []Match {
	if s.lowered != "" && !strings.Contains(strings.ToLower(text), s.lowered) {
		return out
	}
	for _, m := range s.re.FindAllStringIndex(text, MaxMatches) {
		if m[0] == m[1] {
			continue
		}
		out = append(out, Match{place(p, first, end, m[0]), place(p, first, end, m[1]-1)})
	}
	return out
}

// place returns the cell of a byte of a line that starts in row first and ends before row end.
func place(p *Page, first, end, offset int) Pos {
	for row := first; ; row++ {
		l := p.Line(row)
		if offset < len(l.Text) || row == end-1 {
			return Pos{row, columnOf(l, offset)}
		}
		offset -= len(l.Text)
	}
}

// SelectNear makes the match at or before a position the current one, else the first after it.
func (s *Search) SelectNear(at Pos) {
	i, exact := slices.BinarySearchFunc(s.Matches, at, func(m Match, at Pos) int {
		switch {
		case m.From == at:
			return 0
		case m.From.Before(at):
			return -1
		}
		return 1
	})
	if !exact && i > 0 {
		i--
	}
	s.Current = min(i, len(s.Matches)-1)
}

// Step moves to the next (1) or previous (-1) match, cyclically.
func (s *Search) Step(by int) (Match, bool) {
	n := len(s.Matches)
	if n == 0 {
		return Match{}, false
	}
	s.Current = ((s.Current+by)%n + n) % n
	return s.Matches[s.Current], true
}

// Mark is a range of a row to be highlighted.
type Mark struct {
	From, To int // columns [From, To)
	Current  bool
}

// Marks appends the matches in a row.
func (s *Search) Marks(dst []Mark, row int, l *render.Line) []Mark {
	i, _ := slices.BinarySearchFunc(s.Matches, row, func(m Match, row int) int { return m.To.Row - row })
	for i > 0 && s.Matches[i-1].To.Row >= row {
		i--
	}
	for ; i < len(s.Matches) && s.Matches[i].From.Row <= row; i++ {
		m := s.Matches[i]
		mark := Mark{0, width(l), i == s.Current}
		if m.From.Row == row {
			mark.From = m.From.Col
		}
		if m.To.Row == row {
			mark.To = m.To.Col + 1
		}
		dst = append(dst, mark)
	}
	return dst
}

// Count returns the position in the matches, such as 3/17.
func (s *Search) Count() string {
	more := ""
	if len(s.Matches) >= MaxMatches {
		more = "+"
	}
	return fmt.Sprintf("%d/%d%s", s.Current+1, len(s.Matches), more)
}
