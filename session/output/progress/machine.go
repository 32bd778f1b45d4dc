package progress

import (
	"time"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// Kind is the kind of known progress.
type Kind string

// Kinds.
const (
	None          Kind = ""
	Normal        Kind = "normal" // Fraction counts
	Indeterminate Kind = "indeterminate"
	Failed        Kind = "error"
	Paused        Kind = "paused"
)

// Progress is the progress of a command.
type Progress struct {
	Kind           Kind
	Reported       bool    // by the program itself (OSC 9;4); else read from its output
	Fraction       float64 // 0 to 1
	Current, Total int64   // Total 0: only Fraction is known
	Label          string  // what the command works on
}

// Problem is an error in the output.
type Problem struct {
	File         string // as printed, relative to a directory that make reported; empty if unnamed
	Line, Column int    // as printed, from 1; 0: not given
	Message      string
	Offset       uint64 // of the output's line
}

// State is the state of a command as far as known.
type State struct {
	Progress         Progress
	Errors, Warnings int
	First            *Problem // the first error
	Elapsed          time.Duration
	ETA              time.Duration
	HasETA           bool
	Partial          bool // output was skipped: the counts are minimums
}

// Start describes the start of a command.
type Start struct {
	Command string // command line
	Time    time.Time
	// Earlier lists the durations of earlier runs, newest first.
	Earlier []time.Duration
}

// Estimator tracks one command. Lines must be added in order, and times must not decrease.
type Estimator struct {
	started       time.Time
	usualDuration time.Duration
	command       string
	problems      *diagnostics.Stream // nil until the first line
	lineOffsets   [16]uint64          // offsets of the newest lines, by index
	first         *Problem
	firstMatcher  string // matcher that found first
	tracker       tracker
	reported      Progress
	partial       bool
}

// New returns a machine for a command that starts now.
func New(s Start) *Estimator {
	return &Estimator{started: s.Time, usualDuration: Median(s.Earlier), command: s.Command}
}

// AddLine adds a complete line without its end; from is the offset of its first byte.
func (m *Estimator) AddLine(text string, from uint64, now time.Time) {
	if m.problems == nil {
		m.problems = diagnostics.NewStream(m.command)
	}
	i := m.problems.ReadLine(text)
	m.lineOffsets[i%len(m.lineOffsets)] = from
	m.findFirst(i)
	if r, ok := parseReading(text); ok {
		m.tracker.addReading(r, from, false, now)
		return
	}
	m.tracker.noteOrdinaryLine()
}

// findFirst records the first error. An error with a file replaces a first one without a file.
func (m *Estimator) findFirst(index int) {
	if m.first != nil && m.first.File != "" {
		return
	}
	d, ok := m.problems.First()
	if !ok || m.first != nil && d.File == "" && d.Matcher == m.firstMatcher {
		return
	}
	m.firstMatcher = d.Matcher
	m.first = &Problem{File: d.File, Line: d.Line, Column: d.Column, Message: d.Message}
	if index-d.At < len(m.lineOffsets) {
		m.first.Offset = m.lineOffsets[d.At%len(m.lineOffsets)]
	}
}

// ReadUnfinished reads the incomplete line in its current form.
func (m *Estimator) ReadUnfinished(text string, from uint64, now time.Time) {
	if r, ok := parseReading(text); ok {
		m.tracker.addReading(r, from, true, now)
		return
	}
	if m.tracker.shown == nil {
		m.tracker.spinner.addLine(text)
	}
}

// SetReported records the progress that the program reports itself (OSC 9;4), in the emulator's terms.
func (m *Estimator) SetReported(state string, percent int) {
	m.reported = Progress{Kind: Kind(state), Reported: true, Fraction: float64(percent) / 100}
	if state == "none" || state == "" {
		m.reported = Progress{}
	}
}

// SetEarlier sets the durations of earlier runs, newest first.
func (m *Estimator) SetEarlier(earlier []time.Duration) { m.usualDuration = Median(earlier) }

// NoteSkipped records that some of the output will not be read.
func (m *Estimator) NoteSkipped() {
	if m.partial = true; m.problems != nil {
		m.problems.NoteGap()
	}
}

// State returns the state at a time.
func (m *Estimator) State(now time.Time) State {
	s := State{Progress: m.reported, First: m.first, Elapsed: now.Sub(m.started), Partial: m.partial}
	if m.problems != nil {
		s.Errors, s.Warnings = m.problems.Counts()
	}
	t := m.tracker.shown
	switch {
	case m.reported.Kind != None:
	case t != nil:
		s.Progress = Progress{Kind: Normal, Fraction: t.fraction, Current: t.current, Total: t.total, Label: t.label()}
	case m.tracker.spinner.changes > 0:
		s.Progress = Progress{Kind: Indeterminate, Label: trimMarks(m.tracker.spinner.text)}
	}
	s.ETA, s.HasETA = eta(t, m.tracker.shownCount, m.usualDuration, s.Elapsed, now)
	return s
}
