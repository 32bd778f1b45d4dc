// Package transcript converts a terminal's screens, full-screen programs included, into text: lines that were scrolled
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

// Stats counts how a text was made.
type Stats struct {
	Lines   int // of the text
	Screens int // compared screens
	Redrawn int // rows that replaced a similar one, and are not in the text
}

// IsInPlace reports whether the program mostly redrew rows (top, a progress display). The text then holds little of its
// output.
func (s Stats) IsInPlace() bool { return s.Redrawn > 200 && s.Redrawn > 8*s.Lines }

// Builder builds the text.
type Builder struct {
	emit  func(line string)
	stats Stats

	rows               []Row          // expected rows: the screen compared last, scrolled since
	cleared            []Row          // rows of a cleared screen, until a redraw or a new page is certain
	scrolledSinceClear []Row          // rows that scrolled off since the clear
	emitted            int            // rows from the top that are already in the text
	hiddenScreens      []hiddenScreen // screens below the current alternate screen
	wrappedLine        string         // rows so far of a wrapped line
	hasWrappedLine     bool

	known  lineIndex
	lookup repeatLookup
}

// hiddenScreen is a screen that an alternate screen covers.
type hiddenScreen struct {
	rows    []Row
	emitted int
}

// New returns a builder that calls emit with each line.
func New(emit func(line string)) *Builder {
	return &Builder{emit: emit, known: lineIndex{byText: map[string][]int{}}}
}

// Stats returns the counts so far.
func (b *Builder) Stats() Stats { return b.stats }

// AddScroll records that rows top to bottom move up by n, or down by -n. It calls row for those that leave the top.
func (b *Builder) AddScroll(top, bottom, n int, row func(i int) Row) {
	b.growRows(bottom + 1)
	height := bottom - top + 1
	region := b.rows[top : bottom+1]
	if n < 0 {
		n = min(-n, height)
		copy(region[n:], region[:height-n])
		clear(region[:n])
		b.startLookup() // rows that scroll into view may be known
		return
	}
	n = min(n, height)
	for i := range n {
		if top == 0 && b.emitted > 0 {
			b.emitted--
			continue
		}
		b.handleScrolledOff(row(top + i))
	}
	copy(region, region[n:])
	clear(region[height-n:])
}

// handleScrolledOff handles a row that scrolled off the top.
func (b *Builder) handleScrolledOff(r Row) {
	if b.cleared == nil {
		b.emitRow(r)
		return
	}
	if b.scrolledSinceClear = append(b.scrolledSinceClear, r); len(b.scrolledSinceClear) >= maxKnownLines {
		b.resolveClear(nil)
	}
}

// NoteScreenCleared records that the whole screen was cleared.
func (b *Builder) NoteScreenCleared() {
	if !slices.ContainsFunc(b.rows, func(r Row) bool { return r.Text != "" }) {
		return
	}
	b.resolveClear(nil)
	b.cleared = slices.Clone(b.rows)
	clear(b.rows)
}

// resolveClear decides whether cleared rows were redrawn, by the screen and by the rows that scrolled off since. If most
// were not, the program turned a page.
func (b *Builder) resolveClear(rows []Row) {
	if b.cleared == nil {
		return
	}
	cleared, since := b.cleared, b.scrolledSinceClear
	b.cleared, b.scrolledSinceClear = nil, nil
	if len(since) == 0 { // as if overwritten
		b.rows = cleared
		return
	}
	redrawn, filled := 0, 0
	present := map[string]bool{}
	for _, list := range [][]Row{since, rows} {
		for _, r := range list {
			present[r.Text] = true
		}
	}
	for _, r := range cleared {
		if r.Text == "" {
			continue
		}
		if filled++; present[r.Text] {
			redrawn++
		}
	}
	if 2*redrawn < filled {
		b.emitFromTop(cleared)
	}
	b.emitted = 0
	b.startLookup()
	for _, r := range since {
		b.emitRow(r)
	}
}

// growRows extends the expected rows to at least n.
func (b *Builder) growRows(n int) {
	for len(b.rows) < n {
		b.rows = append(b.rows, Row{})
	}
}

// CompareScreen compares the current screen with the expected rows.
func (b *Builder) CompareScreen(rows []Row) {
	b.stats.Screens++
	b.resolveClear(rows)
	b.growRows(len(rows))
	if prev := b.rows; len(prev) > len(rows) { // a smaller screen loses rows at the top, as in terminals
		b.emitFromTop(prev[:len(prev)-len(rows)])
		b.rows = prev[len(prev)-len(rows):]
	}
	b.compare(rows)
	b.rows = append(b.rows[:0], rows...)
}

// compare decides for each expected row whether it stayed, scrolled, was replaced or belongs to a turned page.
func (b *Builder) compare(rows []Row) {
	prev := b.rows
	first, last := 0, len(rows)
	for first < last && prev[first] == rows[first] {
		first++
	}
	for last > first && prev[last-1] == rows[last-1] {
		last--
	}
	if first == last {
		return
	}
	prev, rows = prev[first:last], rows[first:last]
	if first > 0 && b.emitted > first { // rows below have changed since they were recorded
		b.emitted = first
	}
	switch by := scrollOffset(prev, rows); {
	case by > 0:
		b.emitFromTop(prev[:by])
		b.replaceRows(prev[by:], rows[:len(rows)-by])
		return
	case by < 0:
		b.startLookup()
		return
	}
	b.replaceRows(prev, rows)
}

