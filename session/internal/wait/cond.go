package wait

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm"
)

// Kind is the kind of a Cond.
type Kind string

// Kinds of conditions; the comment names the fields of Cond in use.
const (
	CondText       Kind = "text"       // Text appears in new output or on a changed row
	CondRegexp     Kind = "regexp"     // Regexp matches a line of either
	CondAbsent     Kind = "gone"       // Text, or what Regexp matches, is on no row of the screen
	CondPrompt     Kind = "prompt"     // the shell waits for a line, at a prompt newer than the anchor
	CondCommand    Kind = "command"    // a command of the shell ended after the anchor
	CondExit       Kind = "exit"       // the process ends
	CondQuiet      Kind = "quiet"      // nothing new is printed for Quiet; what only moves is not new
	CondInput      Kind = "input"      // the program waits for input, of the kind Text if that is not empty
	CondFullscreen Kind = "fullscreen" // a full-screen program is shown, or with Off is not
	CondTitle      Kind = "title"      // the title contains Text
	CondBell       Kind = "bell"       // the bell rang after the anchor
	CondProgress   Kind = "progress"   // the program reports at least Percent
	CondCursor     Kind = "cursor"     // the cursor is at Row, Col
	CondAgent      Kind = "agent"      // the session's agent is in the state Text, or waits for its user
	CondPort       Kind = "port"       // a process of the session accepts connections at the TCP port Port, or at any
	CondAnomaly    Kind = "anomaly"    // after the anchor, a command printed a line that only earlier failures of it printed
)

// Cond is a condition.
type Cond struct {
	Kind     Kind
	Text     string
	Regexp   *regexp.Regexp
	Quiet    time.Duration
	Off      bool
	Percent  int
	Row, Col int // cells, 0-based; -1: any
	Port     int // 0: any
}

// matchesOutput reports whether a condition matches lines of output.
func (c *Cond) matchesOutput() bool { return c.Kind == CondText || c.Kind == CondRegexp }

// matchText matches the condition's text in a line.
func (c *Cond) matchText(line string) (string, bool) {
	switch {
	case c.Regexp != nil:
		if loc := c.Regexp.FindStringIndex(line); loc != nil {
			return line[loc[0]:loc[1]], true
		}
	case strings.Contains(line, c.Text):
		return c.Text, true
	}
	return "", false
}

// matchConditions fires the conditions of a wait that match now.
func (s *Set) matchConditions(w *Waiter, v *View) {
	settled := w.isSettled(v)
	for i := range w.Conds {
		if !w.open[i] || !settled && w.Conds[i].Kind == CondAbsent {
			continue
		}
		if match, ok := s.evaluate(w, &w.Conds[i], v); ok {
			w.recordMatch(i, match)
		}
	}
	if w.lines == nil || !settled {
		return
	}
	w.lines.current(func(line string) { w.match(w.redactLine(w.echo.Strip(line, false), false)) })
	if v.Version != w.matchedVersion {
		s.matchRows(w, v)
		w.matchedVersion = v.Version
	}
}

// evaluate evaluates a condition that does not depend on output.
func (s *Set) evaluate(w *Waiter, c *Cond, v *View) (match string, ok bool) {
	switch c.Kind {
	case CondExit:
		return "", v.Exited
	case CondQuiet:
		return "", s.quietFor(w, v) >= c.Quiet || v.Drained
	case CondInput:
		kind := v.InputKind
		if kind == "" && !v.HasIntegration && v.Phase == shell.PhasePrompt { // detected without marks
			kind = string(inputdetect.Prompt)
		}
		return kind, kind != "" && (c.Text == "" || c.Text == kind)
	case CondPrompt: // without integration the prompt of any program counts
		return "", v.IsRepl && !v.HasIntegration || v.Phase == shell.PhasePrompt && (!v.HasIntegration || v.PromptAt >= w.from.Off)
	case CondCommand:
		return v.Command, v.HasCommand && v.CommandEnd >= w.from.Off
	case CondFullscreen:
		return "", v.Alt != c.Off
	case CondTitle:
		title := v.Title
		if w.Redactor != nil {
			title = w.Redactor.RedactLine(title, false)
		}
		return title, title != "" && strings.Contains(title, c.Text)
	case CondBell:
		return "", v.Bells > 0 && v.BellAt > w.from.Off
	case CondProgress:
		if p := v.ParsedProgress; p.Known && p.At >= w.from.Off && p.Percent >= c.Percent {
			return fmt.Sprint(p.Percent), true
		}
		return fmt.Sprint(v.Percent), v.ReportsProgress && v.Percent >= c.Percent
	case CondCursor:
		f := s.cursor(v)
		return fmt.Sprintf("%d,%d", f.Row, f.Col), (c.Row < 0 || c.Row == f.Row) && (c.Col < 0 || c.Col == f.Col)
	case CondAbsent:
		return "", !s.onScreen(w, c)
	case CondAgent:
		return v.Agent.matches(c.Text, v.TypedAt)
	case CondPort:
		for _, port := range v.Ports {
			if c.Port == 0 || c.Port == port {
				return strconv.Itoa(port), true
			}
		}
	case CondAnomaly:
		return v.Anomaly.Line, v.Anomaly.Line != "" && v.Anomaly.At >= w.from.Off
	}
	return "", false
}

