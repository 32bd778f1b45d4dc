package gateway

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store"
)

// What runs in a session is judged by whoever had it run: an execution has the actor, the rules and the --yes
// of the line or command that was admitted to the session last, and what a person allowed of that line is not
// asked about again when it is executed.

// fly notes what was admitted to a session.
func (g *Gateway) fly(session string, a *Ask, answer *Answer) {
	f := &flight{ask: *a, approval: answer.Approval}
	if answer.Approval != "" {
		for _, c := range answer.Judgement.Commands {
			if c.Verdict == policy.Ask {
				f.allowed = append(f.allowed, c)
			}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flights[session] = f
}

// Started says which session a command is about to run in that was admitted before there was one.
func (g *Gateway) Started(session string, a Ask, answer Answer) { g.fly(session, &a, &answer) }

// Recall notes again what the daemon before admitted to a session, for what it executes from now on.
func (g *Gateway) Recall(ctx context.Context, session string, a Ask) {
	answer := Answer{Verdict: policy.Allow}
	if r, err := g.c.Store.ApprovalOf(ctx, a.ID); err == nil && r.State == store.ApprovalAnswered {
		if e, err := entryOf(&r); err == nil && e.view.Answer != answerReject {
			answer.Judgement, answer.Approval = judgementOf(&e.view.Judgement), e.view.ID
		}
	}
	g.fly(session, &a, &answer)
}

// Ended forgets what was admitted to a session that is over.
func (g *Gateway) Ended(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.flights, session)
}

// inherit gives an execution what its line had.
func (g *Gateway) inherit(a *Ask) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.flights[a.Session]
	if f == nil {
		return
	}
	if a.Actor.Agent == "" {
		a.Actor.Agent = f.ask.Actor.Agent
	}
	if a.Policy == "" {
		a.Policy = f.ask.Policy
	}
	if a.Kept == "" {
		a.Kept = f.ask.Kept
	}
	a.Yes = a.Yes || f.ask.Yes
}

// allowedByLine is the approval of the line that an execution belongs to, where it was about these commands.
func (g *Gateway) allowedByLine(a *Ask, j *policy.Judgement) string {
	if a.Kind != Execution {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.flights[a.Session]
	if f == nil || f.approval == "" || len(j.Commands) == 0 {
		return ""
	}
	if f.ask.Kind == Command && isCommand(&f.ask, a.Argv) {
		return f.approval
	}
	for _, c := range j.Commands {
		if c.Verdict == policy.Ask && !slices.ContainsFunc(f.allowed, func(o policy.Command) bool { return sameCommand(&o, &c) }) {
			return ""
		}
	}
	return f.approval
}

// isCommand says that words are those by which a command is started that was asked for: its own, or those of the shell
// that reads its line.
func isCommand(asked *Ask, argv []string) bool {
	if n := len(argv); asked.Line != "" {
		return n == 3 && argv[1] == "-c" && argv[2] == asked.Line
	}
	return sameCommand(&policy.Command{Argv: asked.Argv}, &policy.Command{Argv: argv})
}

// sameCommand compares words; a program may be named with its directory.
func sameCommand(a, b *policy.Command) bool {
	return len(a.Argv) > 0 && len(a.Argv) == len(b.Argv) && filepath.Base(a.Argv[0]) == filepath.Base(b.Argv[0]) &&
		slices.Equal(a.Argv[1:], b.Argv[1:]) &&
		!slices.ContainsFunc(a.Argv, func(w string) bool { return w == unknownMark })
}
