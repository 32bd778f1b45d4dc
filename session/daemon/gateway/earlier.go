package gateway

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

// What a line means depends on what earlier ones have left in its shell: x=rm, and then $x. That is followed from the
// session's commands as they are in the store, whoever typed them, so that the next daemon knows it too; of lines that
// were let through and have not begun, nobody knows yet what they leave.

// told is what a session's shell was told.
type told struct {
	mu    sync.Mutex
	since time.Time     // which shell
	read  int           // number of the last command that is in state
	state *policy.State // after it
	given []given       // let through, and not among the commands yet
	full  bool          // there were more
}

// given is a line, and what it was asked for with.
type given struct{ id, line string }

// maxGiven is how many lines may have been let through and not have begun. Who gives more waits for nothing.
const maxGiven = 64

// earlier is what has been left in the shell that a line is for, as far as somebody else than who typed it depends on it.
// When it goes ahead the line itself counts from now on: who asks at the same time is judged after it.
func (g *Gateway) earlier(ctx context.Context, a *Ask, goes bool) (state *policy.State) {
	if a.Kind != Line || a.Session == "" {
		return nil
	}
	judged := held(&a.Actor) || a.Policy != "" || a.Kept != "" || a.Actor.Policy != ""
	if judged && g.c.Flush != nil {
		g.c.Flush(ctx)
	}
	t := g.toldOf(a.Session)
	t.mu.Lock()
	defer t.mu.Unlock()
	if judged {
		state = g.follow(ctx, t, a)
	}
	if goes {
		g.tell(ctx, t, a)
	}
	return state
}

// follow brings t, which is locked, up to what the session has run, and is the state that the next line may find.
func (g *Gateway) follow(ctx context.Context, t *told, a *Ask) *policy.State {
	t.at(a.Since)
	if why := t.state.WhyLost(); why != "" && g.isVouched(a.Session, why) {
		t.read, t.state = 0, nil // read again, from the shell's first command
	}
	list, err := g.c.Store.Commands(ctx, store.CommandQuery{Session: a.Session, After: t.read})
	if err != nil {
		g.c.Log.Error("read what a session has run", "session", a.Session, "err", err)
		return policy.Forgotten("its commands cannot be read")
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
		if given := slices.IndexFunc(t.given, func(l given) bool { return l.line == c.Text }); given >= 0 {
			t.given = t.given[given+1:] // shells take lines in their order: those before are not going to run
		} else if c.Text == "" && !strings.HasPrefix(c.Source, "agent:") {
			continue // a person's
		}
		if c.Text == "" && len(t.given) == 0 || c.N > expected && len(t.given) == 0 {
			state = g.stateAfterUnknown(a.Session, state, fmt.Sprintf("the text of command %d was not recorded", expected))
		}
		ran := policy.Done
		switch c.State {
		case store.CommandRunning:
			ran = policy.Perhaps
		case store.CommandLost:
			ran = policy.Cut
		default:
			if c.ExitCode == nil || *c.ExitCode != 0 { // shells give lines up: with set -u, y=$nosuch; x=ls
				ran = policy.Cut
			}
		}
		l.Text, l.Cwd = c.Text, c.Cwd
		before := state
		if state = state.After(l, ran); before.WhyLost() == "" && state.WhyLost() != "" {
			state = g.stateAfterUnknown(a.Session, before, fmt.Sprintf("%s (command %d)", state.WhyLost(), c.N))
		}
		if ran != policy.Perhaps {
			told, hidden := valuesOf(c)
			state = state.With(told).Hidden(before, hidden)
		}
		if ran == policy.Perhaps { // it is read again when it is over
			t.read = c.N - 1
			break
		}
		t.state = state
	}
	l.Cwd = a.Cwd
	t.given = slices.DeleteFunc(t.given, func(one given) bool {
		l.Text = one.line
		before := state
		state = state.After(l, policy.Perhaps)
		return state == before && t.state.After(l, policy.Perhaps) == t.state // whether it and the others run or not
	})
	if t.full = t.full && len(t.given) > 0; t.full {
		return policy.Forgotten(fmt.Sprintf("more than %d lines wait for it", maxGiven))
	}
	return state
}

// stateAfterUnknown returns the state of a session's shell after a command with unknown effects: lost for the reason why, or
// unchanged if a user vouched for it.
func (g *Gateway) stateAfterUnknown(session string, state *policy.State, why string) *policy.State {
	if g.isVouched(session, why) {
		return state
	}
	return policy.Forgotten(why)
}

// isVouched reports whether a user allowed the session to continue although its shell's state is lost for the reason why.
func (g *Gateway) isVouched(session, why string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.grants, func(gr store.Grant) bool { return gr.Session == session && gr.Rule == ruleLost && gr.Exact == why })
}

// ruleLost is the rule of grants for a session whose shell's state is unknown; their Exact is the reason.
const ruleLost = "shell state"

// valuesOf are the variables that a command changed, and the names of those whose values are not recorded.
func valuesOf(c *store.Command) (told map[string]*string, hidden []string) {
	told = maps.Clone(c.Env)
	for name, value := range c.Env {
		if value != nil && *value == store.Redacted {
			delete(told, name)
			hidden = append(hidden, name)
		}
	}
	return told, hidden
}

// at says which shell it is.
func (t *told) at(since time.Time) {
	if !t.since.Equal(since) { // another one has begun in the session
		t.since, t.read, t.state, t.given, t.full = since, 0, nil, nil, false
	}
}

// tell notes that a line goes to a session's shell. t is locked.
func (g *Gateway) tell(ctx context.Context, t *told, a *Ask) {
	if a.Elsewhere {
		return
	}
	t.at(a.Since)
	if len(t.given) >= maxGiven && !t.full { // nobody has looked for long which of them have run
		g.follow(ctx, t, a)
	}
	if len(t.given) >= maxGiven {
		t.given, t.full = t.given[1:], true
	}
	t.given = append(t.given, given{a.ID, a.Line})
}

// allowed notes a line that a person was asked about.
func (g *Gateway) allowed(ctx context.Context, a *Ask) {
	if a.Kind != Line || a.Session == "" {
		return
	}
	t := g.toldOf(a.Session)
	t.mu.Lock()
	defer t.mu.Unlock()
	g.tell(ctx, t, a)
}

// NotGiven says that a session's shell does not get the line that was asked for with that id: it was refused, or given to
// the program that the shell runs.
func (g *Gateway) NotGiven(session, id string) {
	g.mu.Lock()
	t := g.told[session]
	g.mu.Unlock()
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.given = slices.DeleteFunc(t.given, func(l given) bool { return l.id == id })
	t.full = t.full && len(t.given) > 0
}

func (g *Gateway) toldOf(session string) *told {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.told[session]
	if t == nil {
		t = &told{}
		g.told[session] = t
	}
	return t
}
