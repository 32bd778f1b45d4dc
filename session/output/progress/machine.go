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

// Progress is how far a command is.
type Progress struct {
	Kind           Kind
	Reported       bool    // by the program itself (OSC 9;4); else read from its output
	Fraction       float64 // 0 to 1
	Current, Total int64   // Total 0: only Fraction is known
	Label          string  // what is worked on
}

// Problem is an error in the output.
type Problem struct {
	File         string // as printed, relative to a directory that make reported; empty if unnamed
	Line, Column int    // as printed, from 1; 0: not given
	Message      string
	Offset       uint64 // of the output's line
}

// State is what is known of a command.
type State struct {
	Progress         Progress
	Errors, Warnings int
	First            *Problem // the first error
	Elapsed          time.Duration
	ETA              time.Duration
	HasETA           bool
	Partial          bool // not all output was read: counts are least ones
}

// Start describes the command that runs.
type Start struct {
	Command string // command line
	Time    time.Time
	// Earlier is how long it took before, newest first.
	Earlier []time.Duration
}

// Machine follows one command. Lines come in order, times do not go back.
type Machine struct {
	began    time.Time
	usual    time.Duration
	command  string
	problems *diagnostics.Stream // nil until the first line
	places   [16]uint64          // offsets of the newest lines, by index
	first    *Problem
	found    string // the matcher that found it
	tracker  tracker
	reported Progress
	partial  bool
}

// New follows a command from its start.
func New(s Start) *Machine {
	return &Machine{began: s.Time, usual: Median(s.Earlier), command: s.Command}
}

// Line takes a complete line without its end; from is the offset of its first byte.
func (m *Machine) Line(text string, from uint64, now time.Time) {
	if m.problems == nil {
		m.problems = diagnostics.NewStream(m.command)
	}
	i := m.problems.Line(text)
	m.places[i%len(m.places)] = from
	m.findFirst(i)
	if r, ok := read(text); ok {
		m.tracker.take(r, from, false, now)
		return
	}
	m.tracker.noteOrdinaryLine()
}

// findFirst notes where the first error is. What seemed to be one at first gives way to
// one with a place.
func (m *Machine) findFirst(index int) {
	if m.first != nil && m.first.File != "" {
		return
	}
	d, ok := m.problems.First()
	if !ok || m.first != nil && d.File == "" && d.Matcher == m.found {
		return
	}
	m.found = d.Matcher
	m.first = &Problem{File: d.File, Line: d.Line, Column: d.Column, Message: d.Message}
	if index-d.At < len(m.places) {
		m.first.Offset = m.places[d.At%len(m.places)]
	}
}

// ReadUnfinished reads the incomplete line in its current form.
func (m *Machine) ReadUnfinished(text string, from uint64, now time.Time) {
	if r, ok := read(text); ok {
		m.tracker.take(r, from, true, now)
		return
	}
	if m.tracker.shown == nil {
		m.tracker.spin.take(text)
	}
}

// SetReported records the progress that the program reports itself (OSC 9;4), in the emulator's words.
func (m *Machine) SetReported(state string, percent int) {
	m.reported = Progress{Kind: Kind(state), Reported: true, Fraction: float64(percent) / 100}
	if state == "none" || state == "" {
		m.reported = Progress{}
	}
}

// Expect sets the durations of earlier runs, newest first.
func (m *Machine) Expect(earlier []time.Duration) { m.usual = Median(earlier) }

// NoteSkipped records that some of the output will not be read.
func (m *Machine) NoteSkipped() {
	if m.partial = true; m.problems != nil {
		m.problems.Gap()
	}
}

// State returns the state at a time.
func (m *Machine) State(now time.Time) State {
	s := State{Progress: m.reported, First: m.first, Elapsed: now.Sub(m.began), Partial: m.partial}
	if m.problems != nil {
		s.Errors, s.Warnings = m.problems.Counts()
	}
	t := m.tracker.shown
	switch {
	case m.reported.Kind != None:
	case t != nil:
		s.Progress = Progress{Kind: Normal, Fraction: t.fraction, Current: t.current, Total: t.total, Label: t.label()}
	case m.tracker.spin.turns > 0:
		s.Progress = Progress{Kind: Indeterminate, Label: words(m.tracker.spin.rest)}
	}
	s.ETA, s.HasETA = eta(t, m.tracker.tasks, m.usual, s.Elapsed, now)
	return s
}
