package gateway

import (
	"slices"

	"github.com/longterm-dev/longterm/session/policy"
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
	if a.Kind != Execution || answer.Approval == "" || len(a.Descent) == 0 {
		return
	}
	c := cover{approval: answer.Approval, process: a.Descent[0]}
	for _, one := range answer.Judgement.Commands {
		if one.Verdict == policy.Ask {
			c.allowed = append(c.allowed, one)
		}
	}
	if len(c.allowed) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	list := append(g.covers[a.Session], c)
	g.covers[a.Session] = list[max(0, len(list)-maxCovers):]
}

// coveredBy is the approval of what started an execution, where it was about these commands.
func (g *Gateway) coveredBy(a *Ask, j *policy.Judgement) string {
	if a.Kind != Execution || len(j.Commands) == 0 || len(j.Commands) >= policy.MaxCommands {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.covers[a.Session] {
		if slices.Contains(a.Descent, c.process) && allowsAll(c.allowed, j.Commands) {
			return c.approval
		}
	}
	return ""
}

// allowsAll says that all that is asked about was allowed.
func allowsAll(allowed, commands []policy.Command) bool {
	for _, c := range commands {
		if c.Verdict == policy.Ask && !slices.ContainsFunc(allowed, func(o policy.Command) bool { return sameCommand(&o, &c) }) {
			return false
		}
	}
	return true
}
