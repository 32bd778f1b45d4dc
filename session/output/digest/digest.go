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

// Digest gathers lines. The zero value, with Max set, is ready to use. It belongs to one goroutine.
type Digest struct {
	Max int // bytes
	// Fold keeps only a few of the lines that are alike but for their numbers, and the first line of each new shape.
	// Text that fits is kept whole, unless Whole is set and it exceeds Whole bytes, and where folding would not halve
	// it.
	Fold  bool
	Whole int

	judge    *diagnostics.Stream
	texts    texts   // of lines
	cur      line    // that has no end yet
	over     cutLine // what is beyond its head
	open     bool
	n        int // lines so far
	bytes    int // of their text
	head     []line
	headSize int
	tail     newest
	tailSize int
	problems []line
	probSize int

	troubleSize int
	troubles    []line // that only sound as if something were wrong, each with what follows
	troubled    map[uint64]bool
	follows     int    // lines that are still kept as that
	verdicts    []line // that count failures, the newest last
	asserts     []line // the first assertion that does not hold, with what follows it
	values      int    // lines that are still kept as that
	after       int    // lines that are still kept as what follows a problem
	failed      bool
	entered     entered

	shapes    map[uint64]*int     // how many lines of each shape there were
	judged    map[uint64]template // templates by the shape that the judge reports
	again     repeated
	firsts    []line // the first of each
	firstSize int
}

// line is a line of the output.
type line struct {
	n        int // index
	text     string
	from, to uint64
	rank     rank

	lost, note       int    // bytes cut out of the line, and of the note in their place
	lostFrom, lostTo uint64 // where those stand
}

// rank is the reason to keep a line; lower ranks are kept first.
type rank int

const (
	rankFirst   rank = iota // the first failure
	rankFailure             // what stands around it
	rankError
	rankWarning
	rankAround // of a later error
	rankNone
)

const (
	lastLines   = 6  // kept before everything else
	beforeFirst = 3  // lines before the first failure
	afterFirst  = 10 // and after it
	afterLater  = 2  // after an earlier failure
	noteBytes   = 64 // about what a note takes
)

// Add adds a line, or with more the first piece of one. The bytes from from up to to of the output made it.
func (d *Digest) Add(text []byte, from, to uint64, more bool) {
	if !d.open {
		d.cur, d.over = line{n: d.n, from: from}, cutLine{tail: d.over.tail[:0]}
	}
	room := d.lineMax() - len(d.cur.text)
	if part := text[:min(len(text), room)]; !d.open && !more {
		d.cur.text = d.texts.keep(part)
	} else {
		d.cur.text += string(part)
	}
	if len(text) > room {
		d.over.add(text[room:], d.lineMax(), d.lineMax() >= hitsFrom)
	}
	d.open = true
	d.cur.to, d.bytes = to, d.bytes+len(text)
	if !more {
		d.end()
	}
}

// Skip records that much output that was not read.
func (d *Digest) Skip(bytes, lines int, from, to uint64) {
	d.end()
	d.n, d.bytes, d.after = d.n+lines, d.bytes+bytes, 0
	if d.judge != nil {
		d.judge.Gap()
	}
	d.tail, d.tailSize = newest{}, 0
}

// Gap notes something within the text that is no line of it.
func (d *Digest) Gap(text string, at uint64) {
	d.end()
	d.Add([]byte(text), at, at, false)
}

// lineMax is how much of a line is read.
func (d *Digest) lineMax() int { return max(256, d.Max/2) }

// end takes the line that is complete.
func (d *Digest) end() {
	if !d.open {
		return
	}
	l := d.cur
	d.over.close(&l, d.lineMax())
	d.open, d.n, d.bytes = false, d.n+1, d.bytes+1
	if d.judge == nil {
		d.judge = diagnostics.NewStream("")
	}
	l.rank = rankNone
	severity, shape, shaped := d.judge.JudgeShape(l.text)
	d.entered.take(d.judge, l)
	says := d.classify(l.text, shape, shaped)
	if severity == "" {
		severity = says.level
	}
	d.verdict(l, says)
	d.keepAssertion(l, says)
	switch severity {
	case diagnostics.Error:
		l.rank, d.after = rankError, afterLater
		if !d.failed {
			d.failed, d.after, l.rank = true, afterFirst, rankFirst
			d.where(rankFailure)
			d.markContext()
		}
		d.where(rankAround)
	case diagnostics.Warning:
		l.rank = rankWarning
	default:
		d.sounds(l, says)
		if d.after > 0 {
			d.after--
			if l.rank = rankAround; d.firstAround() {
				l.rank = rankFailure
			}
		}
	}
	d.keep(l, says)
}

// firstAround reports whether the following lines belong to the first failure: no other one has come.
func (d *Digest) firstAround() bool {
	for i := len(d.problems) - 1; i >= 0; i-- {
		if r := d.problems[i].rank; r == rankError || r == rankFirst || r == rankFailure {
			return r != rankError
		}
	}
	return false
}

// markContext marks the lines before the first failure.
func (d *Digest) markContext() {
	tail := d.tail.lines()
	for _, l := range tail[len(tail)-min(len(tail), beforeFirst):] {
		if l.rank == rankNone {
			l.rank = rankFailure
			d.problem(l)
		}
	}
}