// cannotMatchAnomaly reports whether w can no longer match because it waits for an anomaly and the command has ended without one.
// Other open conditions prevent that, unless w.All is set.
func (w *Waiter) cannotMatchAnomaly(v *View) bool {
	if !v.HasCommand || v.CommandEnd < w.from.Off || v.Anomaly.ComparedTo < v.CommandEnd {
		return false
	}
	anomaly, other := false, false
	for i := range w.Conds {
		if w.open[i] {
			anomaly = anomaly || w.Conds[i].Kind == CondAnomaly
			other = other || w.Conds[i].Kind != CondAnomaly
		}
	}
	return anomaly && (w.All || !other)
}

// matches reports whether an agent is in a state, as observed after the newest input. "done" also counts as "idle". An
// empty want matches any state in which the agent waits for its user.
func (a *Agent) matches(want string, typed time.Time) (match string, ok bool) {
	if !a.Confident || a.At.Before(typed) {
		return "", false
	}
	switch want {
	case "":
		return a.State, a.State == "needs_input" || a.State == "needs_approval" || a.State == "done" || a.State == "idle"
	case "idle":
		return a.State, a.State == "done" || a.State == "idle"
	}
	return a.State, a.State == want
}

// cursor returns the cursor of the screen.
func (s *Set) cursor(v *View) vterm.Cursor {
	var f vterm.Frame
	s.host.Frame(&f, vterm.Query{Since: v.Version}) // no rows
	return f.Cursor
}

// onScreen matches a condition's text on the whole screen.
func (s *Set) onScreen(w *Waiter, c *Cond) bool {
	f := s.redactedFrame(w, 0)
	for i := range f.Lines {
		if _, ok := c.matchText(echodetect.StripRow(&f, &f.Lines[i], 0, nil)); ok {
			return true
		}
	}
	return false
}

// quietFor returns the time without output, counted from when it could first matter.
func (s *Set) quietFor(w *Waiter, v *View) time.Duration {
	last := v.LastOutput
	if s.activity.rows != nil {
		last = s.activity.last
	}
	if w.Since == nil && v.LastInput.Off == v.Offset && last.Before(w.started) {
		last = w.started // input without output so far
	}
	if last.IsZero() {
		last = w.started
	}
	return v.Now.Sub(last)
}

// NextDue returns the time after which a wait may match without new output. ok is false if none can.
func (s *Set) NextDue() (after time.Duration, ok bool) {
	if !s.hasOpen(CondQuiet, CondText, CondRegexp, CondAbsent) {
		return 0, false
	}
	v := s.host.View()
	due := func(d time.Duration) {
		if !ok || d < after {
			after, ok = max(0, d), true
		}
	}
	for w := range s.waiters {
		for i, c := range w.Conds {
			if w.open[i] && c.Kind == CondQuiet {
				due(c.Quiet - s.quietFor(w, &v))
			}
		}
		if w.Redactor != nil && v.Offset != w.matchedTo && !v.Drained {
			due(w.untilSettled(&v))
		}
	}
	return after, ok
}

// hasOpen reports whether a condition of one of the kinds is open.
func (s *Set) hasOpen(kinds ...Kind) bool {
	for w := range s.waiters {
		for i := range w.Conds {
			if w.open[i] && slices.Contains(kinds, w.Conds[i].Kind) {
				return true
			}
		}
	}
	return false
}

// AwaitsInput reports whether a caller waits for a prompt of the program. The prompt of a shell without integration is
// detected like any other.
func (s *Set) AwaitsInput(followed bool) bool {
	if followed {
		return s.hasOpen(CondInput)
	}
	return s.hasOpen(CondInput, CondPrompt)
}
