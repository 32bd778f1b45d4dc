package budget

import (
	"bytes"
	"math"
	"strings"
)

// Budget truncates a text that arrives line by line as Cut does, without holding all of it: it uses at most three times
// Max. It counts omitted bytes and records their offsets in the output.
//
//	lines, with their output offsets ── each within Line ──▶ first Max bytes ┐
//	                                                    └──▶ last Max bytes  ┴─▶ Finish
//
// The zero value, with Max set, is ready to use. One goroutine owns a Budget.
type Budget struct {
	Max   int     // bytes
	Share float64 // of the head; 0 or more than 1: DefaultHeadShare; negative: none
	Line  int     // bytes of one line, head and tail; 0: no limit
	ANSI  bool    // the text has escape sequences: none is cut
	// More names the command that reads the output between two offsets; notes include it. If nil or if it returns "",
	// notes give only the omitted amount.
	More func(from, to uint64) string

	size, breaks int // of the text added: bytes, line feeds
	head, tail   []byte
	headRefs     []lineRef
	tailRefs     []lineRef
	long         lineBudget
	cut          CutInfo // of lines
	headEnd      int     // once it is settled
	settled      bool
	readyEnd     int // of a head with escape sequences, and up to where it was looked through
	walked       int
	skipped      bool // the following text is not the head's
	planned      bool // the two below are known
	noted        noteForm
	noteBytes    int
}

// lineRef locates a line, or a piece of one, in the text and in the output.
type lineRef struct {
	pos, n   int // in the text, its line feed included
	from, to uint64
	verbatim bool // the text is the output's bytes: places within it are known
}

// Add adds a line, or with more the first piece of one. The bytes from from up to to of the
// output made it, its line end among them.
func (e *Budget) Add(text []byte, from, to uint64, more bool) {
	if e.Line > 0 {
		e.long.add(e, text, from, to, more)
		return
	}
	n := uint64(len(text))
	e.take(text, lineRef{from: from, to: to, verbatim: to-from >= n && to-from <= n+2}, !more)
}

// Skip omits that much output whatever the budget. Max bytes of text must follow it.
func (e *Budget) Skip(bytes, lines int, from, to uint64) {
	e.long.end(e)
	e.size, e.breaks, e.skipped = e.size+bytes, e.breaks+lines, true
	e.tail = e.tail[:0]
	e.tailRefs = append(e.tailRefs[:0], lineRef{pos: e.size - bytes, n: bytes, from: from, to: to})
}

// Gap notes something within the text that is no line of it.
func (e *Budget) Gap(text string, at uint64) { e.take([]byte(text), lineRef{from: at, to: at}, true) }

func (e *Budget) take(text []byte, r lineRef, ends bool) {
	r.pos, r.n = e.size, len(text)
	if ends {
		r.n++
		e.breaks++
	}
	if r.pos < min(e.Max, exactRefs) {
		e.headRefs = append(e.headRefs, r)
	}
	if last := len(e.tailRefs) - 1; e.Max > exactRefs && last >= 0 && e.tailRefs[last].n < coarseRef {
		l := &e.tailRefs[last]
		l.n, l.to, l.verbatim = l.n+r.n, r.to, false
	} else {
		e.tailRefs = append(e.tailRefs, r)
	}
	e.put(text)
	if ends {
		e.put(lineFeed)
	}
}

// Beyond a budget of exactRefs bytes, lines are located to within coarseRef bytes: exact references would take more
// memory than the text.
const (
	exactRefs = 1 << 20
	coarseRef = 256
)

var lineFeed = []byte("\n")

func (e *Budget) put(p []byte) {
	e.size += len(p)
	if !e.skipped {
		e.head = append(e.head, p[:min(len(p), max(0, e.Max-len(e.head)))]...)
	}
	keep := e.Max + 1 // to know what is before the last Max bytes
	if over := len(p) - keep; over > 0 {
		p, e.tail = p[over:], e.tail[:0]
	}
	e.tail = append(e.tail, p...)
	if len(e.tail) <= 2*keep {
		return
	}
	e.tail = e.tail[:copy(e.tail, e.tail[len(e.tail)-keep:])]
	begin, i := e.size-len(e.tail), 0
	for i < len(e.tailRefs)-1 && e.tailRefs[i].pos+e.tailRefs[i].n <= begin {
		i++
	}
	e.tailRefs = e.tailRefs[:copy(e.tailRefs, e.tailRefs[i:])]
}

