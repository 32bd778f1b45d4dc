package progress

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// tracker decides which numbers are progress. Its rules of evidence:
//
//   - A bar with a number on a line that is being redrawn is progress at once.
//   - Any other number on such a line is, once it rose.
//   - On complete lines a number where tools put it ([3/9] …, … [ 45%]) is, once it rose from
//     one line to another of the same form.
//   - Any other number on complete lines is, once it rose three times in lines that differ in
//     nothing else, over some time: a table of percentages is printed at once.
//
// A falling number starts another task, which needs no evidence if its form is the same.
type tracker struct {
	shown *task // nil if no progress is known
	next  *task // has no evidence yet
	tasks int   // how many have been shown
	spin  spinner
	parts parts
}

// task is something that a number counts.
type task struct {
	reading
	line     uint64 // where the line of the newest reading began
	redrawn  bool   // the number rose on one line
	rises    int
	began    time.Time
	last     time.Time
	from     float64 // fraction at the beginning
	idle     int     // complete lines without a number since
	finished bool    // its line is complete
	points   []point
}

// Bounds of evidence.
const (
	weakRises = 3
	weakTime  = 200 * time.Millisecond
	// forgetAfter is how many lines without a number end a task that is complete, or
	// whose line is.
	forgetAfter = 20
)

// take handles a reading. open states that its line is incomplete.
func (t *tracker) take(r reading, line uint64, open bool, now time.Time) {
	if open {
		t.parts.join(&r, line)
	}
	switch {
	case t.shown != nil && t.shown.goesOn(&r, line):
		t.shown.update(r, line, open, now)
	case t.shown != nil && t.shown.sameForm(&r):
		t.show(newTask(r, line, open, now))
	case t.next != nil && t.next.goesOn(&r, line):
		t.next.update(r, line, open, now)
		t.judge(open)
	default:
		t.next = newTask(r, line, open, now)
		t.judge(open)
	}
}

func (t *tracker) judge(open bool) {
	n := t.next
	switch {
	case open && n.strength == barred:
	case n.redrawn:
	case n.strength >= strong && n.rises >= 1:
	case n.rises >= weakRises && n.last.Sub(n.began) >= weakTime:
	default:
		return
	}
	t.show(n)
}

func (t *tracker) show(n *task) {
	t.shown, t.next = n, nil
	t.tasks++
	t.spin = spinner{}
}

// noteOrdinaryLine counts a complete line without a number.
func (t *tracker) noteOrdinaryLine() {
	if t.shown == nil {
		return
	}
	t.shown.idle++
	if t.shown.idle > forgetAfter && (t.shown.fraction >= 1 || t.shown.redrawn && t.shown.finished) {
		t.shown = nil
	}
}

func newTask(r reading, line uint64, open bool, now time.Time) *task {
	n := &task{reading: r, line: line, began: now, last: now, from: r.fraction, finished: !open}
	n.note(now)
	return n
}

// goesOn reports if a reading is the task's next one: on the same line, or on one of the
// same form, and not fallen.
func (t *task) goesOn(r *reading, line uint64) bool {
	const slack = 0.02 // totals grow
	if t.shape == partsShape && r.shape == partsShape {
		return line == t.line // more parts may come
	}
	return r.fraction >= t.fraction-slack && (line == t.line || t.sameForm(r))
}

// sameForm reports if a line is written like the task's.
func (t *task) sameForm(r *reading) bool {
	if t.shape == r.shape {
		return true
	}
	if t.strength != strong || r.strength != strong || (t.total == 0) != (r.total == 0) {
		return false
	}
	d := r.total - t.total
	return d == 0 || max(d, -d)*5 <= t.total
}

func (t *task) update(r reading, line uint64, open bool, now time.Time) {
	if r.fraction > t.fraction {
		t.rises++
		t.redrawn = t.redrawn || line == t.line
	}
	r.strength = max(r.strength, t.strength)
	t.reading, t.line, t.last, t.idle, t.finished = r, line, now, 0, !open
	t.note(now)
}

// parts are the tasks of a program that draws several bars, one below the other: without
// the cursor's motions all of them are on one line, taking turns.
type parts struct {
	line      uint64
	fractions map[string]float64 // by label
	last      string
	mixed     bool // one came back after another: they do take turns
}

// maxParts bounds the number of separate parts.
const maxParts = 256

// partsShape is the shape of the mean of several parts.
const partsShape = "\x00parts"

// join makes a reading of one part one of all parts, if there are several.
func (p *parts) join(r *reading, line uint64) {
	if p.fractions == nil || p.line != line {
		*p = parts{line: line, fractions: map[string]float64{}}
	}
	label := r.label()
	_, known := p.fractions[label]
	p.mixed = p.mixed || known && label != p.last
	if known || len(p.fractions) < maxParts {
		p.fractions[label] = r.fraction
	}
	if p.last = label; !p.mixed {
		return
	}
	sum := 0.0
	for _, f := range p.fractions {
		sum += f
	}
	n := len(p.fractions)
	*r = reading{fraction: min(sum/float64(n), 1), strength: r.strength, named: fmt.Sprintf("%d parts", n), shape: partsShape}
}

// point is where a task stood at a time.
type point struct {
	at       time.Time
	fraction float64
}

// maxPoints bounds the points that are kept: when there are too many, every second goes.
const maxPoints = 64

func (t *task) note(now time.Time) {
	if n := len(t.points); n > 0 && t.points[n-1].at.Equal(now) {
		t.points[n-1].fraction = t.fraction
		return
	}
	if len(t.points) == maxPoints {
		for i := range maxPoints / 2 {
			t.points[i] = t.points[2*i]
		}
		t.points = t.points[:maxPoints/2]
	}
	t.points = append(t.points, point{now, t.fraction})
}

// spinner finds a line that shows activity only.
type spinner struct {
	glyph rune
	rest  string
	turns int
}

// take takes an unfinished line.
func (s *spinner) take(line string) {
	r, n := utf8.DecodeRuneInString(strings.TrimLeft(line, " "))
	if !(r >= 0x2801 && r <= 0x28ff || r == '|' || r == '/' || r == '-' || r == '\\' || r >= 0x25d0 && r <= 0x25d3) {
		return
	}
	switch rest := strings.TrimLeft(line, " ")[n:]; {
	case rest != s.rest:
		*s = spinner{glyph: r, rest: rest}
	case r != s.glyph:
		s.glyph = r
		s.turns++
	}
}
