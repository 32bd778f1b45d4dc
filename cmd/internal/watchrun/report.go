//go:build unix

package watchrun

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/output/progress"
)

// report describes a finished run of a watched command.
type report struct {
	n       int
	command string
	cause   []string
	run     *diagnostics.Run
	state   progress.State
	started time.Time
	before  *diagnostics.Run     // nil for the first run
	changes *diagnostics.Changes // nil for the first run
}

// reportJSON is the object that `watch --json` prints for each run.
type reportJSON struct {
	Run        int                `json:"run"`
	Command    string             `json:"command"`
	Changed    []string           `json:"changed_files"` // files that triggered the run
	Started    time.Time          `json:"started"`
	DurationMS int64              `json:"duration_ms"`
	ExitCode   *int               `json:"exit_code"`
	Signal     string             `json:"signal,omitempty"`
	Error      string             `json:"error,omitempty"` // set if neither is known
	Errors     int                `json:"errors"`
	Warnings   int                `json:"warnings"`
	FirstError *api.Problem       `json:"first_error,omitempty"`
	Tests      *diagnostics.Tests `json:"tests,omitempty"`
	Changes    *changesJSON       `json:"changes,omitempty"` // since the previous run
}

type changesJSON struct {
	diagnostics.Changes
	DurationMS int64 `json:"duration_ms"` // longer than the previous run; negative: shorter
}

