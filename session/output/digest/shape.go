package digest

import (
	"strings"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// Lines that are alike but for their numbers carry one message: a build's "[123/4000] cc -c file123.c", a log's
// "request 77 done in 12 ms". A few lines of each such shape are enough; hundreds would push out different ones.

const (
	// alike is how many lines of a shape are kept, at the beginning and at the end.
	alike = 1
	// common is how many lines make a shape too common to say anything about a nearby failure.
	common = 5
	// maxShapes bounds the number of shapes; lines of further shapes count as new.
	maxShapes = 4096
)

// shapeOf returns a fingerprint of a line that ignores its numbers. A word with a digit counts as a number, and so does the fill of a column or a
// bar. Blanks count only after a word: elsewhere they align numbers.
func shapeOf(text string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	h := uint64(offset)
	for i := 0; i < len(text); {
		if !letter[text[i]] {
			if text[i] == ' ' && (i == 0 || !letter[text[i-1]]) {
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
		for ; i < len(text) && letter[text[i]]; i++ {
			digit = digit || text[i] <= '9'
			h = (h ^ uint64(text[i])) * prime
		}
		if digit {
			h = (before ^ '#') * prime
		}
	}
	return h
}

// letter marks the bytes of words: ASCII letters and digits.
var letter = func() (is [256]bool) {
	for _, r := range []string{"09", "AZ", "az"} {
		for c := r[0]; c <= r[1]; c++ {
			is[c] = true
		}
	}
	return is
}()

// template is the classification of a line, shared by all lines that are alike but for the digits of their numbers.
type template struct {
	level diagnostics.Severity // as of a log
	seen  *int                 // number of lines of this shape; nil if not counted

	trouble bool // IsTrouble
	counts  bool // countsFailures
	asserts bool // isAssertion
	status  status
}

// classify returns the template of a line. The judge's shape, if present, separates more lines than shapeOf and as many
// as logLevel: both check only whether a byte is a digit. It also separates zeros from other numbers and keeps each
// number's place.
func (d *Digest) classify(text string, shape uint64, shaped bool) template {
	s, known := d.again.says, shaped && d.again.shaped && d.again.shape == shape
	if !known {
		s, known = d.judged[shape]
	}
	if !known || !shaped {
		s = template{
			level: logLevel(text), seen: d.counter(text, 0), trouble: IsTrouble(text), counts: countsFailures(text),
			asserts: isAssertion(text), status: statusOf(text),
		}
		s.trouble = s.trouble || s.counts || s.asserts
	}
	if shaped && !known {
		if d.judged == nil || len(d.judged) >= maxShapes {
			d.judged = map[uint64]template{}
		}
		d.judged[shape] = s
	}
	d.again = repeated{shape, s, shaped}
	if failed := s.status.meaning(text); failed != 0 { // unlike the others of its shape
		s.seen, s.trouble = d.counter(text, failed), s.trouble || failed != '4'
	}
	return s
}

// counter returns the line counter of a text's shape and status, or nil if lines are not counted.
func (d *Digest) counter(text string, status byte) *int {
	if !d.Fold {
		return nil
	}
	if d.shapes == nil {
		d.shapes = map[uint64]*int{}
	}
	shape := shapeOf(text) + uint64(status)
	n := d.shapes[shape]
	if n == nil && len(d.shapes) < maxShapes {
		n = new(int)
		d.shapes[shape] = n
	}
	return n
}

// note counts a line's shape, and keeps the line if it is one of the first of it, as long as there is room for such.
func (d *Digest) note(l line, says template) {
	n := 0
	if says.seen != nil {
		n = *says.seen
		*says.seen++
	}
	if n < alike && d.firstSize <= d.Max {
		l.text = strings.Clone(l.text)
		d.firsts, d.firstSize = append(d.firsts, l), d.firstSize+len(l.text)+1
	}
}

// lasts returns the newest few lines of each shape, newest first. lines must have the newest first.
func lasts(lines []line) (of []line) {
	seen := map[uint64]int{}
	for _, l := range lines {
		shape := shapeOf(l.text)
		if seen[shape]++; seen[shape] <= alike {
			of = append(of, l)
		}
	}
	return of
}

// telling returns the lines around a failure that are next to it or have an uncommon shape.
func (d *Digest) telling(around []line) (of []line) {
	at := map[int]bool{}
	for _, l := range d.problems {
		if l.rank == rankFirst || l.rank == rankError {
			at[l.n-1], at[l.n+1] = true, true
		}
	}
	for _, l := range around {
		if n := d.shapes[shapeOf(l.text)]; at[l.n] || n == nil || *n < common {
			of = append(of, l)
		}
	}
	return of
}
