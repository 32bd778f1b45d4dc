// Package transcript makes a text of what a terminal showed, of full-screen programs too: lines that were scrolled off
// or replaced by others, in order and once, without what was only drawn anew.
//
//	emulator ── Scrolled, before rows leave ──┐
//	         ── Screen, when it stands still ─┴→ Builder: expected rows against shown ones → lines
//
// Rows that leave the top of what scrolls are lines of the text, exactly, whatever the margins. When a screen stands
// still it is compared with what scrolling alone would have made of the one before: the same text higher up was
// scrolled by drawing; a row that resembles the one that was there replaces it (a clock, a spinner, a line that is
// typed); rows that have nothing in common with those that were there turned a page, which is lines of the text.
//
// What comes again after a page was turned or the program scrolled back (a redrawn conversation, a pager that goes up and
// down) is looked up in the text: two lines in a row that stand there are no new ones. Ordinary scrolling is never
// looked up, so equal lines that a program prints stay as many as they are.
//
// The package is pure. Memory is bounded: it knows the newest lines (known), and a screen.
package transcript

import (
	"slices"
	"strings"
)

// Row is a row of a screen.
type Row struct {
	Text    string // without blanks at its end
	Wrapped bool   // it goes on in the next row
}

// Stats tell what a text was made of.
type Stats struct {
	Lines   int // of the text
	Screens int // that were compared
	Redrawn int // rows that replaced one that they resemble, and are not in the text
}

// InPlace says that a program mostly drew over what it had drawn (top, a progress display): the text has little of it.
func (s Stats) InPlace() bool { return s.Redrawn > 200 && s.Redrawn > 8*s.Lines }

// Builder makes the text.
type Builder struct {
	emit  func(line string)
	stats Stats

	rows   []Row // expected: the screen compared last, scrolled since
	wiped  []Row // what stood on the screen when it was cleared, until it is clear whether it comes again
	since  []Row // what has left since then
	told   int   // of these, from the top, that are in the text
	hidden []below
	open   string // rows so far of a line that was wrapped
	opened bool

	doc  memory
	seek search
}

// below is a screen that an alternate one is shown instead of.
type below struct {
	rows []Row
	told int
}

// New makes a builder that calls emit with each line.
func New(emit func(line string)) *Builder {
	return &Builder{emit: emit, doc: memory{at: map[string][]int{}}}
}

// Stats are those so far.
func (b *Builder) Stats() Stats { return b.stats }

// Scrolled tells that rows top to bottom move up by n (down: n negative). row is asked for those that leave the top.
func (b *Builder) Scrolled(top, bottom, n int, row func(i int) Row) {
	b.fit(bottom + 1)
	height := bottom - top + 1
	region := b.rows[top : bottom+1]
	if n < 0 {
		n = min(-n, height)
		copy(region[n:], region[:height-n])
		clear(region[:n])
		b.seekAgain() // what comes into view may have been there before
		return
	}
	n = min(n, height)
	for i := range n {
		if top == 0 && b.told > 0 {
			b.told--
			continue
		}
		b.leaves(row(top + i))
	}
	copy(region, region[n:])
	clear(region[height-n:])
}

// leaves takes a row that was scrolled off.
func (b *Builder) leaves(r Row) {
	if b.wiped == nil {
		b.line(r)
		return
	}
	if b.since = append(b.since, r); len(b.since) >= known {
		b.settle(nil)
	}
}

// Wiped tells that the screen was cleared as a whole.
func (b *Builder) Wiped() {
	if !slices.ContainsFunc(b.rows, func(r Row) bool { return r.Text != "" }) {
		return
	}
	b.settle(nil)
	b.wiped = slices.Clone(b.rows)
	clear(b.rows)
}

// settle finds out whether what was cleared was drawn again, by what stands on the screen and what has left it since: if
// most of it was not, a page was turned.
func (b *Builder) settle(rows []Row) {
	if b.wiped == nil {
		return
	}
	was, since := b.wiped, b.since
	b.wiped, b.since = nil, nil
	if len(since) == 0 { // as if it had been drawn over
		b.rows = was
		return
	}
	again, filled := 0, 0
	there := map[string]bool{}
	for _, list := range [][]Row{since, rows} {
		for _, r := range list {
			there[r.Text] = true
		}
	}
	for _, r := range was {
		if r.Text == "" {
			continue
		}
		if filled++; there[r.Text] {
			again++
		}
	}
	if 2*again < filled {
		b.fromTop(was)
	}
	b.told = 0
	b.seekAgain()
	for _, r := range since {
		b.line(r)
	}
}

// fit has at least n rows expected.
func (b *Builder) fit(n int) {
	for len(b.rows) < n {
		b.rows = append(b.rows, Row{})
	}
}

// Screen tells what stands on the screen.
func (b *Builder) Screen(rows []Row) {
	b.stats.Screens++
	b.settle(rows)
	b.fit(len(rows))
	if was := b.rows; len(was) > len(rows) { // it has become smaller: from the top, as terminals do
		b.fromTop(was[:len(was)-len(rows)])
		b.rows = was[len(was)-len(rows):]
	}
	b.compare(rows)
	b.rows = append(b.rows[:0], rows...)
}

// compare finds out what became of the rows that were expected.
func (b *Builder) compare(rows []Row) {
	was := b.rows
	first, last := 0, len(rows)
	for first < last && was[first] == rows[first] {
		first++
	}
	for last > first && was[last-1] == rows[last-1] {
		last--
	}
	if first == last {
		return
	}
	was, rows = was[first:last], rows[first:last]
	if first > 0 && b.told > first { // what is changed below has been told of, as it was
		b.told = first
	}
	switch by := shift(was, rows); {
	case by > 0:
		b.fromTop(was[:by])
		b.replaced(was[by:], rows[:len(rows)-by])
		return
	case by < 0:
		b.seekAgain()
		return
	}
	b.replaced(was, rows)
}

