package session

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/internal/echo"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm"
)

// CondKind says what a Cond waits for.
type CondKind string

// Conditions; the comment names the fields of Cond in use.
const (
	CondText       CondKind = "text"       // Text appears in new output or on a changed row
	CondRegexp     CondKind = "regexp"     // Regexp matches a line of either
	CondGone       CondKind = "gone"       // Text, or what Regexp matches, is on no row of the screen
	CondPrompt     CondKind = "prompt"     // the shell waits for a line, at a prompt newer than the anchor
	CondCommand    CondKind = "command"    // a command of the shell ended after the anchor
	CondExit       CondKind = "exit"       // the process ends
	CondQuiet      CondKind = "quiet"      // nothing new is printed for Quiet; what only moves is not new
	CondInput      CondKind = "input"      // the program waits for input, of the kind Text if that is not empty
	CondFullscreen CondKind = "fullscreen" // a full-screen program is up, or with Off is not
	CondTitle      CondKind = "title"      // the title contains Text
	CondBell       CondKind = "bell"       // the bell rang after the anchor
	CondProgress   CondKind = "progress"   // the program reports at least Percent
	CondCursor     CondKind = "cursor"     // the cursor is at Row, Col
)

// Cond is something to wait for.
type Cond struct {
	Kind     CondKind
	Text     string
	Regexp   *regexp.Regexp
	Quiet    time.Duration
	Off      bool
	Percent  int
	Row, Col int // cells, 0-based; -1: any
}

// textual says that a condition looks at lines of output.
func (c *Cond) textual() bool { return c.Kind == CondText || c.Kind == CondRegexp }

// matchText looks for the condition's text in a line.
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

// holds fires the conditions of a wait that hold now.
func (s *Session) holds(w *waiter) {
	st := s.Status()
	for i := range w.Conds {
		if !w.open[i] {
			continue
		}
		if match, ok := s.holdsNow(w, &w.Conds[i], &st); ok {
			w.fire(i, match)
		}
	}
	if w.text == nil {
		return
	}
	w.text.current(func(line string) { w.match(w.echo.Strip(line, false)) })
	if v := s.engine.Version(); v != w.seen {
		s.matchRows(w)
		w.seen = v
	}
}

// holdsNow judges the conditions that do not look at output.
func (s *Session) holdsNow(w *waiter, c *Cond, st *Status) (match string, ok bool) {
	switch c.Kind {
	case CondExit:
		return "", st.State != Running
	case CondQuiet:
		return "", s.quietFor(w) >= c.Quiet || s.noMoreOutput()
	case CondInput:
		kind := string(st.Needs.Kind)
		if kind == "" && !s.followed() && st.Shell.Phase == shell.PhasePrompt { // by evidence
			kind = string(evidence.Prompt)
		}
		return kind, kind != "" && (c.Text == "" || c.Text == kind)
	case CondPrompt:
		if !s.followed() { // by evidence
			return "", st.Shell.Phase == shell.PhasePrompt
		}
		return "", st.Shell.Phase == shell.PhasePrompt && s.shell.State().PromptAt >= w.from.off
	case CondCommand:
		done := &s.lastCommand
		return done.Text, done.Number > 0 && !done.Running && done.End >= w.from.off
	case CondFullscreen:
		return "", st.Alt != c.Off
	case CondTitle:
		return st.Title, st.Title != "" && strings.Contains(st.Title, c.Text)
	case CondBell:
		return "", s.bells > 0 && s.bellAt > w.from.off
	case CondProgress:
		if p := s.read; p.known && p.at >= w.from.off && p.percent >= c.Percent {
			return fmt.Sprint(p.percent), true
		}
		return fmt.Sprint(st.Percent), st.Progress != "" && st.Progress != "none" && st.Percent >= c.Percent
	case CondCursor:
		f := s.cursorFrame()
		return fmt.Sprintf("%d,%d", f.Row, f.Col), (c.Row < 0 || c.Row == f.Row) && (c.Col < 0 || c.Col == f.Col)
	case CondGone:
		return "", !s.onScreen(c)
	}
	return "", false
}

func (s *Session) cursorFrame() vterm.Cursor {
	var f vterm.Frame
	s.engine.Frame(&f, vterm.Query{Since: s.engine.Version()}) // no rows
	return f.Cursor
}

// onScreen looks for a condition's text on the whole screen.
func (s *Session) onScreen(c *Cond) bool {
	var f vterm.Frame
	s.engine.Frame(&f, vterm.Query{})
	for i := range f.Lines {
		if _, ok := c.matchText(echo.RowWithout(&f, &f.Lines[i], 0, nil)); ok {
			return true
		}
	}
	return false
}

// quietFor is how long nothing was printed, counted from when it could first matter.
func (s *Session) quietFor(w *waiter) time.Duration {
	last := s.Status().LastOutput
	if s.content.rows != nil {
		last = s.content.last
	}
	if w.Since == nil && s.typedAt.off == s.off && last.Before(w.began) {
		last = w.began // typed, not answered yet
	}
	if last.IsZero() {
		last = w.began
	}
	return time.Since(last)
}

// nextWait fires when a quiet condition may have come true.
func (s *Session) nextWait() <-chan time.Time {
	next := time.Duration(-1)
	for w := range s.waiters {
		for i, c := range w.Conds {
			if !w.open[i] || c.Kind != CondQuiet {
				continue
			}
			if d := max(0, c.Quiet-s.quietFor(w)); next < 0 || d < next {
				next = d
			}
		}
	}
	if next < 0 {
		return nil
	}
	return time.After(next)
}