func (r *report) json(w io.Writer) error {
	j := reportJSON{
		Run: r.n, Command: r.command, Changed: r.cause, Started: r.started, DurationMS: r.run.Duration.Milliseconds(), ExitCode: r.run.Exit,
		Signal: r.run.Signal, Errors: r.state.Errors, Warnings: r.state.Warnings, Tests: r.run.Result.Tests,
	}
	if r.isLost() {
		j.Error = Lost
	}
	if j.Changed == nil {
		j.Changed = []string{}
	}
	j.FirstError = r.firstError()
	if r.changes != nil {
		j.Changes = &changesJSON{*r.changes, r.changes.Slower.Milliseconds()}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(&j)
}

// maxListed bounds the lines of each kind in a text report.
const maxListed = 5

// Lost is the error of a run whose exit status is unknown.
const Lost = "its end was not seen: the keeper, which held its terminal, died or lost it, and what ran there was ended"

// isLost reports whether the run's exit status is unknown.
func (r *report) isLost() bool { return hasUnknownExit(r.run) }

func hasUnknownExit(run *diagnostics.Run) bool { return run.Exit == nil && run.Signal == "" }

// lines returns the report as text.
func (r *report) lines() []string {
	head := "✓ done"
	switch {
	case r.run.Exit != nil && *r.run.Exit != 0:
		head = fmt.Sprintf("✗ exit %d", *r.run.Exit)
	case r.isLost():
		head = "✗ lost"
	case r.run.Exit == nil:
		head = "✗ " + r.run.Signal
	}
	head += " in " + tookText(r.run.Duration)
	if r.changes != nil {
		head += slowerText(r.changes.Slower)
	}
	for _, c := range output.CountsText(r.state.Errors, r.state.Warnings) {
		head += ", " + c
	}
	if t := r.run.Result.Tests; t != nil && t.Passed+t.Failed > 0 {
		head += fmt.Sprintf(", tests: %d passed, %d failed", t.Passed, t.Failed)
	}
	lines := []string{head}
	if r.isLost() {
		lines = append(lines, Lost)
	}
	if f := r.firstError(); f != nil && r.changes == nil {
		lines = append(lines, "first error: "+output.ProblemText(&api.Problem{File: f.File, Line: f.Line, Message: f.Message}))
	}
	if t := r.run.Result.Tests; t != nil && r.changes == nil {
		lines = appendItems(lines, "fails: ", t.Failures, func(f diagnostics.Failure) string { return f.Name })
	}
	return append(lines, r.listChanges()...)
}

// firstError returns the first error, or nil after a run without errors. It replaces a failed test's name by its first assertion.
func (r *report) firstError() *api.Problem {
	f := r.state.First
	if f == nil {
		return nil
	}
	p := &api.Problem{File: f.File, Line: f.Line, Column: f.Column, Message: f.Message, Offset: f.Offset}
	if f.File != "" || r.run.Result.Tests == nil {
		return p
	}
	for _, d := range r.run.Result.Diagnostics {
		if d.Severity == diagnostics.Error {
			p.File, p.Line, p.Column, p.Message = d.File, d.Line, d.Column, d.Message
			break
		}
	}
	return p
}

// slowerText formats a difference of durations; small ones become "".
func slowerText(d time.Duration) string {
	if d.Abs() < 100*time.Millisecond {
		return ""
	}
	sign := "+"
	if d < 0 {
		sign = "−"
	}
	return " (" + sign + tookText(d.Abs()) + ")"
}

// tookText formats a duration, short ones in milliseconds.
func tookText(d time.Duration) string {
	if d < time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return output.Elapsed(d.Milliseconds())
}

// Prefixes of lines in a report.
const (
	newMark    = "new: "
	fixedMark  = "fixed: "
	failsMark  = "fails now: "
	passesMark = "passes again: "
)

// colorOf returns the color of a report line: green for improvements, red for regressions.
func colorOf(line string) string {
	switch {
	case strings.HasPrefix(line, fixedMark), strings.HasPrefix(line, passesMark):
		return "\x1b[32m"
	case strings.HasPrefix(line, newMark), strings.HasPrefix(line, failsMark):
		return "\x1b[31m"
	}
	return ""
}

// brief returns a one-line summary, shown while no run is active.
func (r *report) brief(errors int) string {
	text := r.lines()[0]
	if c := r.changes; c != nil {
		if n := len(c.FixedErrors) + len(c.FixedTests); n > 0 {
			text += fmt.Sprintf(", %d fixed", n)
		}
		if n := len(c.NewErrors) + len(c.NewFailures); n > 0 {
			text += fmt.Sprintf(", %d new", n)
		}
	}
	if errors > 0 {
		text += " (e: edit)"
	}
	return text
}

// listChanges lists the differences to the previous run.
func (r *report) listChanges() []string {
	c := r.changes
	if c == nil {
		return nil
	}
	var lines []string
	if c.ExitChanged {
		lines = append(lines, "status: "+exitText(r.before)+" before, "+exitText(r.run)+" now")
	}
	lines = appendItems(lines, newMark, c.NewErrors, diagnosticText)
	lines = appendItems(lines, fixedMark, c.FixedErrors, diagnosticText)
	name := func(s string) string { return s }
	lines = appendItems(lines, failsMark, c.NewFailures, name)
	return appendItems(lines, passesMark, c.FixedTests, name)
}

func exitText(r *diagnostics.Run) string {
	switch {
	case hasUnknownExit(r):
		return "lost"
	case r.Exit == nil:
		return r.Signal
	}
	return fmt.Sprint(*r.Exit)
}

func appendItems[T any](lines []string, what string, list []T, text func(T) string) []string {
	for i, v := range list {
		if i == maxListed {
			return append(lines, fmt.Sprintf("%sand %d more", what, len(list)-i))
		}
		lines = append(lines, what+text(v))
	}
	return lines
}

func diagnosticText(d diagnostics.Diagnostic) string {
	return output.ProblemText(&api.Problem{File: d.File, Line: d.Line, Message: d.Message})
}

// barWidth is the width of a drawn bar, in cells.
const barWidth = 16

// statusText formats the status line of a run: bar, step, time, time left, problems.
func statusText(s progress.State) string {
	var parts []string
	switch p := s.Progress; {
	case p.Kind == progress.Indeterminate:
		parts = append(parts, "…")
	case p.Kind != progress.None:
		full := int(p.Fraction * barWidth)
		bar := strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
		parts = append(parts, fmt.Sprintf("%s %d%%", bar, int(p.Fraction*100)))
		if p.Total > 0 && p.Total < 1e6 {
			parts = append(parts, fmt.Sprintf("%d/%d", p.Current, p.Total))
		}
	}
	parts = append(parts, output.Elapsed(s.Elapsed.Milliseconds()))
	if s.HasETA {
		parts = append(parts, "ETA "+output.Elapsed(s.ETA.Milliseconds()))
	}
	parts = append(parts, output.CountsText(s.Errors, s.Warnings)...)
	if s.First != nil {
		parts = append(parts, output.ProblemText(&api.Problem{File: s.First.File, Line: s.First.Line, Message: s.First.Message}))
	}
	return strings.Join(parts, "  ")
}
