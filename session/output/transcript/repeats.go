package transcript

import "slices"

// maxKnownLines bounds the newest lines that are recognized when the program prints them again.
const maxKnownLines = 20_000

// lineIndex holds the newest lines of the text, by number and by text.
type lineIndex struct {
	lines  []string // the newest, numbered from first
	first  int
	byText map[string][]int // numbers of equal lines, ascending; without blank lines
}

// add appends a line and drops the older half when the index is full.
func (m *lineIndex) add(line string) {
	if len(m.lines) >= 2*maxKnownLines {
		for _, old := range m.lines[:maxKnownLines] {
			if places := m.byText[old]; len(places) > 1 {
				m.byText[old] = places[1:]
			} else {
				delete(m.byText, old)
			}
		}
		m.lines = slices.Clone(m.lines[maxKnownLines:])
		m.first += maxKnownLines
	}
	if line != "" {
		m.byText[line] = append(m.byText[line], m.first+len(m.lines))
	}
	m.lines = append(m.lines, line)
}

// equals reports whether line n equals line.
func (m *lineIndex) equals(n int, line string) bool {
	return n >= m.first && n-m.first < len(m.lines) && m.lines[n-m.first] == line
}

// nextNumber returns the number of the next line.
func (m *lineIndex) nextNumber() int { return m.first + len(m.lines) }

const (
	// minMatches is the number of consecutive lines that must match to count as repeated.
	minMatches = 2
	// maxCandidates bounds the positions, the newest, at which a repeated line may continue.
	maxCandidates = 64
	// maxMissing bounds the lines that repeated text may lack or have changed.
	maxMissing = 8
)

// repeatLookup finds lines that are already in the text.
type repeatLookup struct {
	isActive   bool
	isMatched  bool // next is the number of the expected line
	next       int
	held       []string // possible matches, until there are minMatches
	candidates []int    // numbers of the lines expected after those held, one per position
	newLines   int      // consecutive lines without a match
}

// start starts the lookup of the following lines.
func (s *repeatLookup) start() { s.isActive, s.newLines = true, 0 }

// addLine looks a line up and emits it if it is new.
func (s *repeatLookup) addLine(b *Builder, line string) {
	switch {
	case s.isMatched && b.known.equals(s.next, line):
		s.next++
		return
	case s.isMatched && line == "":
		return // the number of blank lines may differ
	case s.isMatched && s.skipAhead(b, line):
		return
	case s.isMatched && s.next >= b.known.nextNumber(): // end of the known text; the rest is new
		s.stop(b)
		b.appendLine(line)
		return
	case s.isMatched:
		s.isMatched = false
	}
	if line == "" && len(s.held) == 0 {
		b.appendLine(line)
		return
	}
	s.holdCandidate(b, line)
}

// skipAhead continues a few lines further on, for lines in between that were overwritten.
func (s *repeatLookup) skipAhead(b *Builder, line string) bool {
	for n := s.next + 1; n < s.next+maxMissing && line != ""; n++ {
		if b.known.equals(n, line) {
			s.next = n + 1
			return true
		}
	}
	return false
}

// holdCandidate holds a line that matches several positions until one of them is certain.
func (s *repeatLookup) holdCandidate(b *Builder, line string) {
	var from []int
	if len(s.held) == 0 {
		for _, n := range newestPlaces(b.known.byText[line]) {
			from = append(from, n+1)
		}
	} else {
		for _, n := range s.candidates {
			if b.known.equals(n, line) {
				from = append(from, n+1)
			} else if line == "" {
				from = append(from, n)
			}
		}
	}
	if len(from) == 0 && slices.Contains(s.candidates, b.known.nextNumber()) { // the held lines end the known text
		s.held = s.held[:0]
		s.stop(b)
		b.appendLine(line)
		return
	}
	if len(from) == 0 {
		s.emitHeld(b)
		if line != "" && len(b.known.byText[line]) > 0 { // may start another match
			s.holdCandidate(b, line)
			return
		}
		b.appendLine(line)
		if s.newLines++; s.newLines >= maxMissing {
			s.stop(b)
		}
		return
	}
	s.candidates = from
	if s.held = append(s.held, line); countFilled(s.held) >= minMatches {
		s.isMatched, s.next = true, from[len(from)-1]
		s.held, s.candidates, s.newLines = s.held[:0], nil, 0
	}
}

// newestPlaces returns the last maxCandidates numbers of at.
func newestPlaces(at []int) []int { return at[max(0, len(at)-maxCandidates):] }

// countFilled counts the lines that are not blank.
func countFilled(lines []string) (n int) {
	for _, l := range lines {
		if l != "" {
			n++
		}
	}
	return n
}

// emitHeld emits the held lines as new ones.
func (s *repeatLookup) emitHeld(b *Builder) {
	held := slices.Clone(s.held)
	s.held, s.candidates = s.held[:0], nil
	for _, l := range held {
		b.appendLine(l)
		s.newLines++
	}
}

// stop ends the lookup and emits the held lines.
func (s *repeatLookup) stop(b *Builder) {
	s.emitHeld(b)
	s.isActive, s.isMatched, s.newLines = false, false, 0
}

// finish ends the lookup. A held line that is the newest of the text counts as a match.
func (s *repeatLookup) finish(b *Builder) {
	if len(s.held) > 0 && slices.Contains(s.candidates, b.known.nextNumber()) {
		s.held = s.held[:0]
	}
	s.stop(b)
}
