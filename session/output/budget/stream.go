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
	Max       int     // bytes of the result
	HeadShare float64 // of the head; 0 or more than 1: DefaultHeadShare; negative: none
	MaxLine   int     // bytes of one line, head and tail; 0: no limit
	ANSI      bool    // the text has escape sequences: none is cut
	// MoreCommand names the command that reads the output between two offsets; notes include it. If nil or if it returns "",
	// notes give only the omitted amount.
	MoreCommand func(from, to uint64) string

	size, lineFeeds int    // of the text added: bytes, line feeds
	head, tail      []byte // the first and the last Max bytes of the text
	headRefs        []lineRef
	tailRefs        []lineRef
	longLine        lineBudget // line being added, if Line is set
	lineCuts        CutInfo    // omissions within lines
	headEnd         int        // valid if isHeadFixed
	isHeadFixed     bool
	readyEnd        int  // end of the last complete line of a head with escape sequences
	scanned         int  // bytes of the head scanned for readyEnd
	isHeadClosed    bool // the head gets no more text
	isFormChosen    bool // chosenForm and formBytes are valid
	chosenForm      noteForm
	formBytes       int // largest size of a note in chosenForm
}

// lineRef locates a line, or a piece of one, in the text and in the output.
type lineRef struct {
	pos, size  int    // position in the text, and size with its line feed
	from, to   uint64 // output offsets
	isVerbatim bool   // the text equals the output, so offsets within it are exact
}

// Add adds a line, or with more set the first piece of one. Output bytes from to to-1 produced it, line end included.
func (e *Budget) Add(text []byte, from, to uint64, more bool) {
	if e.MaxLine > 0 {
		e.longLine.add(e, text, from, to, more)
		return
	}
	n := uint64(len(text))
	e.addPiece(text, lineRef{from: from, to: to, isVerbatim: to-from >= n && to-from <= n+2}, !more)
}

// Skip omits output in any case.
func (e *Budget) Skip(bytes, lines int, from, to uint64) {
	e.longLine.flushOpen(e)
	e.size, e.lineFeeds, e.isHeadClosed = e.size+bytes, e.lineFeeds+lines, true
	e.tail = e.tail[:0]
	e.tailRefs = append(e.tailRefs[:0], lineRef{pos: e.size - bytes, size: bytes, from: from, to: to})
}

// AddGap adds a note to the text at an output offset. The note is not a line of the output.
func (e *Budget) AddGap(text string, at uint64) {
	e.addPiece([]byte(text), lineRef{from: at, to: at}, true)
}

// addPiece appends a line or piece and records its position; ends adds a line feed.
func (e *Budget) addPiece(text []byte, r lineRef, ends bool) {
	r.pos, r.size = e.size, len(text)
	if ends {
		r.size++
		e.lineFeeds++
	}
	if r.pos < min(e.Max, maxExactRefs) {
		e.headRefs = append(e.headRefs, r)
	}
	if last := len(e.tailRefs) - 1; e.Max > maxExactRefs && last >= 0 && e.tailRefs[last].size < coarseRefBytes {
		l := &e.tailRefs[last]
		l.size, l.to, l.isVerbatim = l.size+r.size, r.to, false
	} else {
		e.tailRefs = append(e.tailRefs, r)
	}
	e.appendText(text)
	if ends {
		e.appendText(lineFeed)
	}
}

// Beyond a budget of maxExactRefs bytes, lines are located to within coarseRefBytes: exact references would take more
// memory than the text.
const (
	maxExactRefs   = 1 << 20
	coarseRefBytes = 256
)

var lineFeed = []byte("\n")

// appendText adds bytes to the head while it has room, and to the tail.
func (e *Budget) appendText(p []byte) {
	e.size += len(p)
	if !e.isHeadClosed {
		e.head = append(e.head, p[:min(len(p), max(0, e.Max-len(e.head)))]...)
	}
	keep := e.Max + 1 // to know what is before the last Max bytes
	if excess := len(p) - keep; excess > 0 {
		p, e.tail = p[excess:], e.tail[:0]
	}
	e.tail = append(e.tail, p...)
	if len(e.tail) <= 2*keep {
		return
	}
	e.tail = e.tail[:copy(e.tail, e.tail[len(e.tail)-keep:])]
	begin, i := e.size-len(e.tail), 0
	for i < len(e.tailRefs)-1 && e.tailRefs[i].pos+e.tailRefs[i].size <= begin {
		i++
	}
	e.tailRefs = e.tailRefs[:copy(e.tailRefs, e.tailRefs[i:])]
}

