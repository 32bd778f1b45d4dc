package authorize

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store"
)

// The meaning of a line depends on what earlier ones changed in its shell: x=rm, then $x. That state is derived from
// the session's commands in the store, so the next daemon knows it too. The effect of lines that were submitted but
// have not started is unknown.

// shellHistory is the known state of a session's shell.
type shellHistory struct {
	mu        sync.Mutex
	since     time.Time       // start of the shell
	read      int             // number of the last command that is in state
	state     *policy.State   // state of the shell after that command
	submitted []submittedLine // lines that were let through and are not among the commands yet
	full      bool            // more lines were let through than submitted holds
}

// submittedLine is a line and the id of its request.
type submittedLine struct{ id, line string }

// maxSubmitted bounds the lines that were submitted and have not started.
const maxSubmitted = 64

// priorShellState returns what earlier lines left in the shell of a line, if its judgement needs that. If submits is
// set, the line itself counts from now on, so a concurrent request is judged after it.
func (g *Gateway) priorShellState(ctx context.Context, a *Request, submits bool) (state *policy.State) {
	if a.Kind != Line || a.Session == "" {
		return nil
	}
	judged := boundByPolicy(&a.Actor) || a.Policy != "" || a.Kept != "" || a.Actor.Policy != ""
	if judged && g.c.Flush != nil {
		g.c.Flush(ctx)
	}
	t := g.historyOf(a.Session)
	t.mu.Lock()
	defer t.mu.Unlock()
	if judged {
		state = g.follow(ctx, t, a)
	}
	if submits {
		g.recordSubmitted(ctx, t, a)
	}
	return state
}

// follow updates t, which is locked, with the commands that the session ran, and returns the state for the next line.
func (g *Gateway) follow(ctx context.Context, t *shellHistory, a *Request) *policy.State {
	t.resetIfNewShell(a.Since)
	if why := t.state.WhyUnknown(); why != "" && g.isVouched(a.Session, why) {
		t.read, t.state = 0, nil // read again, from the shell's first command
	}
	list, err := g.c.Store.Commands(ctx, store.CommandQuery{Session: a.Session, After: t.read})
	if err != nil {
		g.c.Log.Error("read what a session has run", "session", a.Session, "err", err)
		return policy.UnknownState("its commands cannot be read")
	}
	l := policy.Line{Shell: a.Shell, Home: a.Home}
	state := t.state
	for i := range list {
		c := &list[i]
		expected := t.read + 1
		t.read = max(t.read, c.N)
		if c.Started.Before(a.Since) {
			continue
		}
		if given := slices.IndexFunc(t.submitted, func(l submittedLine) bool { return l.line == c.Text }); given >= 0 {
			t.submitted = t.submitted[given+1:] // shells take lines in their order: those before are not going to run
		} else if c.Text == "" && !strings.HasPrefix(c.Source, "agent:") {
			continue // a user's
		}
		if c.Text == "" && len(t.submitted) == 0 || c.N > expected && len(t.submitted) == 0 {
			state = g.stateAfterUnknown(a.Session, state, fmt.Sprintf("the text of command %d was not recorded", expected))
		}
		ran := policy.RanFully
		switch c.State {
		case store.CommandRunning:
			ran = policy.RanPerhaps
		case store.CommandLost:
			ran = policy.RanPartly
		default:
			if c.ExitCode == nil || *c.ExitCode != 0 { // shells give lines up: with set -u, y=$nosuch; x=ls
				ran = policy.RanPartly
			}
		}
		l.Text, l.Cwd = c.Text, c.Cwd
		before := state
		if state = state.After(l, ran); before.WhyUnknown() == "" && state.WhyUnknown() != "" {
			state = g.stateAfterUnknown(a.Session, before, fmt.Sprintf("%s (command %d)", state.WhyUnknown(), c.N))
		}
		if ran != policy.RanPerhaps {
			told, hidden := valuesOf(c)
			state = state.WithVariables(told).WithUnknown(before, hidden)
		}
		if ran == policy.RanPerhaps { // it is read again when it is over
			t.read = c.N - 1
			break
		}
		t.state = state
	}
	l.Cwd = a.Cwd
	t.submitted = slices.DeleteFunc(t.submitted, func(one submittedLine) bool {
		l.Text = one.line
		before := state
		state = state.After(l, policy.RanPerhaps)
		return state == before && t.state.After(l, policy.RanPerhaps) == t.state // whether it and the others run or not
	})
	if t.full = t.full && len(t.submitted) > 0; t.full {
		return policy.UnknownState(fmt.Sprintf("more than %d lines wait for it", maxSubmitted))
	}
	return state
}

// stateAfterUnknown returns the state of a session's shell after a command with unknown effects: lost for the reason why, or
// unchanged if a user vouched for it.
func (g *Gateway) stateAfterUnknown(session string, state *policy.State, why string) *policy.State {
	if g.isVouched(session, why) {
		return state
	}
	return policy.UnknownState(why)
}

// isVouched reports whether a user allowed the session to continue although its shell's state is lost for the reason why.
func (g *Gateway) isVouched(session, why string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.grants, func(gr store.Grant) bool { return gr.Session == session && gr.Rule == ruleLost && gr.Exact == why })
}

// ruleLost is the rule of grants for a session whose shell's state is unknown; their Exact is the reason.
const ruleLost = "shell state"

// valuesOf returns the variables that a command changed, and the names of those whose values are not recorded.
func valuesOf(c *store.Command) (values map[string]*string, hidden []string) {
	values = maps.Clone(c.Env)
	for name, value := range c.Env {
		if value != nil && *value == store.Redacted {
			delete(values, name)
			hidden = append(hidden, name)
		}
	}
	return values, hidden
}

// resetIfNewShell resets the state if the session has a new shell.
func (t *shellHistory) resetIfNewShell(since time.Time) {
	if !t.since.Equal(since) { // a new shell has started
		t.since, t.read, t.state, t.submitted, t.full = since, 0, nil, nil, false
	}
}

// recordSubmitted notes that a line goes to a session's shell. t is locked.
func (g *Gateway) recordSubmitted(ctx context.Context, t *shellHistory, a *Request) {
	if a.Elsewhere {
		return
	}
	t.resetIfNewShell(a.Since)
	if len(t.submitted) >= maxSubmitted && !t.full { // which of them have run was not checked for long
		g.follow(ctx, t, a)
	}
	if len(t.submitted) >= maxSubmitted {
		t.submitted, t.full = t.submitted[1:], true
	}
	t.submitted = append(t.submitted, submittedLine{a.ID, a.Line})
}

// recordAllowed adds a line that a user allowed.
func (g *Gateway) recordAllowed(ctx context.Context, a *Request) {
	if a.Kind != Line || a.Session == "" {
		return
	}
	t := g.historyOf(a.Session)
	t.mu.Lock()
	defer t.mu.Unlock()
	g.recordSubmitted(ctx, t, a)
}

// NotSubmitted removes a line that the shell does not receive: it was refused, or another program reads it.
func (g *Gateway) NotSubmitted(session, id string) {
	g.mu.Lock()
	t := g.histories[session]
	g.mu.Unlock()
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.submitted = slices.DeleteFunc(t.submitted, func(l submittedLine) bool { return l.id == id })
	t.full = t.full && len(t.submitted) > 0
}

func (g *Gateway) historyOf(session string) *shellHistory {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.histories[session]
	if t == nil {
		t = &shellHistory{}
		g.histories[session] = t
	}
	return t
}