func (d *Digest) keep(l line, says template) {
	size := len(l.text) + 1
	if d.headSize+size <= d.Max && len(d.head) == l.n { // the whole text, as long as it fits
		d.head, d.headSize = append(d.head, l), d.headSize+size
	}
	d.tail.add(l)
	for d.tailSize += size; d.tailSize > d.Max && len(d.tail.lines()) > 1; {
		d.tailSize -= len(d.tail.drop().text) + 1
	}
	if l.rank < rankNone {
		d.problem(l)
	}
	if d.Fold {
		d.note(l, says)
	}
}

// problem keeps a problem line while there is room.
func (d *Digest) problem(l line) {
	if d.probSize > d.Max {
		return
	}
	l.text = strings.Clone(l.text)
	d.problems, d.probSize = append(d.problems, l), d.probSize+len(l.text)+1
}

// Omission describes the omitted part.
type Omission struct {
	Bytes, Lines int
	From, To     uint64 // offsets of the largest gap
}

// Finish returns the digest and describes the omitted part. An incomplete last line stays without a line end.
func (d *Digest) Finish() (string, Omission) {
	ends := !d.open
	d.end()
	text, left, last := d.finish()
	if !ends && last {
		text = strings.TrimSuffix(text, "\n")
	}
	return text, left
}

// finish returns the digest with complete lines, and whether it includes the last one.
func (d *Digest) finish() (text string, left Omission, last bool) {
	all := len(d.head) == d.n
	if !all || d.Fold && d.Whole > 0 && d.headSize > d.Whole {
		chosen := d.choose()
		text, left = d.write(chosen)
		if last = len(chosen) > 0 && chosen[len(chosen)-1].n == d.n-1; !all || len(text) <= d.headSize/2 {
			return text, left, last
		}
	}
	text, left = join(d.head)
	return text, left, true
}

func join(lines []line) (string, Omission) {
	var b strings.Builder
	var left Omission
	for i := range lines {
		b.WriteString(lines[i].text)
		b.WriteByte('\n')
		left.Bytes += lines[i].lost
		left.widest(lines[i].lostFrom, lines[i].lostTo)
	}
	return b.String(), left
}

// widest takes a gap if there was no larger one.
func (l *Omission) widest(from, to uint64) {
	if to-from > l.To-l.From {
		l.From, l.To = from, to
	}
}

// choose takes lines by rank, each as long as it fits its share of the budget.
func (d *Digest) choose() []line {
	room := d.Max - noteBytes
	chosen := map[int]line{}
	spent := 0
	take := func(lines []line, limit int) {
		for _, l := range lines {
			if _, ok := chosen[l.n]; ok {
				continue
			}
			cost := len(l.text) + 1
			if _, before := chosen[l.n-1]; !before && l.n > 0 {
				cost += noteBytes
			}
			if spent+cost > limit {
				if len(chosen) > 0 {
					continue
				}
				l.shorten(max(0, room-noteBytes-1)) // there is one line at least
				cost = len(l.text) + 1
			}
			chosen[l.n], spent = l, spent+cost
		}
	}
	take(byRank(d.problems, rankFirst), room) // before all that may leave it no room
	verdicts := slices.Clone(d.verdicts)
	slices.Reverse(verdicts)
	take(verdicts[:min(1, len(verdicts))], max(spent, room*60/100))
	take(d.asserts, max(spent, room*45/100))
	take(verdicts, max(spent, room*55/100))
	if !d.failed {
		take(d.troubles[:min(1+afterLater, len(d.troubles))], room)
	}
	head, tail := d.head, slices.Clone(d.tail.lines())
	slices.Reverse(tail)
	last, failure, around := tail[:min(len(tail), lastLines)], byRank(d.problems, rankFailure), byRank(d.problems, rankAround)
	if d.Fold {
		head, tail, last = d.firsts, lasts(tail), lasts(last)
		failure, around = d.telling(failure), d.telling(around)
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
	slices.SortFunc(all, func(a, b line) int { return a.n - b.n })
	return all
}

func byRank(lines []line, r rank) (of []line) {
	for _, l := range lines {
		if l.rank == r {
			of = append(of, l)
		}
	}
	return of
}

// write writes the chosen lines, with notes between them. end is the offset after the newest line.
func (d *Digest) write(lines []line) (string, Omission) {
	var b strings.Builder
	left := Omission{Bytes: d.bytes, Lines: d.n}
	next, at := 0, d.first()
	gap := func(to int, end uint64) {
		if to <= next {
			return
		}
		fmt.Fprintf(&b, "[… %s left out, from %d to %d]\n", lineCount(to-next), at, end)
		left.widest(at, end)
	}
	for _, l := range lines {
		gap(l.n, l.from)
		b.WriteString(strings.ToValidUTF8(l.text, string(utf8.RuneError)))
		b.WriteByte('\n')
		left.Bytes, left.Lines = left.Bytes-min(left.Bytes, len(l.text)-l.note+1), left.Lines-1
		left.widest(l.lostFrom, l.lostTo)
		next, at = l.n+1, l.to
	}
	if tail := d.tail.lines(); len(tail) > 0 {
		gap(d.n, tail[len(tail)-1].to)
	}
	return b.String(), left
}

// first returns the offset of the first line.
func (d *Digest) first() uint64 {
	for _, l := range [][]line{d.head, d.problems, d.tail.lines()} {
		if len(l) > 0 {
			return l[0].from
		}
	}
	return 0
}

func lineCount(lines int) string {
	if lines == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", lines)
}
