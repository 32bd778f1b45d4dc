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
	masking "github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/vterm"
)

// seekAfter is when a task's processes are looked at for an agent: some are started by others.
var seekAfter = []time.Duration{firstLook, time.Second, 3 * time.Second, 8 * time.Second, 20 * time.Second}

const (
	// agentLookEvery bounds how often an agent's screen is read; agentLookAtLeast is how often it is
	// looked at though nothing changes.
	agentLookEvery   = 150 * time.Millisecond
	agentLookAtLeast = 2 * time.Second
	// idEvery is how often it is asked which conversation an agent is in.
	idEvery = 5 * time.Second
	idFirst = time.Second // as long as that is not known
	// outlived is how long a session lives on when its agent ended by itself.
	outlived = 2 * time.Second
	// maxHooks is how many events of an agent wait to be looked at.
	maxHooks = 64
)

// agentPlace is the agent that runs in a session, if one does.
type agentPlace struct {
	mu    sync.Mutex
	watch *agentWatch
	state *api.AgentState // nil: no agent, or none looked at yet
	work  time.Time       // when it was last seen at work
}

func (p *agentPlace) get() *api.AgentState {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == nil {
		return nil
	}
	s := *p.state
	return &s
}

// AgentState is how the agent in the session gets on; nil: there is none.
func (e *Handle) AgentState() *api.AgentState { return e.agent.get() }

// AgentWorked is when the agent in the session was last seen at work, and how long after a paste an
// Enter submits it; not ok: there is none.
func (e *Handle) AgentWorked() (at time.Time, after time.Duration, ok bool) {
	p := &e.agent
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watch == nil {
		return at, 0, false
	}
	return p.work, time.Duration(p.watch.m.Agent().SubmitAfter) * time.Millisecond, true
}

// enter makes a watch the session's; false: there is one.
func (p *agentPlace) enter(w *agentWatch) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watch != nil {
		return false
	}
	p.watch = w
	return true
}

func (p *agentPlace) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watch, p.state, p.work = nil, nil, time.Time{}
}

// set notes how the agent is, and says if listeners have to know.
func (p *agentPlace) set(s api.AgentState, worked time.Time) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.state
	p.state, p.work = &s, worked
	return old == nil || old.State != s.State || old.Reason != s.Reason || old.Conversation != s.Conversation
}

// agentWatch follows the agent in a session, beside the session's owner.
type agentWatch struct {
	reg     *Registry
	e       *Handle
	m       *agentstate.Machine
	process sys.Process // zero: it is not known
	hooks   chan agentstate.Hook
	kept    agentRecord
	own     string // the conversation as its process shows; events of others are not its
	asked   time.Time
	frame   vterm.Frame
}

// seek looks for an agent among the processes of a task, some times after it began, and follows it. Between the looks a timer
// is all there is of it.
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
	w.kept = agentRecord{Agent: a.Name, Argv: argv}
	if p.PID != 0 {
		w.kept.Cwd, _ = sys.Cwd(p.PID) // the session's, otherwise
		if env, err := sys.ReadEnviron(p.PID); err == nil {
			w.kept.takeEnv(a, env)
		}
	}
	return w
}

// findAgent looks for an agent in the terminal's foreground.
func (e *Handle) findAgent() (*agentstate.Agent, sys.Process, []string) {
	group, leader := e.Foreground(), e.Session.Status().PID
	if group <= 0 || leader <= 0 {
		return nil, sys.Process{}, nil
	}
	for _, pid := range append([]int{leader}, sys.Descendants(leader)...) {
		st, err := sys.ReadStat(pid)
		if err != nil || st.Group != group || st.Ended() {
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
	if !e.agent.enter(w) {
		return
	}
	e.keptAgent = nil
	_ = contain(h.log, "follow an agent", e.rec.ID, func() error { w.run(ctx); return nil }) // it is logged
	w.gone()
}

// AgentHook takes what an agent tells of itself.
func (h *Registry) AgentHook(e *Handle, hook agentstate.Hook) (*api.AgentState, error) {
	if st := e.Session.Status(); st.State != session.Running {
		return nil, api.Errorf(api.CodeEnded, "session %s has ended", e.Record().Name)
	}
	was := e.agent.get()
	e.agent.mu.Lock()
	w := e.agent.watch
	e.agent.mu.Unlock()
	a := agentstate.Named(hook.Agent)
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
	if w.m.Agent() != a { // one that another has started: it is not who the person talks to
		return was, nil
	}
	select {
	case w.hooks <- hook:
	default: // it is looked at all the same
	}
	return was, nil
}

func unknownAgent(name string) error {
	return api.Errorf(api.CodeInvalid, "no agent is known by the name %q", name).
		WithHint("name one of %s", strings.Join(agentstate.Names(), ", "))
}

// run looks whenever something changed, was told, or is due.
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
			w.heard(&h)
		case <-frames:
			frames = nil // until the next look may be
		case <-due.C:
			frames = watch.Frames
		}
		if !w.lives() {
			return
		}
		again := w.look(ctx)
		if frames == nil {
			again = agentLookEvery
		}
		due.Reset(max(agentLookEvery, again))
	}
}

