package session

import (
	"context"
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/session/internal/wait"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/vterm"
)

// Types of package wait, under the session's name.
type (
	// WaitSpec describes a wait. Waits are level-triggered: a condition that matched between Since and the call counts.
	WaitSpec = wait.Spec
	// Cond is a condition.
	Cond = wait.Cond
	// CondKind is the kind of a Cond.
	CondKind = wait.Kind
	// Fired is a condition that matched.
	Fired = wait.ConditionMatch
	// AgentState is the state of the coding agent in a session.
	AgentState = wait.Agent
	// Anomaly is a line of the newest command that only earlier failures of it printed.
	Anomaly = wait.Anomaly
)

// Conditions; the comment names the fields of Cond in use.
const (
	CondText       = wait.CondText       // Text appears in new output or on a changed row
	CondRegexp     = wait.CondRegexp     // Regexp matches a line of either
	CondAbsent     = wait.CondAbsent     // Text, or what Regexp matches, is on no row of the screen
	CondPrompt     = wait.CondPrompt     // the shell waits for a line, at a prompt newer than the anchor
	CondCommand    = wait.CondCommand    // a command of the shell ended after the anchor
	CondExit       = wait.CondExit       // the process ends
	CondQuiet      = wait.CondQuiet      // nothing new is printed for Quiet; what only moves is not new
	CondInput      = wait.CondInput      // the program waits for input, of the kind Text if that is not empty
	CondFullscreen = wait.CondFullscreen // a full-screen program is up, or with Off is not
	CondTitle      = wait.CondTitle      // the title contains Text
	CondBell       = wait.CondBell       // the bell rang after the anchor
	CondProgress   = wait.CondProgress   // the program reports at least Percent
	CondCursor     = wait.CondCursor     // the cursor is at Row, Col
	CondAgent      = wait.CondAgent      // the agent in it is in the state Text, or waits for its user
	CondPort       = wait.CondPort       // a process of the session accepts connections at the TCP port Port, or at any
	CondAnomaly    = wait.CondAnomaly    // after the anchor, a command printed a line that only earlier failures of it printed
)

// WaitResult is a wait's result. Ended is that of wait.Result.
type WaitResult struct {
	Fired   []Fired
	Ended   bool
	Status  Status
	Version uint64 // of the screen at that moment
	Cursor  uint64 // offset of the output at that moment: the next Since
}

// Wait waits until enough conditions match or ctx ends.
func (s *Session) Wait(ctx context.Context, f WaitSpec) (WaitResult, error) {
	w, done := wait.New(f, time.Now()), make(chan WaitResult, 1)
	var err error
	opErr := s.do(ctx, func() { err = s.waits.addWait(w, done) })
	if opErr != nil {
		return WaitResult{}, opErr
	}
	if err != nil {
		return WaitResult{}, err
	}
	select {
	case r := <-done:
		return r, nil
	case <-ctx.Done():
		var r WaitResult
		_ = s.do(context.WithoutCancel(ctx), func() {
			delete(s.waits.open, w)
			r = s.waits.result(s.waits.set.Remove(w))
		})
		return r, ctx.Err()
	}
}

// addWait adds a wait; its result is sent to done.
func (h *waits) addWait(w *wait.Waiter, done chan WaitResult) error {
	s := h.s
	if w.Since != nil && *w.Since > s.offset {
		return fmt.Errorf("%w: %d, the end is %d", ErrFuture, *w.Since, s.offset)
	}
	if err := h.set.Add(w); err != nil {
		return err
	}
	h.open[w] = done
	if h.set.AwaitsInput(s.lines.isFollowed()) {
		s.inputwait.scheduleProbe(time.Now())
	}
	h.set.Check()
	return nil
}

// result returns a wait's result with the current status.
func (h *waits) result(r wait.Result) WaitResult {
	s := h.s
	return WaitResult{Fired: r.Matches, Ended: r.Ended, Status: s.Status(), Version: r.Version, Cursor: r.Cursor}
}

// anchorAt returns an anchor at an offset of the output, with the current screen.
func (s *Session) anchorAt(off uint64) wait.Anchor {
	return wait.Anchor{Off: off, Version: s.engine.Version()}
}

// idleTimer fires when a wait for silence may match.
func (h *waits) idleTimer() <-chan time.Time {
	if after, ok := h.set.NextDue(); ok {
		return time.After(after)
	}
	return nil
}

// isFinal reports whether the session is final: its process has ended, and no leftover process can print.
func (s *Session) isFinal() bool {
	return s.Status().State != Running && s.isRingDrained() && (s.ring == nil || s.outputEnded)
}

// endWaits ends all waits and lines, as no output or change will follow.
func (s *Session) endWaits() {
	why := ErrEnded
	if s.Status().State == Running { // only its owner ends
		why = ErrStopped
	}
	s.lines.endRuns(why)
	s.waits.set.End()
}

// waits is the host of the session's waits (wait.Host), with the channels of their callers.
type waits struct {
	s    *Session
	set  *wait.Set
	open map[*wait.Waiter]chan WaitResult // receives the result, by wait
}

// newWaits returns the host of a session without waits.
func newWaits(s *Session) *waits {
	h := &waits{s: s, open: map[*wait.Waiter]chan WaitResult{}}
	h.set = wait.NewSet(h, &s.typing.editor, &s.typing.typedTexts)
	return h
}

// View implements wait.Host.
func (h *waits) View() wait.View {
	s := h.s
	s.mu.Lock()
	st, read, agent, ports, anomaly := s.cfg.Status, s.progress, s.agent, s.ports, s.anomaly
	s.mu.Unlock()
	v := wait.View{
		Now: time.Now(), Offset: s.offset, Version: s.engine.Version(), Top: s.topRow(), LastInput: s.typing.lastInput,
		Exited: st.State != Running, Drained: s.isFinal(), LastOutput: st.LastOutput,
		InputKind: string(st.Needs.Kind), IsRepl: st.Needs.Repl, Phase: st.Shell.Phase, HasIntegration: s.lines.isFollowed(),
		Command: s.lines.lastCommand.Text, CommandEnd: s.lines.lastCommand.End,
		HasCommand: s.lines.lastCommand.Number > 0 && !s.lines.lastCommand.Running,
		Alt:        st.Alt, Title: st.Title, Bells: s.pendingBells, BellAt: s.bellAt,
		ReportsProgress: st.Progress != "" && st.Progress != "none", Percent: st.Percent, ParsedProgress: read,
		Agent: agent, TypedAt: st.LastTyped, Ports: ports, Anomaly: anomaly,
	}
	if v.HasIntegration {
		v.PromptAt = s.lines.shell.State().PromptAt
	}
	return v
}

// Frame implements wait.Host.
func (h *waits) Frame(f *vterm.Frame, q vterm.Query) { h.s.engine.Frame(f, q) }

// Above implements wait.Host.
func (h *waits) Above() []vterm.Line { return redact.LinesAbove(h.s.engine) }

// Read implements wait.Host.
func (h *waits) Read(from uint64, buf []byte) ([]byte, uint64, error) {
	c, err := h.s.Output(from, buf)
	return c.Data, c.From, err
}

// WaitEnded implements wait.Host.
func (h *waits) WaitEnded(w *wait.Waiter, r wait.Result) {
	h.open[w] <- h.result(r)
	delete(h.open, w)
}
