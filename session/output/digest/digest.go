// Package digest reduces output to a number of bytes by the importance of its lines. It keeps the first failure with
// its context, errors, warnings and the end before the beginning, and the beginning before the middle. A note marks
// omitted lines, with the offsets that read them.
//
//	lines, with their output offsets ── Add ──┬→ first lines     ┐
//	                                          ├→ problems        ├→ Finish → text, omitted parts
//	                                          └→ last lines      ┘
//
// Everything is pure; memory is bounded by a few times the budget. Package session/output/diagnostics decides which
// lines are problems. Offsets are those of the raw output; sizes are bytes.
package digest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// Digest collects lines. The zero value, with Max set, is ready to use. One goroutine owns a Digest.
type Digest struct {
	Max int // bytes of the result
	// Fold keeps only a few of the lines that differ only in numbers, and the first line of each new shape. Output that
	// fits is returned whole, unless it exceeds Whole bytes (0: no limit) and folding at least halves it.
	Fold        bool
	MaxUnfolded int

	detector    *diagnostics.Stream // classifies lines; made on the first line
	arena       textArena           // texts of the newest lines
	cur         line                // incomplete line
	overflow    longLine            // the part of cur beyond its head
	isLineOpen  bool                // cur has content
	lineCount   int                 // lines so far
	textBytes   int                 // bytes of lines so far
	head        []line              // the whole output, as long as it fits
	headSize    int
	tail        lineQueue
	tailSize    int
	problems    []line
	problemSize int

	troubleSize      int
	troubles         []line          // lines that only look like trouble, and the lines after each
	troubleShapes    map[uint64]bool // shapes of the trouble lines kept
	troubleLeft      int             // lines after a trouble line still to keep
	failureCounts    []line          // lines that count failures, newest last
	assertionLines   []line          // the first failed assertion, and the lines after it
	assertionLeft    int             // lines after the assertion still to keep
	contextLeft      int             // lines after a problem still to keep
	hasFailed        bool            // a problem of severity error occurred
	directoryReports directoryReports

	shapeCounts    map[uint64]*int      // number of lines of each shape
	classes        map[uint64]lineClass // classes by the detector's shape
	previous       previousClass        // class of the previous line
	shapeFirsts    []line               // the first lines of each shape
	shapeFirstSize int
}

// line is a line of the output.
type line struct {
	index    int // from 0
	text     string
	from, to uint64 // output offsets
	rank     rank

	cutBytes, noteLen int    // bytes cut out of the line, and size of the note in their place
	cutFrom, cutTo    uint64 // output offsets of the cut bytes
}

// rank orders the reasons to keep a line: lower ranks are kept first.
type rank int

const (
	rankFirst        rank = iota // the first failure
	rankFirstContext             // lines around the first failure
	rankError
	rankWarning
	rankContext // lines around later failures
	rankNone
)

// Numbers of lines and bytes that are kept.
const (
	lastLines         = 6  // kept before everything else
	contextBefore     = 3  // before the first failure
	contextAfter      = 10 // after the first failure
	laterContextAfter = 2  // after a later failure
	noteBytes         = 64 // estimate for a note
)

// Add adds a line, or with more set the first piece of one. Output bytes from to to-1 produced it.
func (d *Digest) Add(text []byte, from, to uint64, more bool) {
	if !d.isLineOpen {
		d.cur, d.overflow = line{index: d.lineCount, from: from}, longLine{tail: d.overflow.tail[:0]}
	}
	room := d.lineMax() - len(d.cur.text)
	if part := text[:min(len(text), room)]; !d.isLineOpen && !more {
		d.cur.text = d.arena.add(part)
	} else {
		d.cur.text += string(part)
	}
	if len(text) > room {
		d.overflow.add(text[room:], d.lineMax(), d.lineMax() >= minExcerptLine)
	}
	d.isLineOpen = true
	d.cur.to, d.textBytes = to, d.textBytes+len(text)
	if !more {
		d.endLine()
	}
}

// Skip records output that was not read: its size, its number of lines and its offsets.
func (d *Digest) Skip(bytes, lines int, from, to uint64) {
	d.endLine()
	d.lineCount, d.textBytes, d.contextLeft = d.lineCount+lines, d.textBytes+bytes, 0
	if d.detector != nil {
		d.detector.NoteGap()
	}
	d.tail, d.tailSize = lineQueue{}, 0
}

