package digest

import (
	"strings"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// directoryReports keeps the lines in which make and similar tools report their directories. An error that follows, however
// far below, names a file relative to the reported directory.
type directoryReports struct {
	reports     int          // number of reports so far
	byReport    map[int]line // report lines by the detector's line index
	keptReports map[int]bool // report lines already kept with a problem
	current     int          // line index of the current directory's report
	isKnown     bool         // current is valid
}

// maxDirectoryReports bounds the report lines that are held.
const maxDirectoryReports = 256

// update records the report of the line that the detector has just classified, if it is one.
func (e *directoryReports) update(j *diagnostics.Stream, l line) {
	at, reports, ok := j.Directory()
	e.current, e.isKnown = at, ok
	if reports == e.reports {
		return
	}
	e.reports = reports
	if e.byReport == nil || len(e.byReport) >= maxDirectoryReports {
		e.byReport = map[int]line{}
	}
	l.text, l.rank = strings.Clone(l.text), rankNone
	e.byReport[j.Lines()-1] = l
}

// keepDirectoryReport keeps, once, the line that reports the current directory, with the given rank.
func (d *Digest) keepDirectoryReport(r rank) {
	e := &d.directoryReports
	l, known := e.byReport[e.current]
	if !e.isKnown || !known || e.keptReports[e.current] {
		return
	}
	if e.keptReports == nil {
		e.keptReports = map[int]bool{}
	}
	e.keptReports[e.current] = true
	l.rank = r
	d.keepProblem(l)
}
