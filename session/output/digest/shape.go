package digest

import (
	"strings"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// Lines that are alike but for their numbers say one thing: a build's "[123/4000] cc -c file123.c", a log's "request 77 done
// in 12 ms". Of each such shape a few lines tell what there is; hundreds of them push out what is different.

const (
	// alike is how many lines of a shape are kept, at the beginning and at the end.
	alike = 1
	// common is how many lines of a shape there are where one of them tells nothing of a failure that it stands near.
	common = 5
	// maxShapes bounds how many shapes are told apart; what comes later is taken for new.
	maxShapes = 4096
)

// shapeOf is a line's shape: each word with a digit in it counts as a number, whatever it is, what fills a column or a
// bar as one, and blanks only behind a word: before others they align numbers.
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

// letter says which bytes words are made of: ASCII's letters and digits.
var letter = func() (is [256]bool) {
	for _, r := range []string{"09", "AZ", "az"} {
		for c := r[0]; c <= r[1]; c++ {
			is[c] = true
		}
	}
	return is
}()

// said is what a line says of itself, as all do that are alike but for the digits of their numbers.
type said struct {
	level diagnostics.Severity // as of a log
	seen  *int                 // lines of its shape; nil: that is not told apart, or not asked for

	trouble bool // isTrouble
	counts  bool // countsFailures
	asserts bool // isAssertion
	status  status
}

// says is what a line says of itself. What its judge takes for its shape, where it has one, tells more lines apart than
// shapeOf does and as many as logLevel: both ask of a digit only whether it is one. It tells zeros from other numbers, too,
// and keeps each number's place.
func (d *Digest) says(text string, shape uint64, shaped bool) said {
	s, known := d.again.says, shaped && d.again.shaped && d.again.shape == shape
	if !known {
		s, known = d.judged[shape]
	}
	if !known || !shaped {
		s = said{
			level: logLevel(text), seen: d.counter(text, 0), trouble: isTrouble(text), counts: countsFailures(text),
			asserts: isAssertion(text), status: statusOf(text),
		}
		s.trouble = s.trouble || s.counts || s.asserts
	}
	if shaped && !known {
		if d.judged == nil || len(d.judged) >= maxShapes {
			d.judged = map[uint64]said{}
		}
		d.judged[shape] = s
	}
	d.again = repeated{shape, s, shaped}
	if failed := s.status.said(text); failed != 0 { // unlike the others of its shape
		s.seen, s.trouble = d.counter(text, failed), s.trouble || failed != '4'
	}
	return s
}

// counter counts the lines of a text's shape, and of what their status says; nil: they are not told apart.
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
func (d *Digest) note(l line, says said) {
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

// lasts are of lines, the newest first, the newest few of each shape.
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

// telling are of the lines around a failure those that stand beside it, and those that are not alike many others.
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