// AddGap adds a note to the digest at an output offset. The note is not a line of the output.
func (d *Digest) AddGap(text string, at uint64) {
	d.endLine()
	d.Add([]byte(text), at, at, false)
}

// lineMax returns how many bytes of a line's head are kept.
func (d *Digest) lineMax() int { return max(256, d.Max/2) }

// endLine classifies the completed line and keeps it where needed.
func (d *Digest) endLine() {
	if !d.isLineOpen {
		return
	}
	l := d.cur
	d.overflow.finish(&l, d.lineMax())
	d.isLineOpen, d.lineCount, d.textBytes = false, d.lineCount+1, d.textBytes+1
	if d.detector == nil {
		d.detector = diagnostics.NewStream("")
	}
	l.rank = rankNone
	severity, shape, shaped := d.detector.ReadShape(l.text)
	d.directoryReports.update(d.detector, l)
	class := d.classify(l.text, shape, shaped)
	if severity == "" {
		severity = class.level
	}
	d.keepFailureCount(l, class)
	d.keepAssertion(l, class)
	switch severity {
	case diagnostics.Error:
		l.rank, d.contextLeft = rankError, laterContextAfter
		if !d.hasFailed {
			d.hasFailed, d.contextLeft, l.rank = true, contextAfter, rankFirst
			d.keepDirectoryReport(rankFirstContext)
			d.markContext()
		}
		d.keepDirectoryReport(rankContext)
	case diagnostics.Warning:
		l.rank = rankWarning
	default:
		d.keepTrouble(l, class)
		if d.contextLeft > 0 {
			d.contextLeft--
			if l.rank = rankContext; d.inFirstFailure() {
				l.rank = rankFirstContext
			}
		}
	}
	d.keepLine(l, class)
}

// inFirstFailure reports whether the current line belongs to the first failure: no other error has followed it.
func (d *Digest) inFirstFailure() bool {
	for i := len(d.problems) - 1; i >= 0; i-- {
		if r := d.problems[i].rank; r == rankError || r == rankFirst || r == rankFirstContext {
			return r != rankError
		}
	}
	return false
}

// markContext keeps the lines before the first failure as its context.
func (d *Digest) markContext() {
	tail := d.tail.lines()
	for _, l := range tail[len(tail)-min(len(tail), contextBefore):] {
		if l.rank == rankNone {
			l.rank = rankFirstContext
			d.keepProblem(l)
		}
	}
}

// keepLine stores a line in the first, last, problem and folded lines it belongs to.
func (d *Digest) keepLine(l line, class lineClass) {
	size := len(l.text) + 1
	if d.headSize+size <= d.Max && len(d.head) == l.index { // the whole output, as long as it fits
		d.head, d.headSize = append(d.head, l), d.headSize+size
	}
	d.tail.add(l)
	for d.tailSize += size; d.tailSize > d.Max && len(d.tail.lines()) > 1; {
		d.tailSize -= len(d.tail.drop().text) + 1
	}
	if l.rank < rankNone {
		d.keepProblem(l)
	}
	if d.Fold {
		d.keepShapeFirst(l, class)
	}
}

// keepProblem keeps a problem line while there is room.
func (d *Digest) keepProblem(l line) {
	if d.problemSize > d.Max {
		return
	}
	l.text = strings.Clone(l.text)
	d.problems, d.problemSize = append(d.problems, l), d.problemSize+len(l.text)+1
}

// Omission describes the part of the output that a digest omits.
type Omission struct {
	Bytes, Lines int
	From, To     uint64 // offsets of the largest gap
}

// Finish returns the digest and describes the omitted part. An incomplete last line keeps no line end.
func (d *Digest) Finish() (string, Omission) {
	ends := !d.isLineOpen
	d.endLine()
	text, omitted, last := d.build()
	if !ends && last {
		text = strings.TrimSuffix(text, "\n")
	}
	return text, omitted
}

// build returns the digest with complete lines. last reports whether it includes the last line.
func (d *Digest) build() (text string, omitted Omission, last bool) {
	all := len(d.head) == d.lineCount
	if !all || d.Fold && d.MaxUnfolded > 0 && d.headSize > d.MaxUnfolded {
		chosen := d.chooseLines()
		text, omitted = d.render(chosen)
		if last = len(chosen) > 0 && chosen[len(chosen)-1].index == d.lineCount-1; !all || len(text) <= d.headSize/2 {
			return text, omitted, last
		}
	}
	text, omitted = joinLines(d.head)
	return text, omitted, true
}