// replaced has each row drawn over by another in the same place.
func (b *Builder) replaced(was, rows []Row) {
	filled, other, same := 0, 0, 0
	for i := range was {
		switch {
		case was[i].Text == "":
		case was[i] == rows[i]:
			same++
		default:
			filled++
		}
	}
	if filled == 0 {
		return
	}
	page := filled > 2 && 2*filled >= len(b.rows) && same*8 < filled // most of the screen changed at once
	for i := range was {
		if was[i].Text != "" && was[i] != rows[i] && !alike(was[i].Text, rows[i].Text, page) {
			other++
		}
	}
	// Of a page that is turned at most the status rows stay what they were; a table that is renewed keeps its head.
	if 2*other <= filled || same+filled-other > 2 || filled == 1 && rows[slices.IndexFunc(was, func(r Row) bool { return r.Text != "" })].Text != "" {
		b.stats.Redrawn += filled
		return
	}
	b.fromTop(was)
	b.seekAgain()
}

// seekAgain looks lines up from here on, unless the text has none yet: equal lines at its start are new.
func (b *Builder) seekAgain() {
	if b.doc.end() > 0 {
		b.seek.begin()
	}
}

// fromTop are rows that leave from the top of the screen, but those that are in the text.
func (b *Builder) fromTop(rows []Row) {
	n := min(b.told, len(rows))
	b.told -= n
	b.lines(rows[n:])
}

// lines are some that leave, without blank ones at the end.
func (b *Builder) lines(rows []Row) {
	for len(rows) > 0 && rows[len(rows)-1].Text == "" {
		rows = rows[:len(rows)-1]
	}
	for _, r := range rows {
		b.line(r)
	}
}

// line takes a row that leaves.
func (b *Builder) line(r Row) {
	if r.Wrapped && len(b.open) < maxLine {
		b.open += r.Text
		b.opened = true
		return
	}
	text := r.Text
	if b.opened {
		text, b.open, b.opened = b.open+text, "", false
	}
	if b.seek.on {
		b.seek.line(b, text)
		return
	}
	b.put(text)
}

// maxLine bounds a line of rows that were wrapped, in bytes.
const maxLine = 64 << 10

// put has a line stand in the text.
func (b *Builder) put(text string) {
	b.stats.Lines++
	b.doc.add(text)
	b.emit(text)
}

// Alternate tells that another screen is shown. What stands on this one are lines of the text, and is kept until Back.
func (b *Builder) Alternate() {
	b.settle(nil)
	b.fromTop(b.rows)
	told := len(b.rows)
	for told > 0 && b.rows[told-1].Text == "" {
		told--
	}
	b.hidden = append(b.hidden, below{b.rows, told})
	b.rows, b.told = nil, 0
}

// Back tells that the screen before is shown again. What stood on this one are lines of the text.
func (b *Builder) Back() {
	b.settle(nil)
	b.seekAgain() // a page that was turned back to may stand there
	b.fromTop(b.rows)
	b.seek.end(b)
	b.rows, b.told = nil, 0
	if n := len(b.hidden); n > 0 {
		b.rows, b.told, b.hidden = b.hidden[n-1].rows, b.hidden[n-1].told, b.hidden[:n-1]
	}
}

// Close ends the text with what stands on the screen.
func (b *Builder) Close() {
	b.settle(nil)
	for range b.hidden {
		b.Back()
	}
	b.fromTop(b.rows)
	b.rows = nil
	if b.opened {
		b.line(Row{})
	}
	b.seek.end(b)
}

// shift is by how many rows the text stands higher up than before (negative: lower down); 0: it does not, or nothing
// tells. Rows that stand where they stood count for 0.
func shift(was, rows []Row) int {
	best, score := 0, 0
	for i := range rows {
		if rows[i].Text != "" && rows[i] == was[i] {
			score++
		}
	}
	for by := 1 - len(rows); by < len(rows); by++ {
		if by == 0 {
			continue
		}
		n, missing, first, last := 0, 0, -1, -1
		for i := max(0, -by); i < len(rows) && i+by < len(was); i++ {
			switch {
			case was[i+by].Text == "":
			case rows[i] != was[i+by]:
				missing++
			default:
				if first < 0 {
					first = i
				}
				n, last = n+1, i
			}
		}
		// One line that is found elsewhere is chance, unless it is the first one or the last one and all there can be. A
		// table that is sorted anew has lines elsewhere, too, but others between them.
		switch {
		case n <= score, missing > max(2, n/4):
		case n >= 2 || first == 0 && by > 0 && by >= len(rows)-2 || by < 0 && last == len(rows)-1 && -by >= len(rows)-2:
			best, score = by, n
		}
	}
	return best
}

// alike says that a row is what another one has become: it differs in numbers only, one begins as the other does, or
// they share half of their words; of a page that changed as a whole, most of them.
func alike(a, b string, page bool) bool {
	if b == "" {
		return false
	}
	if numberless(a) == numberless(b) {
		return true
	}
	if n := common(a, b); !page && (n >= 8 || n > 0 && 2*n >= min(len(a), len(b))) {
		return true
	}
	as, bs := strings.Fields(a), strings.Fields(b)
	same := 0
	for _, w := range as {
		if slices.Contains(bs, w) {
			same++
		}
	}
	if page {
		return 4*same >= 3*max(len(as), len(bs))
	}
	return 2*same >= max(len(as), len(bs))
}

// numberless is a row without its digits, and without the blanks that stand where others have some.
func numberless(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == ' ' {
			return -1
		}
		return r
	}, s)
}

// common is how many bytes two texts begin with together.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
