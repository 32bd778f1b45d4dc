// Package transcript makes a text of what a terminal showed, full-screen programs included: lines that were scrolled
// off or replaced, in order and once, without redraws.
//
//	emulator ── Scrolled, before rows leave ──┐
//	         ── Screen, when it is unchanged ─┴→ Builder: expected rows against shown ones → lines
//
// Rows that leave the top of a scrolling region become lines of the text, whatever the margins. An unchanged screen is
// compared with what scrolling alone would have made of the previous one. The same text higher up was scrolled by
// drawing. A row similar to the previous one replaces it (a clock, a spinner, a line being typed). Rows with nothing in
// common turned a page: the old rows become lines of the text.
//
// After a page turn or a scroll back, repeated text (a redrawn conversation, a pager) is looked up: two consecutive
// lines that match known ones are not new. Ordinary scrolling is never looked up, so a program may print equal lines.
//
// The package is pure. Memory is bounded by the newest lines (known) and one screen.
package transcript

import (
	"slices"
	"strings"
)

// Row is a row of a screen.
type Row struct {
	Text    string // without blanks at its end
	Wrapped bool   // continues in the next row
}

// Stats count how a text was made.
type Stats struct {
	Lines   int // of the text
	Screens int // that were compared
	Redrawn int // rows that replaced one that they resemble, and are not in the text
}

// InPlace reports whether the program mostly redrew rows (top, a progress display). The text then holds little of its
// output.
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

// Stats returns the counts so far.
func (b *Builder) Stats() Stats { return b.stats }

// AddScroll records that rows top to bottom move up by n, or down by -n. It calls row for those that leave the top.
func (b *Builder) AddScroll(top, bottom, n int, row func(i int) Row) {
	b.fit(bottom + 1)
	height := bottom - top + 1
	region := b.rows[top : bottom+1]
	if n < 0 {
		n = min(-n, height)
		copy(region[n:], region[:height-n])
		clear(region[:n])
		b.seekAgain() // rows that come into view may be known
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
	if b.since = append(b.since, r); len(b.since) >= maxKnownLines {
		b.settle(nil)
	}
}

// ScreenCleared records that the whole screen was cleared.
func (b *Builder) ScreenCleared() {
	if !slices.ContainsFunc(b.rows, func(r Row) bool { return r.Text != "" }) {
		return
	}
	b.settle(nil)
	b.wiped = slices.Clone(b.rows)
	clear(b.rows)
}

// settle decides whether cleared rows were redrawn, by the screen and by the rows that left it since. If most were not,
// a page was turned.
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

// fit extends the expected rows to at least n.
func (b *Builder) fit(n int) {
	for len(b.rows) < n {
		b.rows = append(b.rows, Row{})
	}
}

// Screen compares the current screen with the expected rows.
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

// compare decides what happened to each expected row: kept, scrolled, replaced or turned away.
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
	if first > 0 && b.told > first { // rows below have changed since they were recorded
		b.told = first
	}
	switch by := shift(was, rows); {
	case by > 0:
		b.fromTop(was[:by])
		b.replaceRows(was[by:], rows[:len(rows)-by])
		return
	case by < 0:
		b.seekAgain()
		return
	}
	b.replaceRows(was, rows)
}

// replaceRows handles rows that were overwritten in place.
func (b *Builder) replaceRows(was, rows []Row) {
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

// seekAgain starts looking lines up, unless the text is empty: equal lines at its start are new.
func (b *Builder) seekAgain() {
	if b.doc.end() > 0 {
		b.seek.begin()
	}
}

// fromTop emits rows that leave from the top of the screen, except those already emitted.
func (b *Builder) fromTop(rows []Row) {
	n := min(b.told, len(rows))
	b.told -= n
	b.lines(rows[n:])
}

// lines emits rows without trailing blank ones.
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

// put appends a line to the text.
func (b *Builder) put(text string) {
	b.stats.Lines++
	b.doc.add(text)
	b.emit(text)
}

// Alternate records a switch to another screen. The rows of this one become lines of the text and are kept until Back.
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

// Back records the return to the previous screen. The rows of this one become lines of the text.
func (b *Builder) Back() {
	b.settle(nil)
	b.seekAgain() // it may show an earlier page
	b.fromTop(b.rows)
	b.seek.end(b)
	b.rows, b.told = nil, 0
	if n := len(b.hidden); n > 0 {
		b.rows, b.told, b.hidden = b.hidden[n-1].rows, b.hidden[n-1].told, b.hidden[:n-1]
	}
}

// Close ends the text with the rows of the screen.
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

// shift returns by how many rows the text moved up (negative: down), or 0 if it did not move or that is uncertain. Rows
// that stayed in place count for 0.
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
		// A single matching line is chance, unless it is the first or last one and no more can match. A table sorted
		// again also matches elsewhere, but with other lines between.
		switch {
		case n <= score, missing > max(2, n/4):
		case n >= 2 || first == 0 && by > 0 && by >= len(rows)-2 || by < 0 && last == len(rows)-1 && -by >= len(rows)-2:
			best, score = by, n
		}
	}
	return best
}

// alike reports whether row b replaces row a: they differ in numbers only, share a beginning, or share half of their
// words. If page is set (the whole page changed), they must share most words.
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

// numberless returns s without digits and blanks.
func numberless(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == ' ' {
			return -1
		}
		return r
	}, s)
}

// common returns the length of the common prefix of a and b.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
