//go:build unix

package registry

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/agentstate"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/vterm"
)

// agentCheckTimes lists the times after a task's start at which its processes are checked for an agent, because some
// agents are started by other programs.
var agentCheckTimes = []time.Duration{watchDelay, time.Second, 3 * time.Second, 8 * time.Second, 20 * time.Second}

const (
	// minAgentPoll is the shortest interval between reads of an agent's screen, maxAgentPoll the longest.
	minAgentPoll = 150 * time.Millisecond
	maxAgentPoll = 2 * time.Second
	// idInterval is the interval between identifications of an agent's conversation.
	idInterval      = 5 * time.Second
	idFirstInterval = time.Second // idInterval until the conversation is known
	// outliveTime is how long a session must live after its agent ended for that to count as the agent's own end.
	outliveTime = 2 * time.Second
	// maxHooks bounds the waiting events of an agent.
	maxHooks = 64
)

// agentSlot holds the agent that runs in a session, if any.
type agentSlot struct {
	mu       sync.Mutex
	watch    *agentWatch
	state    *api.AgentState // nil before the first agent
	lastWork time.Time       // when it was last seen at work
}

// get returns the agent's state, or nil.
func (p *agentSlot) get() *api.AgentState {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == nil {
		return nil
	}
	s := *p.state
	return &s
}

// AgentState returns the state of the session's agent, or nil if it has none.
func (e *Handle) AgentState() *api.AgentState { return e.agent.get() }

// AgentWorked returns when the session's agent last worked, and how long after a paste Enter submits it. ok is false if
// the session has no agent.
func (e *Handle) AgentWorked() (at time.Time, after time.Duration, ok bool) {
	p := &e.agent
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watch == nil {
		return at, 0, false
	}
	return p.lastWork, time.Duration(p.watch.m.Agent().SubmitAfter) * time.Millisecond, true
}

// claim sets the session's watch and returns false if it already has one.
func (p *agentSlot) claim(w *agentWatch) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watch != nil {
		return false
	}
	p.watch = w
	return true
}

// release removes the watch.
func (p *agentSlot) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watch, p.state, p.lastWork = nil, nil, time.Time{}
}

// set records the agent's state and reports whether listeners need an event.
func (p *agentSlot) set(s api.AgentState, worked time.Time) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.state
	p.state, p.lastWork = &s, worked
	return old == nil || old.State != s.State || old.Reason != s.Reason || old.Conversation != s.Conversation
}

// agentWatch follows the agent in a session, on its own goroutine.
type agentWatch struct {
	reg          *Registry
	e            *Handle
	m            *agentstate.Machine
	process      sys.Process // zero: unknown
	hooks        chan agentstate.Hook
	record       agentRecord
	conversation string    // ID of the conversation that the process shows; events of others are ignored
	identified   time.Time // time of the last identification
	frame        vterm.Frame
}

// seek checks the processes of a task for an agent at several times after its start, and follows the agent. Between the
// checks only a timer exists.
func (w *watchers) seek(f *watcher, began time.Time, after []time.Duration) {
	if len(after) == 0 {
		return
	}
	time.AfterFunc(time.Until(began.Add(after[0])), func() {
		w.run(func(context.Context) {
			if f.ctx.Err() != nil {
				return // it is over
			}
			if a, p, argv := f.e.findAgent(); a != nil {
				w.reg.followAgent(f.ctx, f.e, newAgentWatch(w.reg, f.e, a, p, argv))
				return
			}
			w.seek(f, began, after[1:])
		})
	})
}

func newAgentWatch(h *Registry, e *Handle, a *agentstate.Agent, p sys.Process, argv []string) *agentWatch {
	w := &agentWatch{reg: h, e: e, m: agentstate.New(a), process: p, hooks: make(chan agentstate.Hook, maxHooks)}
	w.record = agentRecord{Agent: a.Name, Argv: argv}
	if p.PID != 0 {
		w.record.Cwd, _ = sys.Cwd(p.PID) // the session's, otherwise
		if env, err := sys.ReadEnviron(p.PID); err == nil {
			w.record.takeEnv(a, env)
		}
	}
	return w
}

