package transcript

import "slices"

// maxKnownLines bounds the newest lines that are recognized when shown again.
const maxKnownLines = 20_000

// memory are the newest lines of the text, by number and by text.
type memory struct {
	lines []string // the newest, numbered from first
	first int
	at    map[string][]int // numbers of equal lines, ascending; blank ones are in none
}

func (m *memory) add(line string) {
	if len(m.lines) >= 2*maxKnownLines {
		for _, old := range m.lines[:maxKnownLines] {
			if places := m.at[old]; len(places) > 1 {
				m.at[old] = places[1:]
			} else {
				delete(m.at, old)
			}
		}
		m.lines = slices.Clone(m.lines[maxKnownLines:])
		m.first += maxKnownLines
	}
	if line != "" {
		m.at[line] = append(m.at[line], m.first+len(m.lines))
	}
	m.lines = append(m.lines, line)
}

// is reports whether line n equals line.
func (m *memory) is(n int, line string) bool {
	return n >= m.first && n-m.first < len(m.lines) && m.lines[n-m.first] == line
}

// end returns the number of the next line.
func (m *memory) end() int { return m.first + len(m.lines) }

const (
	// enough is how many consecutive lines must match to be recognized as repeated.
	enough = 2
	// places is in how many places, the newest, a line is looked for.
	places = 64
	// near is how many lines a text that is shown again may lack, or have otherwise.
	near = 8
)

// search finds lines that are already in the text.
type search struct {
	on    bool
	found bool     // next is the expected line
	next  int      // number of a line
	held  []string // possible matches, until there are enough
	from  []int    // numbers of the lines after those held, in each place
	news  int      // lines in a row that stand nowhere
}

// begin starts looking up the following lines.
func (s *search) begin() { s.on, s.news = true, 0 }

// line takes a line that comes.
func (s *search) line(b *Builder, line string) {
	switch {
	case s.found && b.doc.is(s.next, line):
		s.next++
		return
	case s.found && line == "":
		return // more or fewer blank lines are no news
	case s.found && s.skipAhead(b, line):
		return
	case s.found && s.next >= b.doc.end(): // end of the known text; the rest is new
		s.off(b)
		b.put(line)
		return
	case s.found:
		s.found = false
	}
	if line == "" && len(s.held) == 0 {
		b.put(line)
		return
	}
	s.hold(b, line)
}

// skipAhead continues a few lines further on, where lines between were overwritten.
func (s *search) skipAhead(b *Builder, line string) bool {
	for n := s.next + 1; n < s.next+near && line != ""; n++ {
		if b.doc.is(n, line) {
			s.next = n + 1
			return true
		}
	}
	return false
}

// hold keeps a line that matches several places until one of them is certain.
func (s *search) hold(b *Builder, line string) {
	var from []int
	if len(s.held) == 0 {
		for _, n := range newest(b.doc.at[line]) {
			from = append(from, n+1)
		}
	} else {
		for _, n := range s.from {
			if b.doc.is(n, line) {
				from = append(from, n+1)
			} else if line == "" {
				from = append(from, n)
			}
		}
	}
	if len(from) == 0 && slices.Contains(s.from, b.doc.end()) { // what was held is the end of the text
		s.held = s.held[:0]
		s.off(b)
		b.put(line)
		return
	}
	if len(from) == 0 {
		s.release(b)
		if line != "" && len(b.doc.at[line]) > 0 { // may start another match
			s.hold(b, line)
			return
		}
		b.put(line)
		if s.news++; s.news >= near {
			s.off(b)
		}
		return
	}
	s.from = from
	if s.held = append(s.held, line); countFilled(s.held) >= enough {
		s.found, s.next = true, from[len(from)-1]
		s.held, s.from, s.news = s.held[:0], nil, 0
	}
}

// newest returns the last few numbers of at.
func newest(at []int) []int { return at[max(0, len(at)-places):] }

func countFilled(lines []string) (n int) {
	for _, l := range lines {
		if l != "" {
			n++
		}
	}
	return n
}

// release puts what was held: it stands nowhere.
func (s *search) release(b *Builder) {
	held := slices.Clone(s.held)
	s.held, s.from = s.held[:0], nil
	for _, l := range held {
		b.put(l)
		s.news++
	}
}

// off ends the search.
func (s *search) off(b *Builder) {
	s.release(b)
	s.on, s.found, s.news = false, false, 0
}

// end ends the search. A held line that is the newest of the text counts as a match.
func (s *search) end(b *Builder) {
	if len(s.held) > 0 && slices.Contains(s.from, b.doc.end()) {
		s.held = s.held[:0]
	}
	s.off(b)
}
