package session

import (
	"context"
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/session/internal/wait"
	"github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/vterm"
)

// What is waited for, under the session's name.
type (
	// WaitFor says what to wait for. Waits are level-triggered: what came true between
	// Since and the call counts.
	WaitFor = wait.For
	// Cond is something to wait for.
	Cond = wait.Cond
	// CondKind says what a Cond waits for.
	CondKind = wait.Kind
	// Fired is a condition that came true.
	Fired = wait.Fired
	// AgentState is how the coding agent in a session is.
	AgentState = wait.Agent
)

// Conditions; the comment names the fields of Cond in use.
const (
	CondText       = wait.CondText       // Text appears in new output or on a changed row
	CondRegexp     = wait.CondRegexp     // Regexp matches a line of either
	CondGone       = wait.CondGone       // Text, or what Regexp matches, is on no row of the screen
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
	CondAgent      = wait.CondAgent      // the agent in it is in the state Text, or waits for its person
)

// Waited is a wait's result. Ended says that what has not fired never will: the session is
// over, or was closed.
type Waited struct {
	Fired   []Fired
	Ended   bool
	Status  Status
	Version uint64 // of the screen at that moment
	Cursor  uint64 // offset of the output at that moment: the next Since
}

// Wait waits until the conditions hold or ctx ends.
func (s *Session) Wait(ctx context.Context, f WaitFor) (Waited, error) {
	w, done := wait.New(f, time.Now()), make(chan Waited, 1)
	var err error
	opErr := s.do(ctx, func() { err = s.waits.addWait(w, done) })
	if opErr != nil {
		return Waited{}, opErr
	}
	if err != nil {
		return Waited{}, err
	}
	select {
	case r := <-done:
		return r, nil
	case <-ctx.Done():
		var r Waited
		_ = s.do(context.WithoutCancel(ctx), func() {
			delete(s.waits.open, w)
			r = s.waits.waited(s.waits.set.Remove(w))
		})
		return r, ctx.Err()
	}
}

func (h *waits) addWait(w *wait.Waiter, done chan Waited) error {
	s := h.s
	if w.Since != nil && *w.Since > s.off {
		return fmt.Errorf("%w: %d, the end is %d", ErrFuture, *w.Since, s.off)
	}
	if err := h.set.Add(w); err != nil {
		return err
	}
	h.open[w] = done
	if h.set.AwaitsInput(s.lines.followed()) {
		s.inputwait.lookAt(time.Now())
	}
	h.set.Check()
	return nil
}

func (h *waits) waited(r wait.Result) Waited {
	s := h.s
	return Waited{Fired: r.Fired, Ended: r.Ended, Status: s.Status(), Version: r.Version, Cursor: r.Cursor}
}

// moment is an offset of the output, with the screen as it is now.
func (s *Session) moment(off uint64) wait.Anchor {
	return wait.Anchor{Off: off, Version: s.engine.Version()}
}

// nextWait fires when a wait for silence may have come true.
func (h *waits) nextWait() <-chan time.Time {
	if after, ok := h.set.Next(); ok {
		return time.After(after)
	}
	return nil
}

// noMoreOutput says that nothing will happen in the session any more: its process has ended, and
// no process that it left can print.
func (s *Session) noMoreOutput() bool {
	return s.Status().State != Running && s.drained() && (s.ring == nil || s.closed)
}

// endWaits ends all waits and lines: nothing more will come.
func (s *Session) endWaits() {
	why := ErrEnded
	if s.Status().State == Running { // only its owner ends
		why = ErrStopped
	}
	s.lines.endRuns(why)
	s.waits.set.End()
}

// waits is the session as its waits see it (wait.Host), with what to tell of their ends.
type waits struct {
	s    *Session
	set  *wait.Set
	open map[*wait.Waiter]chan Waited
}

func newWaits(s *Session) *waits {
	h := &waits{s: s, open: map[*wait.Waiter]chan Waited{}}
	h.set = wait.NewSet(h, &s.typing.editor, &s.typing.texts)
	return h
}

// View implements wait.Host.
func (h *waits) View() wait.View {
	s := h.s
	s.mu.Lock()
	st, read, agent := s.cfg.Status, s.read, s.agent
	s.mu.Unlock()
	v := wait.View{
		Now: time.Now(), Offset: s.off, Version: s.engine.Version(), Top: s.topRow(), Typed: s.typing.at,
		Exited: st.State != Running, NoMore: s.noMoreOutput(), LastOutput: st.LastOutput,
		Needs: string(st.Needs.Kind), Repl: st.Needs.Repl, Phase: st.Shell.Phase, Followed: s.lines.followed(),
		Command: s.lines.last.Text, CommandEnd: s.lines.last.End,
		HasCommand: s.lines.last.Number > 0 && !s.lines.last.Running,
		Alt:        st.Alt, Title: st.Title, Bells: s.bells, BellAt: s.bellAt,
		Reported: st.Progress != "" && st.Progress != "none", Percent: st.Percent, Read: read,
		Agent: agent, TypedAt: st.LastTyped,
	}
	if v.Followed {
		v.PromptAt = s.lines.shell.State().PromptAt
	}
	return v
}

// Frame implements wait.Host.
func (h *waits) Frame(f *vterm.Frame, q vterm.Query) { h.s.engine.Frame(f, q) }

// Above implements wait.Host.
func (h *waits) Above() []vterm.Line { return secrets.Above(h.s.engine) }

// Read implements wait.Host.
func (h *waits) Read(from uint64, buf []byte) ([]byte, uint64, error) {
	c, err := h.s.Output(from, buf)
	return c.Data, c.From, err
}

// Over implements wait.Host.
func (h *waits) Over(w *wait.Waiter, r wait.Result) {
	h.open[w] <- h.waited(r)
	delete(h.open, w)
}