// findAgent returns the agent in the terminal's foreground, if any.
func (e *Handle) findAgent() (*agentstate.Agent, sys.Process, []string) {
	group, leader := e.Foreground(), e.Session.Status().PID
	if group <= 0 || leader <= 0 {
		return nil, sys.Process{}, nil
	}
	for _, pid := range append([]int{leader}, sys.Descendants(leader)...) {
		st, err := sys.ReadStat(pid)
		if err != nil || st.Group != group || st.IsDead() {
			continue
		}
		argv, err := sys.Cmdline(pid)
		if err != nil {
			continue
		}
		if a := agentstate.Identify(argv); a != nil {
			return a, sys.Process{PID: pid, Start: st.Start}, argv
		}
	}
	return nil, sys.Process{}, nil
}

// followAgent follows an agent until it ends or ctx does, unless one is followed.
func (h *Registry) followAgent(ctx context.Context, e *Handle, w *agentWatch) {
	if !e.agent.claim(w) {
		return
	}
	e.savedAgent = nil
	_ = recoverPanics(h.log, "follow an agent", e.rec.ID, func() error { w.run(ctx); return nil }) // it is logged
	w.agentExited()
}

// AgentHook handles a report that an agent sends about itself.
func (h *Registry) AgentHook(e *Handle, hook agentstate.Hook) (*api.AgentState, error) {
	if st := e.Session.Status(); st.State != session.Running {
		return nil, api.Errorf(api.CodeEnded, "session %s has ended", e.Record().Name)
	}
	was := e.agent.get()
	e.agent.mu.Lock()
	w := e.agent.watch
	e.agent.mu.Unlock()
	a := agentstate.ByName(hook.Agent)
	if hook.Agent == "" && w != nil {
		a = w.m.Agent()
	}
	if w == nil {
		found, p, argv := e.findAgent()
		if hook.Agent == "" {
			a = found
		}
		if found != a {
			p, argv = sys.Process{}, nil
		}
		if a == nil {
			return nil, unknownAgent(hook.Agent)
		}
		w = newAgentWatch(h, e, a, p, argv)
		w.hooks <- hook
		h.watchers.run(func(ctx context.Context) { h.followAgent(ctx, e, w) })
		return was, nil
	}
	if a == nil {
		return nil, unknownAgent(hook.Agent)
	}
	if w.m.Agent() != a { // a subagent, not the one that the user talks to
		return was, nil
	}
	select {
	case w.hooks <- hook:
	default: // observed nevertheless
	}
	return was, nil
}

// unknownAgent returns the error for an unknown agent's name.
func unknownAgent(name string) error {
	return api.Errorf(api.CodeInvalid, "no agent is known by the name %q", name).
		WithHint("name one of %s", strings.Join(agentstate.Names(), ", "))
}

// run observes the agent after changes, reports and delays.
func (w *agentWatch) run(ctx context.Context) {
	watch := w.e.Session.Watch()
	defer watch.Close()
	due := time.NewTimer(0)
	defer due.Stop()
	frames := watch.Frames
	for {
		select {
		case <-ctx.Done():
			return
		case <-watch.Done:
			return
		case h := <-w.hooks:
			w.handleEvent(&h)
		case <-frames:
			frames = nil // until the next look may be
		case <-due.C:
			frames = watch.Frames
		}
		if !w.lives() {
			return
		}
		again := w.poll(ctx)
		if frames == nil {
			again = minAgentPoll
		}
		due.Reset(max(minAgentPoll, again))
	}
}

// lives reports whether the agent still runs.
func (w *agentWatch) lives() bool {
	st := w.e.Session.Status()
	if st.State != session.Running {
		return false
	}
	if w.process.PID != 0 {
		return w.process.IsAlive()
	}
	return st.Shell.Phase != "prompt"
}

// handleEvent handles an event of the agent, unless it belongs to another conversation, such as a subagent's.
func (w *agentWatch) handleEvent(h *agentstate.Hook) {
	w.identify()
	if w.conversation != "" && h.Conversation != "" && h.Conversation != w.conversation {
		return
	}
	if w.m.Hook(*h, time.Now()) && h.Conversation != "" {
		w.record.Conversation = h.Conversation
	}
	if h.Cwd != "" && w.record.Cwd == "" {
		w.record.Cwd = h.Cwd
	}
}

