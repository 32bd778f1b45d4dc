package gateway

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store"
)

// What runs in a session is judged by whoever had it run: an execution has the actor, the rules and the --yes
// of the line or command that was admitted to the session last, and what a person allowed of that line is not
// asked about again when it is executed.

// fly notes what was admitted to a session.
func (g *Gateway) fly(session string, a *Ask, answer *Answer) {
	f := &flight{ask: *a, approval: answer.Approval}
	f.ask.Yes = g.yesOf(a)
	if answer.Approval != "" {
		f.allowed = shownTo(&answer.Judgement)
	}
	if g.c.Worked != nil && a.Actor.IsAgent() {
		g.c.Worked(session, a.Actor.Agent)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flights[session] = f
	delete(g.refused, session)
}

// shownTo are the commands that a person saw who allowed a line or an execution. One that rules allow by its words is among
// them: its file may be asked about when it is executed, and the person has answered for that command.
func shownTo(j *policy.Judgement) (all []policy.Command) {
	for _, c := range j.Commands {
		if c.Verdict != policy.Deny {
			all = append(all, c)
		}
	}
	return all
}

// yesOf says whether --yes counts: it is for whoever decides, which is no agent unless a person has configured that.
func (g *Gateway) yesOf(a *Ask) bool {
	return a.Yes && (!held(&a.Actor) || g.c.AgentsYes != nil && g.c.AgentsYes())
}

// RulesOf names the rules that the line was asked for with that a session was given last; they hold for all that asks
// from there.
func (g *Gateway) RulesOf(session string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f := g.flights[session]; f != nil {
		return firstOf(f.ask.Policy, f.ask.Actor.Policy)
	}
	return ""
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

// maxRefusals bounds what is remembered of a session.
const maxRefusals = 64

// refusal is an execution that a person rejected.
type refusal struct {
	pid  int
	argv []string
	by   *api.Error
}

// refuse notes that a process is not to execute something.
func (g *Gateway) refuse(a *Ask, by error) {
	var e *api.Error
	if a.Kind != Execution || !errors.As(by, &e) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	list := append(g.refused[a.Session], refusal{a.Actor.PID, a.Argv, e})
	g.refused[a.Session] = list[max(0, len(list)-maxRefusals):]
}

// refusedBefore is why a process may not execute what it tries again in another directory of PATH: a person has
// rejected it a moment ago, and is not asked for each of them.
func (g *Gateway) refusedBefore(a *Ask) error {
	if a.Kind != Execution {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.refused[a.Session] {
		if r.pid == a.Actor.PID && slices.Equal(r.argv, a.Argv) {
			return r.by
		}
	}
	return nil
}

// Refuse keeps that an execution is refused which was admitted, for what was found out since; its process is refused the
// same words from then on.
func (g *Gateway) Refuse(ctx context.Context, a Ask, by *api.Error) error {
	g.inherit(&a)
	if a.Naming != nil {
		a.ID, a.Descent = a.Naming()
		a.Naming = nil
	}
	a.Waits = nil
	g.refuse(&a, by)
	return errors.Join(by, g.audit(ctx, Record{Ask: a, Actor: a.Actor, Verdict: policy.Deny, Rule: ruleChanged}))
}

// ruleChanged is the rule of what is refused because its file was changed while somebody was asked about it.
const ruleChanged = "changed"

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
	if a.Actor.Policy == "" {
		a.Actor.Policy = f.ask.Actor.Policy
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
	if !allowsAll(f.allowed, j.Commands, a.Home) {
		return ""
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