// Ready returns the part of the head that is certain to be shown, whatever follows.
func (e *Budget) Ready() []byte {
	room := e.headRoom()
	if e.ANSI {
		return e.head[:e.readyANSI(min(room, len(e.head)))]
	}
	if e.size <= e.Max {
		return e.head[:bytes.LastIndexByte(e.head[:min(room, len(e.head))], '\n')+1]
	}
	e.fixHead(room)
	return e.head[:e.headEnd]
}

// readyANSI returns the end of the last line in e.head[:room] that ends outside of a sequence. An unfinished control
// string may yet become too long for the head.
func (e *Budget) readyANSI(room int) int {
	for e.walked < room {
		rest := e.head[e.walked:room]
		if rest[0] == '\x1b' {
			n := sequence(rest[:min(len(rest), maxString)])
			if n == len(rest) && n < maxString {
				break // the following bytes may belong to it
			}
			e.walked += n
			continue
		}
		if i := bytes.IndexByte(rest, '\x1b'); i >= 0 {
			rest = rest[:i]
		}
		if i := bytes.LastIndexByte(rest, '\n'); i >= 0 {
			e.readyEnd = e.walked + i + 1
		}
		e.walked += len(rest)
	}
	return e.readyEnd
}

// fixHead finds the end of the head, once.
func (e *Budget) fixHead(room int) {
	if !e.settled {
		e.settled, e.headEnd = true, boundaryBefore(string(e.head), 0, room)
	}
}

// Widest numbers of a note: a terabyte, a thousand million lines.
const (
	widestBytes = 999_999_999_999
	widestLines = 999_999_999
)

// form returns the most detailed note that leaves half of the room to the text, and the size of that note.
func (e *Budget) form() (noteForm, int) {
	if !e.planned {
		e.planned = true
		e.noted, e.noteBytes = e.plan()
	}
	return e.noted, e.noteBytes
}

func (e *Budget) plan() (noteForm, int) {
	for _, f := range []noteForm{noteWithCommand, noteCounts, noteMark} {
		n := len(f.text(widestBytes, widestLines, e.command(widestBytes, widestBytes))) + 2
		if f == noteMark && n < e.Max || n <= e.Max/2 {
			return f, n
		}
	}
	return noteNone, 0
}

func (e *Budget) command(from, to uint64) string {
	if e.More == nil {
		return ""
	}
	return e.More(from, to)
}

func (e *Budget) medium() medium {
	if e.ANSI {
		return ansiText{}
	}
	return plainText{}
}

// headRoom returns how much of the budget the head gets.
func (e *Budget) headRoom() int {
	room, share := e.room()
	return int(float64(room) * share)
}

func (e *Budget) room() (room int, share float64) {
	switch share = e.Share; {
	case share < 0:
		share = 0
	case !(share > 0 && share <= 1):
		share = DefaultHeadShare
	}
	form, n := e.form()
	if form == noteNone {
		share = 0 // without a mark between them, head and tail would read as one
	}
	room = max(0, e.Max-n)
	if r := e.medium().reserve(); room > 4*r {
		room -= r
	}
	return room, share
}

// Finish returns the text within Max bytes and describes the omitted part. Call it once.
func (e *Budget) Finish() (string, CutInfo) {
	e.long.end(e)
	if e.size <= e.Max {
		return string(e.head), e.cut
	}
	room, _ := e.room()
	headRoom := e.headRoom()
	form, _ := e.form()
	headText, tailText := string(e.head), string(e.tail)
	begin := e.size - len(tailText) // of tailText in the text
	var headEnd, tailStart int
	var closing, opening string
	if m := e.medium(); begin <= len(headText) {
		headText += tailText[len(headText)-begin:]
		headEnd, tailStart, closing, opening = m.between(headText, headRoom, e.size-(room-headRoom))
		tailText, begin = headText, 0
	} else {
		headEnd, _, closing, _ = m.between(headText, headRoom, len(headText))
		_, tailStart, _, opening = m.between(tailText, 0, len(tailText)-(room-headRoom))
	}
	if e.settled {
		headEnd = e.headEnd
	}
	info := e.describeCut(headText[:headEnd], tailText[tailStart:])
	note := form.text(info.Bytes-e.cut.Bytes, info.Lines, e.command(info.From, info.To))
	return splice(headText[:headEnd], closing, note, opening, tailText[tailStart:], e.Max), info
}

