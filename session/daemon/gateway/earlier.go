package gateway

import (
	"context"
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
	given []string      // let through, and not among the commands yet
	full  bool          // there were more
}

// maxGiven is how many lines may have been let through and not have begun. Who gives more waits for nothing.
const maxGiven = 64

// earlier is what has been left in the shell that a line is for, as far as somebody else than who typed it depends on it.
func (g *Gateway) earlier(ctx context.Context, a *Ask) *policy.State {
	if a.Kind != Line || a.Session == "" || !held(&a.Actor) && a.Policy == "" && a.Kept == "" && a.Actor.Policy == "" {
		return nil
	}
	if g.c.Flush != nil {
		g.c.Flush(ctx)
	}
	t := g.toldOf(a.Session)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.since.Equal(a.Since) { // another shell has begun in the session
		t.since, t.read, t.state = a.Since, 0, nil
	}
	list, err := g.c.Store.Commands(ctx, store.CommandQuery{Session: a.Session, After: t.read})
	if err != nil {
		g.c.Log.Error("read what a session has run", "session", a.Session, "err", err)
		return policy.Forgotten()
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
		if given := slices.Index(t.given, c.Text); given >= 0 {
			t.given = t.given[given+1:] // shells take lines in their order: those before are not going to run
		} else if c.Text == "" && !strings.HasPrefix(c.Source, "agent:") {
			continue // a person's
		}
		if c.Text == "" && len(t.given) == 0 || c.N > expected && len(t.given) == 0 {
			state = policy.Forgotten() // its text is not known, or it was not recorded
		}
		ran := policy.Done
		switch c.State {
		case store.CommandRunning:
			ran = policy.Perhaps
		case store.CommandLost:
			ran = policy.Cut
		}
		l.Text, l.Cwd = c.Text, c.Cwd
		state = state.After(l, ran)
		if ran == policy.Done {
			state = state.With(c.Env)
		}
		if ran == policy.Perhaps { // it is read again when it is over
			t.read = c.N - 1
			break
		}
		t.state = state
	}
	l.Cwd = a.Cwd
	t.given = slices.DeleteFunc(t.given, func(line string) bool {
		l.Text = line
		before := state
		state = state.After(l, policy.Perhaps)
		return state == before // whether it runs or not
	})
	if t.full {
		t.full = len(t.given) > 0
		state = policy.Forgotten()
	}
	return state
}

// tell notes that a line goes to a session's shell.
func (g *Gateway) tell(a *Ask) {
	t := g.toldOf(a.Session)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.given) >= maxGiven {
		t.given, t.full = t.given[1:], true
	}
	t.given = append(t.given, a.Line)
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
