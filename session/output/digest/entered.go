package digest

import (
	"strings"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// entered keeps the lines in which make and similar tools report their directories. Without the preceding one, however
// far above, an error names a file that cannot be found.
type entered struct {
	told  int
	lines map[int]line // by the index that the judge gave them
	kept  map[int]bool // those that are kept as part of a problem
	now   int
	ok    bool
}

// maxEntered bounds the lines that are held.
const maxEntered = 256

// take takes a line that was judged.
func (e *entered) take(j *diagnostics.Stream, l line) {
	at, told, ok := j.Directory()
	e.now, e.ok = at, ok
	if told == e.told {
		return
	}
	e.told = told
	if e.lines == nil || len(e.lines) >= maxEntered {
		e.lines = map[int]line{}
	}
	l.text, l.rank = strings.Clone(l.text), rankNone
	e.lines[j.Lines()-1] = l
}

// where keeps, once, the line that locates a failure's directory, as part of the failure.
func (d *Digest) where(r rank) {
	e := &d.entered
	l, known := e.lines[e.now]
	if !e.ok || !known || e.kept[e.now] {
		return
	}
	if e.kept == nil {
		e.kept = map[int]bool{}
	}
	e.kept[e.now] = true
	l.rank = r
	d.problem(l)
}