// poll reads the screen and publishes the agent's state. It returns the time until the next poll.
func (w *agentWatch) poll(ctx context.Context) (next time.Duration) {
	if since := time.Since(w.identified); since > idInterval || since > idFirstInterval && w.record.Conversation == "" {
		w.identify()
	}
	var above []vterm.Line
	if err := w.e.Session.WithScreen(ctx, func(of session.View) {
		above = redact.LinesAbove(of.Engine)
		of.Engine.Frame(&w.frame, vterm.Query{})
	}); err != nil {
		return maxAgentPoll
	}
	st := w.e.Session.Status()
	rows := rowsAfterDivider(rowsOf(&w.frame))
	l := agentstate.Observation{
		Now: time.Now(), Waits: string(st.Needs.Kind), Output: st.LastOutput, Typed: st.LastTyped,
		Screen: agentstate.Screen{Title: st.Title, Rows: rows},
	}
	v, next := w.m.Look(l)
	state := api.AgentState{
		Agent: w.m.Agent().Name, State: string(v.State), Reason: v.Reason, Source: string(v.Source), Evidence: w.redactedEvidence(&v, rows, above),
		Rules: v.Rules, Since: v.Since, Conversation: w.record.Conversation,
	}
	if argv := w.record.resume(w.m.Agent()); len(argv) > 0 {
		state.Resume = shellquote.Line(argv)
	}
	w.e.Session.SetAgentState(session.AgentState{State: string(v.State), Confident: v.Confident, At: l.Now})
	if w.e.agent.set(state, w.m.LastWorked()) {
		w.publish()
	}
	w.reg.saveAgent(w.e, &w.record)
	if next == 0 || next > maxAgentPoll {
		next = maxAgentPoll
	}
	return next
}

// redactedEvidence returns the text that shows the agent's state, without secrets. It masks the whole frame first,
// because a secret may span rows.
func (w *agentWatch) redactedEvidence(v *agentstate.Verdict, rows []string, above []vterm.Line) string {
	set := w.reg.known.Set()
	if v.Source == agentstate.FromScreen && !set.Empty() {
		row := slices.IndexFunc(rows, func(row string) bool { return strings.TrimSpace(row) == v.Evidence })
		if set.RedactFrame(&w.frame, above); row >= 0 {
			return strings.TrimSpace(rowsAfterDivider(rowsOf(&w.frame))[row])
		}
	}
	return set.RedactText(v.Evidence)
}

// publish publishes the agent's state.
func (w *agentWatch) publish() {
	w.reg.publishStatus(w.e, "agent", w.e.Session.Status)
}

// agentExited records that the agent has ended. Its record stays if the session ended with it.
func (w *agentWatch) agentExited() {
	w.e.agent.release()
	w.e.Session.SetAgentState(session.AgentState{})
	w.publish()
	if w.e.Record().Argv != nil && !slices.Equal(w.record.Argv, w.e.Record().Argv) {
		w.reg.watchers.run(func(ctx context.Context) {
			select {
			case <-ctx.Done():
			case <-time.After(outliveTime):
				if w.e.Session.Status().State == session.Running && w.e.agent.get() == nil {
					w.reg.forgetAgent(w.e)
				}
			}
		})
	}
}

// rowsOf returns the text of a frame's rows.
func rowsOf(f *vterm.Frame) []string {
	rows := make([]string, f.Rows)
	var b []byte
	for i := range f.Lines {
		l := &f.Lines[i]
		b = appendCells(b[:0], f, l)
		if l.Row < len(rows) {
			rows[l.Row] = strings.TrimRight(string(b), " ")
		}
	}
	return rows
}

// appendCells appends the text of a frame's line.
func appendCells(b []byte, f *vterm.Frame, l *vterm.Line) []byte {
	for _, c := range l.Cells {
		b = f.AppendText(b, c)
	}
	return b
}
