package digest

import (
	"strings"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// Lines that differ only in numbers carry one message: a build's "[123/4000] cc -c file123.c", a log's "request 77 done
// in 12 ms". A few lines of each such shape are enough; hundreds would use up the budget.

const (
	// linesPerShape is the number of lines of a shape that are kept, at the beginning and at the end.
	linesPerShape = 1
	// commonShape is the number of lines from which a shape is too common to explain a nearby failure.
	commonShape = 5
	// maxShapes bounds the number of shapes; lines of further shapes count as new.
	maxShapes = 4096
)

// shapeOf returns a fingerprint of a line that ignores its numbers. A word with a digit counts as a number; repeated
// punctuation, as in bars and columns, counts once. Blanks count only after a word: elsewhere they align numbers.
func shapeOf(text string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	h := uint64(offset)
	for i := 0; i < len(text); {
		if !isWordByte[text[i]] {
			if text[i] == ' ' && (i == 0 || !isWordByte[text[i-1]]) {
				i++
				continue
			}
			if i == 0 || text[i] != text[i-1] {
				h = (h ^ uint64(text[i])) * prime
			}
			i++
			continue
		}
		before, digit := h, false
		for ; i < len(text) && isWordByte[text[i]]; i++ {
			digit = digit || text[i] <= '9'
			h = (h ^ uint64(text[i])) * prime
		}
		if digit {
			h = (before ^ '#') * prime
		}
	}
	return h
}

// isWordByte marks the bytes of words: ASCII letters and digits.
var isWordByte = func() (is [256]bool) {
	for _, r := range []string{"09", "AZ", "az"} {
		for c := r[0]; c <= r[1]; c++ {
			is[c] = true
		}
	}
	return is
}()

// lineClass is the classification of a line, shared by all lines that differ only in the digits of their numbers.
type lineClass struct {
	level      diagnostics.Severity // level of a log line
	shapeCount *int                 // number of lines of this shape; nil if not counted

	isTrouble      bool // result of IsTrouble
	countsFailures bool // result of countsFailures
	isAssertion    bool // result of isAssertion
	status         status
}

// classify returns the class of a line. The detector's shape, if there is one, separates more lines than shapeOf, so that
// all lines of one shape have one class. It separates zeros from other numbers and keeps each number's position.
func (d *Digest) classify(text string, shape uint64, shaped bool) lineClass {
	s, known := d.previous.class, shaped && d.previous.hasShape && d.previous.shape == shape
	if !known {
		s, known = d.classes[shape]
	}
	if !known || !shaped {
		s = lineClass{
			level: logLevel(text), shapeCount: d.counter(text, 0), isTrouble: IsTrouble(text), countsFailures: countsFailures(text),
			isAssertion: isAssertion(text), status: statusOf(text),
		}
		s.isTrouble = s.isTrouble || s.countsFailures || s.isAssertion
	}
	if shaped && !known {
		if d.classes == nil || len(d.classes) >= maxShapes {
			d.classes = map[uint64]lineClass{}
		}
		d.classes[shape] = s
	}
	d.previous = previousClass{shape, s, shaped}
	if failure := s.status.failureClass(text); failure != 0 { // unlike the others of its shape
		s.shapeCount, s.isTrouble = d.counter(text, failure), s.isTrouble || failure != '4'
	}
	return s
}

// counter returns the line counter of a text's shape and failure class, or nil if lines are not counted.
func (d *Digest) counter(text string, status byte) *int {
	if !d.Fold {
		return nil
	}
	if d.shapeCounts == nil {
		d.shapeCounts = map[uint64]*int{}
	}
	shape := shapeOf(text) + uint64(status)
	n := d.shapeCounts[shape]
	if n == nil && len(d.shapeCounts) < maxShapes {
		n = new(int)
		d.shapeCounts[shape] = n
	}
	return n
}

// keepShapeFirst counts a line's shape, and keeps the line if it is one of the first of its shape, while there is room.
func (d *Digest) keepShapeFirst(l line, class lineClass) {
	n := 0
	if class.shapeCount != nil {
		n = *class.shapeCount
		*class.shapeCount++
	}
	if n < linesPerShape && d.shapeFirstSize <= d.Max {
		l.text = strings.Clone(l.text)
		d.shapeFirsts, d.shapeFirstSize = append(d.shapeFirsts, l), d.shapeFirstSize+len(l.text)+1
	}
}

// lastOfShapes returns the newest few lines of each shape, newest first. lines must have the newest first.
func lastOfShapes(lines []line) (of []line) {
	seen := map[uint64]int{}
	for _, l := range lines {
		shape := shapeOf(l.text)
		if seen[shape]++; seen[shape] <= linesPerShape {
			of = append(of, l)
		}
	}
	return of
}

// filterContext returns the lines around a failure that are next to it or have an uncommon shape.
func (d *Digest) filterContext(around []line) (of []line) {
	at := map[int]bool{}
	for _, l := range d.problems {
		if l.rank == rankFirst || l.rank == rankError {
			at[l.index-1], at[l.index+1] = true, true
		}
	}
	for _, l := range around {
		if n := d.shapeCounts[shapeOf(l.text)]; at[l.index] || n == nil || *n < commonShape {
			of = append(of, l)
		}
	}
	return of
}
