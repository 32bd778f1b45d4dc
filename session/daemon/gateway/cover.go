package gateway

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store"
)

// cover is what a person allowed when he allowed an execution: all that its words say they run, when the process that
// executes them, or one that it started, comes to it.
type cover struct {
	approval string
	process  string
	allowed  []policy.Command
}

// maxCovers bounds what is remembered of a session.
const maxCovers = 64

// cover notes what an approval of an execution covers.
func (g *Gateway) cover(a *Ask, answer *Answer) {
	c, ok := coverOf(a, answer.Approval, &answer.Judgement)
	if !ok {
		return
	}
	g.recallCovers(a.Session)
	g.mu.Lock()
	defer g.mu.Unlock()
	list := append(g.covers[a.Session], c)
	g.covers[a.Session] = list[max(0, len(list)-maxCovers):]
}

// coverOf is what an approval of an execution covers, if it covers anything.
func coverOf(a *Ask, approval string, j *policy.Judgement) (c cover, ok bool) {
	if a.Kind != Execution || approval == "" || len(a.Descent) == 0 {
		return c, false
	}
	c = cover{approval: approval, process: a.Descent[0]}
	for _, one := range j.Commands {
		if one.Verdict == policy.Ask {
			c.allowed = append(c.allowed, one)
		}
	}
	return c, len(c.allowed) > 0
}

// recallCovers takes from the records what executions of a session were allowed before this daemon came, once. Processes
// are named for good, so that one that has ended since covers nothing.
func (g *Gateway) recallCovers(session string) {
	g.mu.Lock()
	_, known := g.covers[session]
	g.mu.Unlock()
	if known {
		return
	}
	list := []cover{}
	rows, err := g.c.Store.Approvals(context.Background(), store.ApprovalQuery{Session: session, Limit: maxCovers})
	if err != nil { // they are asked about again
		g.c.Log.Warn("recall what executions were allowed", "session", session, "err", err)
	}
	for i := len(rows) - 1; i >= 0; i-- {
		e, err := entryOf(&rows[i])
		if err != nil || e.cut || rows[i].State != store.ApprovalAnswered || e.view.Answer == answerReject || len(e.ask.Descent) == 0 {
			continue
		}
		j := judgementOf(&e.view.Judgement)
		if c, ok := coverOf(&e.ask, e.view.ID, &j); ok {
			list = append(list, c)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.covers[session]; !known {
		g.covers[session] = list
	}
}

// coveredBy is the approval of what started an execution, where it was about these commands.
func (g *Gateway) coveredBy(a *Ask, j *policy.Judgement) string {
	if a.Kind != Execution || len(j.Commands) == 0 || len(j.Commands) >= policy.MaxCommands {
		return ""
	}
	g.recallCovers(a.Session)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.covers[a.Session] {
		if slices.Contains(a.Descent, c.process) && allowsAll(c.allowed, j.Commands, a.Home) {
			return c.approval
		}
	}
	return ""
}

// allowsAll says that all that is asked about was allowed.
func allowsAll(allowed, commands []policy.Command, home string) bool {
	for _, c := range commands {
		c.Argv = withoutManager(c.Argv, home)
		if c.Verdict == policy.Ask && !slices.ContainsFunc(allowed, func(o policy.Command) bool { return sameCommand(&o, &c) }) {
			return false
		}
	}
	return true
}

// withoutManager are words without those by which a manager of versions, in the home directory, finds the program for them:
// its shim was allowed, and is of the same directory.
func withoutManager(argv []string, home string) []string {
	for _, name := range []string{"pyenv", "rbenv", "nodenv", "goenv", "plenv"} {
		steps := filepath.Join(home, "."+name, "libexec", name)
		switch {
		case home == "" || len(argv) < 3:
		case argv[0] == steps && argv[1] == "exec":
			return argv[2:]
		case argv[0] == steps+"-exec":
			return argv[1:]
		}
	}
	return argv
}