// FixedHead returns the part of the head that no later text changes.
func (e *Budget) FixedHead() []byte {
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
// string may exceed the head later.
func (e *Budget) readyANSI(room int) int {
	for e.scanned < room {
		rest := e.head[e.scanned:room]
		if rest[0] == '\x1b' {
			n := sequenceLen(rest[:min(len(rest), maxControlString)])
			if n == len(rest) && n < maxControlString {
				break // the following bytes may belong to it
			}
			e.scanned += n
			continue
		}
		if i := bytes.IndexByte(rest, '\x1b'); i >= 0 {
			rest = rest[:i]
		}
		if i := bytes.LastIndexByte(rest, '\n'); i >= 0 {
			e.readyEnd = e.scanned + i + 1
		}
		e.scanned += len(rest)
	}
	return e.readyEnd
}

// fixHead computes the end of the head on the first call.
func (e *Budget) fixHead(room int) {
	if !e.isHeadFixed {
		e.isHeadFixed, e.headEnd = true, boundaryBefore(string(e.head), 0, room)
	}
}

// Largest numbers of a note: a terabyte, a thousand million lines.
const (
	widestBytes = 999_999_999_999
	widestLines = 999_999_999
)

// form returns the most detailed note that leaves half of the room to the text, and the size of that note.
func (e *Budget) form() (noteForm, int) {
	if !e.isFormChosen {
		e.isFormChosen = true
		e.chosenForm, e.formBytes = e.chooseForm()
	}
	return e.chosenForm, e.formBytes
}

// chooseForm implements form.
func (e *Budget) chooseForm() (noteForm, int) {
	for _, f := range []noteForm{noteWithCommand, noteCounts, noteMark} {
		n := len(f.text(widestBytes, widestLines, e.moreCommand(widestBytes, widestBytes))) + 2
		if f == noteMark && n < e.Max || n <= e.Max/2 {
			return f, n
		}
	}
	return noteNone, 0
}

// moreCommand returns the command that reads the output between two offsets, or "".
func (e *Budget) moreCommand(from, to uint64) string {
	if e.MoreCommand == nil {
		return ""
	}
	return e.MoreCommand(from, to)
}

// textKind returns the kind of text that ANSI selects.
func (e *Budget) textKind() textKind {
	if e.ANSI {
		return ansiText{}
	}
	return plainText{}
}

// headRoom returns the head's share of the budget in bytes.
func (e *Budget) headRoom() int {
	room, share := e.textRoom()
	return int(float64(room) * share)
}

// textRoom returns the bytes left beside the note, and the share of them that the head gets.
func (e *Budget) textRoom() (room int, share float64) {
	switch share = e.HeadShare; {
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
	if r := e.textKind().reserve(); room > 4*r {
		room -= r
	}
	return room, share
}

// Finish returns the text within Max bytes and describes the omitted part. Call it once.
func (e *Budget) Finish() (string, CutInfo) {
	e.longLine.flushOpen(e)
	if e.size <= e.Max {
		return string(e.head), e.lineCuts
	}
	room, _ := e.textRoom()
	headRoom := e.headRoom()
	form, _ := e.form()
	headText, tailText := string(e.head), string(e.tail)
	begin := e.size - len(tailText) // of tailText in the text
	var headEnd, tailStart int
	var closing, opening string
	if m := e.textKind(); begin <= len(headText) {
		headText += tailText[len(headText)-begin:]
		headEnd, tailStart, closing, opening = m.cutPoints(headText, headRoom, e.size-(room-headRoom))
		tailText, begin = headText, 0
	} else {
		// either may be shorter than its room, as Skip omits what is between them
		headEnd, _, closing, _ = m.cutPoints(headText, min(headRoom, len(headText)), len(headText))
		_, tailStart, _, opening = m.cutPoints(tailText, 0, max(0, len(tailText)-(room-headRoom)))
	}
	if e.isHeadFixed {
		headEnd = e.headEnd
	}
	info := e.describeCut(headText[:headEnd], tailText[tailStart:])
	note := form.text(info.Bytes-e.lineCuts.Bytes, info.Lines, e.moreCommand(info.From, info.To))
	return joinParts(headText[:headEnd], closing, note, opening, tailText[tailStart:], e.Max), info
}

// describeCut describes the text between a head and a tail.
func (e *Budget) describeCut(head, tail string) CutInfo {
	from, to := len(head), e.size-len(tail)
	info := CutInfo{Cut: true, HeadEnd: from, TailStart: to, Bytes: to - from + e.lineCuts.Bytes, LongLines: e.lineCuts.LongLines}
	info.Lines = e.lineFeeds - strings.Count(head, "\n") - strings.Count(tail, "\n")
	if !e.endsLine(to, tail) {
		info.Lines++
	}
	info.From, info.To = math.MaxUint64, 0
	for _, refs := range [][]lineRef{e.headRefs, e.tailRefs} {
		for _, r := range refs {
			a, b := r.outputRange(from, to)
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

// outputRange returns the output offsets of the part of the line in text[from:to].
func (r *lineRef) outputRange(from, to int) (a, b uint64) {
	if from >= r.pos+r.size || to <= r.pos {
		return 0, 0
	}
	a, b = r.from, r.to
	if r.isVerbatim && from > r.pos {
		a += uint64(from - r.pos)
	}
	if r.isVerbatim && to < r.pos+r.size {
		b = r.from + uint64(to-r.pos)
	}
	return a, b
}

// lineBudget keeps the head and the tail of a line that exceeds Budget.Line.
type lineBudget struct {
	head, tail []byte
	size       int
	from, to   uint64
	isOpen     bool
}

// add appends a piece of a line; more is false for the last piece.
func (l *lineBudget) add(e *Budget, text []byte, from, to uint64, more bool) {
	if !l.isOpen {
		*l = lineBudget{head: l.head[:0], tail: l.tail[:0], from: from, isOpen: true}
	}
	l.to = to
	l.size += len(text)
	l.head = append(l.head, text[:min(len(text), e.MaxLine-len(l.head))]...)
	l.tail = append(l.tail, text[max(0, len(text)-e.MaxLine):]...)
	if len(l.tail) > 2*e.MaxLine {
		l.tail = l.tail[:copy(l.tail, l.tail[len(l.tail)-e.MaxLine:])]
	}
	if !more {
		l.flush(e, true)
	}
}

// flushOpen passes an unfinished line to the Budget.
func (l *lineBudget) flushOpen(e *Budget) {
	if l.isOpen {
		l.flush(e, false)
	}
}

// flush passes the line to the Budget, shortened to Budget.Line bytes if it is longer.
func (l *lineBudget) flush(e *Budget, ends bool) {
	l.isOpen = false
	if l.size <= e.MaxLine {
		n := uint64(l.size)
		e.addPiece(l.head, lineRef{from: l.from, to: l.to, isVerbatim: l.to-l.from >= n && l.to-l.from <= n+2}, ends)
		return
	}
	widest := len(longNote(widestBytes))
	room := max(0, e.MaxLine-widest)
	headRoom := int(float64(room) * DefaultHeadShare)
	headEnd := boundaryBefore(string(l.head), 0, headRoom)
	tail := string(l.tail[max(0, len(l.tail)-e.MaxLine):])
	tailStart := boundaryAfter(tail, len(tail)-(room-headRoom), len(tail))
	omitted := l.size - headEnd - (len(tail) - tailStart)
	e.lineCuts.Cut, e.lineCuts.Bytes, e.lineCuts.LongLines = true, e.lineCuts.Bytes+omitted, e.lineCuts.LongLines+1
	e.addPiece([]byte(string(l.head[:headEnd])+longNote(omitted)+tail[tailStart:]), lineRef{from: l.from, to: l.to}, ends)
}

// longNote returns the note in a shortened line.
func longNote(bytes int) string {
	return "[… " + quantity(bytes, "byte") + " of this line …]"
}
