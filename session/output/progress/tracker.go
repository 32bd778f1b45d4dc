package progress

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// tracker decides which numbers are progress, by this evidence:
//
//   - A bar with a number on a line that is being redrawn is progress at once.
//   - Any other number on such a line is progress after its first rise.
//   - On complete lines a number where tools put it ([3/9] …, … [ 45%]) is progress after it rose from one line to
//     another of the same form.
//   - Any other number on complete lines is progress after three rises in lines that differ in nothing else, over some
//     time: a table of percentages is printed at once.
//
// A falling number starts another task, which needs no evidence if its form is the same.
type tracker struct {
	shown      *task // nil if no progress is known
	candidate  *task // task without sufficient evidence
	shownCount int   // number of tasks shown so far
	spinner    spinner
	parts      parts
}

// task is a task whose progress a number states.
type task struct {
	reading
	line           uint64 // offset of the line of the newest reading
	wasRedrawn     bool   // the number rose within one line
	rises          int
	started        time.Time
	updated        time.Time
	startFraction  float64 // fraction at the start
	idleLines      int     // complete lines without a number since the newest reading
	isLineComplete bool    // its line is complete
	points         []point
}

// Bounds of evidence.
const (
	weakRises = 3
	weakTime  = 200 * time.Millisecond
	// forgetAfter is the number of lines without a number after which a completed task, or one whose line is complete,
	// ends.
	forgetAfter = 20
)

// addReading handles a reading. open states that its line is incomplete.
func (t *tracker) addReading(r reading, line uint64, open bool, now time.Time) {
	if open {
		t.parts.mergeReading(&r, line)
	}
	switch {
	case t.shown != nil && t.shown.isContinuedBy(&r, line):
		t.shown.update(r, line, open, now)
	case t.shown != nil && t.shown.hasSameForm(&r):
		t.showTask(newTask(r, line, open, now))
	case t.candidate != nil && t.candidate.isContinuedBy(&r, line):
		t.candidate.update(r, line, open, now)
		t.promoteCandidate(open)
	default:
		t.candidate = newTask(r, line, open, now)
		t.promoteCandidate(open)
	}
}

// promoteCandidate shows the candidate if its evidence suffices.
func (t *tracker) promoteCandidate(open bool) {
	n := t.candidate
	switch {
	case open && n.strength == strengthBar:
	case n.wasRedrawn:
	case n.strength >= strengthStrong && n.rises >= 1:
	case n.rises >= weakRises && n.updated.Sub(n.started) >= weakTime:
	default:
		return
	}
	t.showTask(n)
}

// showTask replaces the shown task.
func (t *tracker) showTask(n *task) {
	t.shown, t.candidate = n, nil
	t.shownCount++
	t.spinner = spinner{}
}

// noteOrdinaryLine counts a complete line without a number.
func (t *tracker) noteOrdinaryLine() {
	if t.shown == nil {
		return
	}
	t.shown.idleLines++
	if t.shown.idleLines > forgetAfter && (t.shown.fraction >= 1 || t.shown.wasRedrawn && t.shown.isLineComplete) {
		t.shown = nil
	}
}

func newTask(r reading, line uint64, open bool, now time.Time) *task {
	n := &task{reading: r, line: line, started: now, updated: now, startFraction: r.fraction, isLineComplete: !open}
	n.addPoint(now)
	return n
}

// isContinuedBy reports whether a reading is the task's next one: on the same line, or on one of the same form, and not
// lower.
func (t *task) isContinuedBy(r *reading, line uint64) bool {
	const slack = 0.02 // totals may grow
	if t.shape == partsShape && r.shape == partsShape {
		return line == t.line // more parts may come
	}
	return r.fraction >= t.fraction-slack && (line == t.line || t.hasSameForm(r))
}

// hasSameForm reports whether a line has the form of the task's lines.
func (t *task) hasSameForm(r *reading) bool {
	if t.shape == r.shape {
		return true
	}
	if t.strength != strengthStrong || r.strength != strengthStrong || (t.total == 0) != (r.total == 0) {
		return false
	}
	d := r.total - t.total
	return d == 0 || max(d, -d)*5 <= t.total
}

// update records the task's next reading.
func (t *task) update(r reading, line uint64, open bool, now time.Time) {
	if r.fraction > t.fraction {
		t.rises++
		t.wasRedrawn = t.wasRedrawn || line == t.line
	}
	r.strength = max(r.strength, t.strength)
	t.reading, t.line, t.updated, t.idleLines, t.isLineComplete = r, line, now, 0, !open
	t.addPoint(now)
}

// parts are the tasks of a program that draws several bars below each other. Without cursor motions, all of them are on
// one line and alternate.
type parts struct {
	line          uint64
	fractions     map[string]float64 // by label
	lastLabel     string
	isInterleaved bool // a label came back after another one: the bars alternate
}

// maxParts bounds the number of separate parts.
const maxParts = 256

// partsShape is the shape of the mean of several parts.
const partsShape = "\x00parts"

// mergeReading replaces a reading of one part by the mean of all parts, if there are several.
func (p *parts) mergeReading(r *reading, line uint64) {
	if p.fractions == nil || p.line != line {
		*p = parts{line: line, fractions: map[string]float64{}}
	}
	label := r.label()
	_, known := p.fractions[label]
	p.isInterleaved = p.isInterleaved || known && label != p.lastLabel
	if known || len(p.fractions) < maxParts {
		p.fractions[label] = r.fraction
	}
	if p.lastLabel = label; !p.isInterleaved {
		return
	}
	sum := 0.0
	for _, f := range p.fractions {
		sum += f
	}
	n := len(p.fractions)
	*r = reading{fraction: min(sum/float64(n), 1), strength: r.strength, name: fmt.Sprintf("%d parts", n), shape: partsShape}
}

// point is the fraction of a task at a time.
type point struct {
	at       time.Time
	fraction float64
}

// maxPoints bounds the points that are kept: when they are too many, every second one is dropped.
const maxPoints = 64

// addPoint records the current fraction.
func (t *task) addPoint(now time.Time) {
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

// spinner detects a line that only shows activity.
type spinner struct {
	glyph   rune
	text    string
	changes int
}

// addLine adds an incomplete line.
func (s *spinner) addLine(line string) {
	r, n := utf8.DecodeRuneInString(strings.TrimLeft(line, " "))
	if !(r >= 0x2801 && r <= 0x28ff || r == '|' || r == '/' || r == '-' || r == '\\' || r >= 0x25d0 && r <= 0x25d3) {
		return
	}
	switch rest := strings.TrimLeft(line, " ")[n:]; {
	case rest != s.text:
		*s = spinner{glyph: r, text: rest}
	case r != s.glyph:
		s.glyph = r
		s.changes++
	}
}