// joinLines returns whole lines as one text, and the bytes cut out of long ones.
func joinLines(lines []line) (string, Omission) {
	var b strings.Builder
	var omitted Omission
	for i := range lines {
		b.WriteString(lines[i].text)
		b.WriteByte('\n')
		omitted.Bytes += lines[i].cutBytes
		omitted.growGap(lines[i].cutFrom, lines[i].cutTo)
	}
	return b.String(), omitted
}

// growGap records a gap if it is the largest so far.
func (l *Omission) growGap(from, to uint64) {
	if to-from > l.To-l.From {
		l.From, l.To = from, to
	}
}

// chooseLines selects lines by rank, each rank within its share of the budget, in the order of the output.
func (d *Digest) chooseLines() []line {
	room := d.Max - noteBytes
	chosen := map[int]line{}
	spent := 0
	take := func(lines []line, limit int) {
		for _, l := range lines {
			if _, ok := chosen[l.index]; ok {
				continue
			}
			cost := len(l.text) + 1
			if _, before := chosen[l.index-1]; !before && l.index > 0 {
				cost += noteBytes
			}
			if spent+cost > limit {
				if len(chosen) > 0 {
					continue
				}
				l.shorten(max(0, room-noteBytes-1)) // one line at least
				cost = len(l.text) + 1
			}
			chosen[l.index], spent = l, spent+cost
		}
	}
	take(byRank(d.problems, rankFirst), room) // before lines that may use up the budget
	verdicts := slices.Clone(d.failureCounts)
	slices.Reverse(verdicts)
	take(verdicts[:min(1, len(verdicts))], max(spent, room*60/100))
	take(d.assertionLines, max(spent, room*45/100))
	take(verdicts, max(spent, room*55/100))
	if !d.hasFailed {
		take(d.troubles[:min(1+laterContextAfter, len(d.troubles))], room)
	}
	head, tail := d.head, slices.Clone(d.tail.lines())
	slices.Reverse(tail)
	last, failure, around := tail[:min(len(tail), lastLines)], byRank(d.problems, rankFirstContext), byRank(d.problems, rankContext)
	if d.Fold {
		head, tail, last = d.shapeFirsts, lastOfShapes(tail), lastOfShapes(last)
		failure, around = d.filterContext(failure), d.filterContext(around)
	}
	take(last, max(room*4/10, min(room, spent+room*15/100)))
	take(failure, room*6/10)
	take(byRank(d.problems, rankError), room*75/100)
	take(d.troubles, room*80/100)
	take(byRank(d.problems, rankWarning), room*85/100)
	take(tail, room*90/100)
	take(head, room)
	take(around, room)
	take(tail, room)
	all := make([]line, 0, len(chosen))
	for _, l := range chosen {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b line) int { return a.index - b.index })
	return all
}

// byRank returns the lines of a rank.
func byRank(lines []line, r rank) (of []line) {
	for _, l := range lines {
		if l.rank == r {
			of = append(of, l)
		}
	}
	return of
}

// render joins the chosen lines, with notes between them that state the omitted lines and offsets.
func (d *Digest) render(lines []line) (string, Omission) {
	var b strings.Builder
	omitted := Omission{Bytes: d.textBytes, Lines: d.lineCount}
	next, at := 0, d.firstOffset()
	gap := func(to int, end uint64) {
		if to <= next {
			return
		}
		fmt.Fprintf(&b, "[… %s left out, from %d to %d]\n", formatLineCount(to-next), at, end)
		omitted.growGap(at, end)
	}
	for _, l := range lines {
		gap(l.index, l.from)
		b.WriteString(strings.ToValidUTF8(l.text, string(utf8.RuneError)))
		b.WriteByte('\n')
		omitted.Bytes, omitted.Lines = omitted.Bytes-min(omitted.Bytes, len(l.text)-l.noteLen+1), omitted.Lines-1
		omitted.growGap(l.cutFrom, l.cutTo)
		next, at = l.index+1, l.to
	}
	if tail := d.tail.lines(); len(tail) > 0 {
		gap(d.lineCount, tail[len(tail)-1].to)
	}
	return b.String(), omitted
}

// firstOffset returns the output offset of the first line.
func (d *Digest) firstOffset() uint64 {
	for _, l := range [][]line{d.head, d.problems, d.tail.lines()} {
		if len(l) > 0 {
			return l[0].from
		}
	}
	return 0
}

// formatLineCount returns a number of lines as text.
func formatLineCount(lines int) string {
	if lines == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", lines)
}