// lives says that the agent has not ended.
func (w *agentWatch) lives() bool {
	st := w.e.Session.Status()
	if st.State != session.Running {
		return false
	}
	if w.process.PID != 0 {
		return w.process.Lives()
	}
	return st.Shell.Phase != "prompt"
}

// heard takes an event, unless it is of another conversation, as of an agent that this one has started.
func (w *agentWatch) heard(h *agentstate.Hook) {
	w.identify()
	if w.own != "" && h.Conversation != "" && h.Conversation != w.own {
		return
	}
	if w.m.Hook(*h, time.Now()) && h.Conversation != "" {
		w.kept.Conversation = h.Conversation
	}
	if h.Cwd != "" && w.kept.Cwd == "" {
		w.kept.Cwd = h.Cwd
	}
}

// look reads the screen and tells how the agent is.
func (w *agentWatch) look(ctx context.Context) (again time.Duration) {
	if since := time.Since(w.asked); since > idEvery || since > idFirst && w.kept.Conversation == "" {
		w.identify()
	}
	var above []vterm.Line
	if err := w.e.Session.Look(ctx, func(of session.View) {
		above = masking.Above(of.Engine)
		of.Engine.Frame(&w.frame, vterm.Query{})
	}); err != nil {
		return agentLookAtLeast
	}
	st := w.e.Session.Status()
	rows := sinceRestored(rowsOf(&w.frame))
	l := agentstate.Look{
		Now: time.Now(), Waits: string(st.Needs.Kind), Output: st.LastOutput, Typed: st.LastTyped,
		Screen: agentstate.Screen{Title: st.Title, Rows: rows},
	}
	v, again := w.m.Look(l)
	state := api.AgentState{
		Agent: w.m.Agent().Name, State: string(v.State), Reason: v.Reason, Source: string(v.Source), Evidence: w.shown(&v, rows, above),
		Rules: v.Rules, Since: v.Since, Conversation: w.kept.Conversation,
	}
	if argv := w.kept.resume(w.m.Agent()); len(argv) > 0 {
		state.Resume = shellquote.Line(argv)
	}
	w.e.Session.AgentIs(session.AgentState{State: string(v.State), Sure: v.Sure, At: l.Now})
	if w.e.agent.set(state, w.m.Worked()) {
		w.publish()
	}
	w.reg.keepAgent(w.e, &w.kept)
	if again == 0 || again > agentLookAtLeast {
		again = agentLookAtLeast
	}
	return again
}

// shown is what tells how the agent is, without secrets for anybody: a row may have a part of one that goes on in the next
// or began above, which nobody who is handed the row alone could know.
func (w *agentWatch) shown(v *agentstate.Verdict, rows []string, above []vterm.Line) string {
	set := w.reg.known.Set()
	if v.Source == agentstate.FromScreen && !set.Empty() {
		row := slices.IndexFunc(rows, func(row string) bool { return strings.TrimSpace(row) == v.Evidence })
		if set.Frame(&w.frame, above); row >= 0 {
			return strings.TrimSpace(sinceRestored(rowsOf(&w.frame))[row])
		}
	}
	return set.Text(v.Evidence)
}

func (w *agentWatch) publish() {
	w.reg.tell(w.e, "agent", w.e.Session.Status)
}

// gone tells that there is no agent any more. What takes its conversation up again is kept when the
// session went with it.
func (w *agentWatch) gone() {
	w.e.agent.leave()
	w.e.Session.AgentIs(session.AgentState{})
	w.publish()
	if w.e.Record().Argv != nil && !slices.Equal(w.kept.Argv, w.e.Record().Argv) {
		w.reg.watchers.run(func(ctx context.Context) {
			select {
			case <-ctx.Done():
			case <-time.After(outlived):
				if w.e.Session.Status().State == session.Running && w.e.agent.get() == nil {
					w.reg.forgetAgent(w.e)
				}
			}
		})
	}
}

// rowsOf is a frame as text.
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

func appendCells(b []byte, f *vterm.Frame, l *vterm.Line) []byte {
	for _, c := range l.Cells {
		b = f.AppendText(b, c)
	}
	return b
}