// describeCut describes the text between a head and a tail.
func (e *Budget) describeCut(head, tail string) CutInfo {
	from, to := len(head), e.size-len(tail)
	info := CutInfo{Cut: true, HeadEnd: from, TailStart: to, Bytes: to - from + e.cut.Bytes, Long: e.cut.Long}
	info.Lines = e.breaks - strings.Count(head, "\n") - strings.Count(tail, "\n")
	if !e.endsLine(to, tail) {
		info.Lines++
	}
	info.From, info.To = math.MaxUint64, 0
	for _, refs := range [][]lineRef{e.headRefs, e.tailRefs} {
		for _, r := range refs {
			a, b := r.within(from, to)
			if a < b {
				info.From, info.To = min(info.From, a), max(info.To, b)
			}
		}
	}
	if info.From > info.To {
		info.From = info.To
	}
	return info
}

// endsLine reports whether the text before a place ends with a line feed.
func (e *Budget) endsLine(at int, tail string) bool {
	if i := len(e.tail) - len(tail) - 1; i >= 0 {
		return e.tail[i] == '\n'
	}
	return at == 0
}

// within returns the output range behind the part of the line in text[from:to].
func (r *lineRef) within(from, to int) (a, b uint64) {
	if from >= r.pos+r.n || to <= r.pos {
		return 0, 0
	}
	a, b = r.from, r.to
	if r.verbatim && from > r.pos {
		a += uint64(from - r.pos)
	}
	if r.verbatim && to < r.pos+r.n {
		b = r.from + uint64(to-r.pos)
	}
	return a, b
}

// lineBudget keeps the head and the tail of a line that is longer than a limit.
type lineBudget struct {
	head, tail []byte
	size       int
	from, to   uint64
	open       bool
}

func (l *lineBudget) add(e *Budget, text []byte, from, to uint64, more bool) {
	if !l.open {
		*l = lineBudget{head: l.head[:0], tail: l.tail[:0], from: from, open: true}
	}
	l.to = to
	l.size += len(text)
	l.head = append(l.head, text[:min(len(text), e.Line-len(l.head))]...)
	l.tail = append(l.tail, text[max(0, len(text)-e.Line):]...)
	if len(l.tail) > 2*e.Line {
		l.tail = l.tail[:copy(l.tail, l.tail[len(l.tail)-e.Line:])]
	}
	if !more {
		l.flush(e, true)
	}
}

// end hands an unfinished line over.
func (l *lineBudget) end(e *Budget) {
	if l.open {
		l.flush(e, false)
	}
}

func (l *lineBudget) flush(e *Budget, ends bool) {
	l.open = false
	if l.size <= e.Line {
		n := uint64(l.size)
		e.take(l.head, lineRef{from: l.from, to: l.to, verbatim: l.to-l.from >= n && l.to-l.from <= n+2}, ends)
		return
	}
	widest := len(longNote(widestBytes))
	room := max(0, e.Line-widest)
	headRoom := int(float64(room) * DefaultHeadShare)
	headEnd := boundaryBefore(string(l.head), 0, headRoom)
	tail := string(l.tail[max(0, len(l.tail)-e.Line):])
	tailStart := boundaryAfter(tail, len(tail)-(room-headRoom), len(tail))
	left := l.size - headEnd - (len(tail) - tailStart)
	e.cut.Cut, e.cut.Bytes, e.cut.Long = true, e.cut.Bytes+left, e.cut.Long+1
	e.take([]byte(string(l.head[:headEnd])+longNote(left)+tail[tailStart:]), lineRef{from: l.from, to: l.to}, ends)
}

func longNote(bytes int) string {
	return "[… " + quantity(bytes, "byte") + " of this line …]"
}