// replaceRows handles rows that were overwritten in place.
func (b *Builder) replaceRows(prev, rows []Row) {
	filled, other, same := 0, 0, 0
	for i := range prev {
		switch {
		case prev[i].Text == "":
		case prev[i] == rows[i]:
			same++
		default:
			filled++
		}
	}
	if filled == 0 {
		return
	}
	page := filled > 2 && 2*filled >= len(b.rows) && same*8 < filled // most of the screen changed at once
	for i := range prev {
		if prev[i].Text != "" && prev[i] != rows[i] && !isReplacement(prev[i].Text, rows[i].Text, page) {
			other++
		}
	}
	// A turned page keeps at most the status rows; a redrawn table keeps its header.
	if 2*other <= filled || same+filled-other > 2 || filled == 1 && rows[slices.IndexFunc(prev, func(r Row) bool { return r.Text != "" })].Text != "" {
		b.stats.Redrawn += filled
		return
	}
	b.emitFromTop(prev)
	b.startLookup()
}

// startLookup starts looking lines up, unless the text is empty: equal lines at its start are new.
func (b *Builder) startLookup() {
	if b.known.nextNumber() > 0 {
		b.lookup.start()
	}
}

// emitFromTop emits rows that leave the top of the screen, except those already emitted.
func (b *Builder) emitFromTop(rows []Row) {
	n := min(b.emitted, len(rows))
	b.emitted -= n
	b.emitRows(rows[n:])
}

// emitRows emits rows without trailing blank ones.
func (b *Builder) emitRows(rows []Row) {
	for len(rows) > 0 && rows[len(rows)-1].Text == "" {
		rows = rows[:len(rows)-1]
	}
	for _, r := range rows {
		b.emitRow(r)
	}
}

// emitRow emits a row, joined with the wrapped rows before it.
func (b *Builder) emitRow(r Row) {
	if r.Wrapped && len(b.wrappedLine) < maxLine {
		b.wrappedLine += r.Text
		b.hasWrappedLine = true
		return
	}
	text := r.Text
	if b.hasWrappedLine {
		text, b.wrappedLine, b.hasWrappedLine = b.wrappedLine+text, "", false
	}
	if b.lookup.isActive {
		b.lookup.addLine(b, text)
		return
	}
	b.appendLine(text)
}

// maxLine bounds a line that is joined from wrapped rows, in bytes.
const maxLine = 64 << 10

// appendLine appends a line to the text.
func (b *Builder) appendLine(text string) {
	b.stats.Lines++
	b.known.add(text)
	b.emit(text)
}

// EnterAlternate records a switch to another screen. The rows of this one become lines of the text and are kept until
// LeaveAlternate.
func (b *Builder) EnterAlternate() {
	b.resolveClear(nil)
	b.emitFromTop(b.rows)
	emitted := len(b.rows)
	for emitted > 0 && b.rows[emitted-1].Text == "" {
		emitted--
	}
	b.hiddenScreens = append(b.hiddenScreens, hiddenScreen{b.rows, emitted})
	b.rows, b.emitted = nil, 0
}

// LeaveAlternate records the return to the previous screen. The rows of this one become lines of the text.
func (b *Builder) LeaveAlternate() {
	b.resolveClear(nil)
	b.startLookup() // it may show an earlier page
	b.emitFromTop(b.rows)
	b.lookup.finish(b)
	b.rows, b.emitted = nil, 0
	if n := len(b.hiddenScreens); n > 0 {
		b.rows, b.emitted, b.hiddenScreens = b.hiddenScreens[n-1].rows, b.hiddenScreens[n-1].emitted, b.hiddenScreens[:n-1]
	}
}

// Close ends the text with the rows of the screen.
func (b *Builder) Close() {
	b.resolveClear(nil)
	for range b.hiddenScreens {
		b.LeaveAlternate()
	}
	b.emitFromTop(b.rows)
	b.rows = nil
	if b.hasWrappedLine {
		b.emitRow(Row{})
	}
	b.lookup.finish(b)
}

// scrollOffset returns by how many rows the text moved up (negative: down), or 0 if it did not move or that is uncertain.
// Rows that stayed in place count for 0.
func scrollOffset(prev, rows []Row) int {
	best, score := 0, 0
	for i := range rows {
		if rows[i].Text != "" && rows[i] == prev[i] {
			score++
		}
	}
	for by := 1 - len(rows); by < len(rows); by++ {
		if by == 0 {
			continue
		}
		n, missing, first, last := 0, 0, -1, -1
		for i := max(0, -by); i < len(rows) && i+by < len(prev); i++ {
			switch {
			case prev[i+by].Text == "":
			case rows[i] != prev[i+by]:
				missing++
			default:
				if first < 0 {
					first = i
				}
				n, last = n+1, i
			}
		}
		// A single matching line is chance, unless it is the first or last one and no more can match. A re-sorted table also
		// matches elsewhere, but with other lines between.
		switch {
		case n <= score, missing > max(2, n/4):
		case n >= 2 || first == 0 && by > 0 && by >= len(rows)-2 || by < 0 && last == len(rows)-1 && -by >= len(rows)-2:
			best, score = by, n
		}
	}
	return best
}

// isReplacement reports whether row b replaces row a: they differ in numbers only, share a beginning, or share half of
// their words. If page is set (the whole page changed), they must share most words.
func isReplacement(a, b string, page bool) bool {
	if b == "" {
		return false
	}
	if stripNumbers(a) == stripNumbers(b) {
		return true
	}
	if n := commonPrefix(a, b); !page && (n >= 8 || n > 0 && 2*n >= min(len(a), len(b))) {
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

// stripNumbers returns s without digits and blanks.
func stripNumbers(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == ' ' {
			return -1
		}
		return r
	}, s)
}

// commonPrefix returns the length of the common prefix of a and b.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
