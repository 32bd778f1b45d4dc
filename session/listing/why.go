package listing

import (
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// Bounds of WhyLines: characters of a line, and numbers of entries.
const (
	whyWidth   = 200 // characters of a line
	whyErrors  = 2
	whyTests   = 3
	whyAlso    = 3
	whyMissing = 2
	whyListed  = 3
)

// WhyLines describes a comparison of two runs as text, at most 25 lines.
func WhyLines(w *api.Why) []string {
	t := &whyText{w: w}
	t.addHead()
	if w.Good == nil {
		t.addWithoutBaseline()
	} else {
		t.addOutputDiff()
		t.addChanges()
	}
	for _, n := range w.Notes {
		t.add("note: %s", n)
	}
	return t.lines
}

// whyText collects the lines.
type whyText struct {
	w     *api.Why
	lines []string
	shown []string // lines of output already included
}

// add appends a line.
func (t *whyText) add(format string, args ...any) {
	t.lines = append(t.lines, Shorten(Printable(strings.ReplaceAll(fmt.Sprintf(format, args...), "\t", "  ")), whyWidth))
}

// runName returns the name of a run for users.
func runName(r *api.ComparedRun) string {
	if r.Command > 0 {
		return fmt.Sprintf("%s:%d", r.Name, r.Command)
	}
	return r.Name
}

// endText describes how a run ended.
func endText(r *api.ComparedRun) string {
	took := Elapsed(r.DurationMS)
	switch {
	case r.State == "running":
		return "is running since " + took
	case r.Signal != "":
		return "was ended by " + r.Signal + " after " + took
	case r.State == "lost" || r.ExitCode == nil:
		return "ended with an unknown status after " + took
	case *r.ExitCode == 0:
		return "succeeded after " + took
	}
	return fmt.Sprintf("failed with exit %d after %s", *r.ExitCode, took)
}

// oneLine returns a command on one line.
func oneLine(s string, n int) string { return Shorten(strings.Join(strings.Fields(s), " "), n) }

// addHead adds both runs on one line.
func (t *whyText) addHead() {
	w := t.w
	line := fmt.Sprintf("%s `%s` %s", runName(&w.Run), oneLine(w.Run.Line, 60), endText(&w.Run))
	if g := w.Good; g != nil {
		line += "; compared with " + runName(g)
		if w.Match != "same" {
			line += " `" + oneLine(g.Line, 60) + "`"
		}
		if d := w.Run.Started.Sub(g.Started); !g.Started.IsZero() && d != 0 {
			when := "earlier"
			if d < 0 {
				when = "later"
			}
			line += ", " + Elapsed(d.Abs().Milliseconds()) + " " + when
		}
		if g.ExitCode == nil || *g.ExitCode != 0 {
			line += ", which " + endText(g)
		}
	}
	t.add("%s", line)
}

// addWithoutBaseline adds the known facts without a good run for comparison.
func (t *whyText) addWithoutBaseline() {
	if e := t.w.FirstError; e != nil {
		t.add("first error (line %d): %s", e.Number, e.Text)
	}
	t.add("no good run of this command in this directory or project is known, so nothing can be compared")
	if n := t.w.Recent; n > 0 {
		t.add("%s", recentText(t.w))
	}
}

// recentText describes the results of the previous runs.
func recentText(w *api.Why) string {
	return fmt.Sprintf("%d of the %d runs before it failed, too", w.RecentBad, w.Recent)
}

// addOutputDiff adds the differences of the outputs.
func (t *whyText) addOutputDiff() {
	w := t.w
	switch {
	case len(w.New) > 0:
		t.add("first new line (line %d): %s", w.New[0].Number, w.New[0].Text)
		t.shown = append(t.shown, w.New[0].Text)
	case w.MissingLines > 0:
		t.add("no new lines: %d lines of the good run are missing", w.MissingLines)
	default:
		t.add("no new lines: both runs printed the same; only numbers, times, ids and the like differ")
	}
	t.addErrors("new error: ", w.NewErrors)
	t.addList("test fails now: ", w.NewFailures, whyTests)
	also := 0
	for i := range w.New {
		if l := &w.New[i]; also < whyAlso && l.Telling && !t.hasShown(l.Text) {
			t.add("also new (line %d): %s", l.Number, l.Text)
			t.shown = append(t.shown, l.Text)
			also++
		}
	}
	missing := 0 // lines to show
	switch {
	case len(w.New) == 0:
		missing = whyMissing
	case len(w.New) < 3:
		missing = 1
	}
	for i := range w.Missing[:min(len(w.Missing), missing)] {
		t.add("missing now: %s", w.Missing[i].Text)
	}
	t.addErrors("error gone: ", w.FixedErrors)
	t.addList("test passes again: ", w.FixedTests, whyTests)
}

// addErrors adds errors that are not shown yet.
func (t *whyText) addErrors(what string, list []diagnostics.Diagnostic) {
	n := 0
	for i := range list {
		d := &list[i]
		if t.hasShown(d.Message) || d.Matcher == "make" && len(t.shown) > 0 { // make only reports that a program failed
			continue
		}
		if n++; n > whyErrors {
			continue
		}
		text := d.Message
		switch {
		case d.File != "" && d.Line > 0:
			text = fmt.Sprintf("%s:%d: %s", d.File, d.Line, d.Message)
		case d.File != "":
			text = d.File + ": " + d.Message
		}
		t.add("%s%s", what, text)
		t.shown = append(t.shown, text, d.Message)
	}
	if n > whyErrors {
		t.add("%sand %d more", what, n-whyErrors)
	}
}

// hasShown reports whether a text is already included.
func (t *whyText) hasShown(text string) bool {
	for _, s := range t.shown {
		if strings.Contains(s, text) || strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// addList adds the first n entries of a list, one per line.
func (t *whyText) addList(what string, list []string, n int) {
	for i, s := range list {
		if i == n {
			t.add("%sand %d more", what, len(list)-n)
			return
		}
		t.add("%s%s", what, s)
	}
}

// addChanges adds what changed between the runs.
func (t *whyText) addChanges() {
	w := t.w
	for i, c := range w.Commits {
		if i == whyListed {
			t.add("commit: and %d more", len(w.Commits)-whyListed)
			break
		}
		t.add("commit: %s %s (%s)", c.ID, c.Subject, c.Author)
	}
	if w.Dropped > 0 {
		t.add("commit: %d that the good run had are not in the history now", w.Dropped)
	}
	if n := len(w.Committed); n > 0 {
		t.add("files in these commits: %s", firstNames(w.Committed, n))
	}
	if w.FileCount > 0 {
		t.add("changed files without a commit: %s", firstNames(w.Files, w.FileCount))
	}
	if len(w.Locks) > 0 {
		t.add("changed lock files: %s", firstNames(w.Locks, len(w.Locks)))
	}
	for i, v := range w.Variables {
		if i == whyListed {
			t.add("variable: and %d more", len(w.Variables)-whyListed)
			break
		}
		t.add("variable %s: %s → %s", v.Name, valueText(v.Before), valueText(v.After))
	}
	for i, v := range w.Versions {
		if i == whyListed {
			t.add("version: and %d more", len(w.Versions)-whyListed)
			break
		}
		t.add("version of %s: %s → %s", v.Name, v.Before, v.After)
	}
	if len(w.Commits)+w.Dropped+w.FileCount+len(w.Variables)+len(w.Versions) == 0 && w.Match != "given" && w.Match != "similar" {
		t.add("nothing else changed that is known: no commit, file, variable or version")
	}
	if w.RecentBad > 0 {
		t.add("%s", recentText(w))
	}
	if w.Run.State != "running" {
		t.add("time: %s, and %s in the good run", Elapsed(w.Run.DurationMS), Elapsed(w.Good.DurationMS))
	}
	if w.Partial {
		t.add("note: only parts of the output were compared: it is larger than 64 MiB, some of it was removed, or the time was over")
	}
}

// valueText formats the value of a variable.
func valueText(s *string) string {
	if s == nil {
		return "not set"
	}
	return fmt.Sprintf("%q", *s)
}

// firstNames returns the first names of a list of n.
func firstNames(list []string, n int) string {
	const most = 6
	if n <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:min(most, len(list))], ", "), n-min(most, len(list)))
}
