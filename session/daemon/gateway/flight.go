package gateway

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store"
)

// What runs in a session is judged by whoever had it run: an execution has the actor, the rules and the --yes
// of the line or command that was admitted to the session last, and what a person allowed of a line that has not ended is not
// asked about again when it is executed.

// fly notes what was admitted to a session.
func (g *Gateway) fly(session string, a *Ask, answer *Answer) {
	f := &flight{ask: *a, approval: answer.Approval, awaited: a.Kind == Line && a.Ends}
	f.ask.Yes = g.yesOf(a)
	if answer.Approval != "" {
		f.allowed = shownTo(a, &answer.Judgement)
	}
	if g.c.Worked != nil && a.Actor.IsAgent() {
		g.c.Worked(session, a.Actor.Agent)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	list := slices.DeleteFunc(g.flights[session], func(o *flight) bool { return !o.awaited || o.ask.ID == a.ID })
	list = append(list, f)
	g.flights[session] = list[max(0, len(list)-maxFlights):]
	if len(list) == 1 && f.saysNothing() {
		delete(g.flights, session)
	}
	delete(g.refused, session)
}

// saysNothing says that an execution is judged alike without it. Nearly every session's only one is such.
func (f *flight) saysNothing() bool {
	a := &f.ask
	return !f.awaited && f.approval == "" && a.Actor.Agent == "" && a.Actor.Policy == "" && a.Policy == "" && a.Kept == "" && !a.Yes
}

// maxFlights bounds the lines of a session that were let through and have not ended.
const maxFlights = 64

// Landed says that the line that was asked for with that id is over. What it left running is still its until the session is
// given something else.
func (g *Gateway) Landed(session, id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := g.flights[session]
	for _, f := range list {
		f.awaited = f.awaited && f.ask.ID != id
	}
	if n := len(list) - 1; n > 0 {
		last := list[n]
		g.flights[session] = slices.DeleteFunc(list, func(f *flight) bool { return f != last && !f.awaited })
	}
}

// lastFlight is what was admitted to a session last; nil: nothing was. The lock is held.
func (g *Gateway) lastFlight(session string) *flight {
	if list := g.flights[session]; len(list) > 0 {
		return list[len(list)-1]
	}
	return nil
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
	if f := g.lastFlight(session); f != nil {
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
		if e, err := entryOf(&r); err == nil && e.view.Answer != answerReject && !lifted(&e.view) {
			answer.Judgement, answer.Approval = judgementOf(&e.view.Judgement), e.view.ID
			a.Files, a.Own = e.ask.Files, e.ask.Own
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
	f := g.lastFlight(a.Session)
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

// allowedByLine is the approval of the line that an execution belongs to, where it was about these commands. Of several that
// were let through, which of them the shell has come to is told to nobody in time: what a person allowed of one holds until
// that one is over, whatever was let through after it.
func (g *Gateway) allowedByLine(a *Ask, j *policy.Judgement) string {
	if a.Kind != Execution || len(j.Commands) == 0 {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.ContainsFunc(j.Commands, unlistedIn) {
		return "" // who allowed the line was not shown what a profile lacks
	}
	for _, f := range g.flights[a.Session] {
		if f.approval != "" && f.holds(a) && (f.ask.Kind == Command && isCommand(&f.ask, a) || allowsAll(f.allowed, j.Commands, a.Home)) {
			return f.approval
		}
	}
	return ""
}

// holds says that files which a person was shown, and an execution is about, are those still, but for those that the line
// changes itself, as he was told.
func (f *flight) holds(a *Ask) bool {
	for _, words := range slices.Concat([][]string{{a.Path}, a.Argv}, a.Also, a.Scripts) {
		for _, w := range words {
			if w != "" && !filepath.IsAbs(w) {
				w = "./" + w
			}
			file := fileOf(w, a.Cwd)
			if id, shown := f.ask.Files[file]; shown && sys.FileID(file) != id && !slices.Contains(f.ask.Own, file) {
				return false
			}
		}
	}
	return true
}

// isCommand says that an execution is the start of a command that was asked for: its own words and file, or the shell that
// reads its line.
func isCommand(asked, a *Ask) bool {
	if n := len(a.Argv); asked.Line != "" {
		own := slices.ContainsFunc(asked.Also, func(words []string) bool { return words[0] == a.Path })
		return n == 3 && a.Argv[1] == "-c" && a.Argv[2] == asked.Line && (own || a.Path == "" || namesLead(a.Path, a.Home))
	}
	return len(asked.Argv) > 0 && len(a.Argv) > 0 && slices.Equal(asked.Argv[1:], a.Argv[1:]) && asked.Path != "" && realFile(asked.Path) == realFile(a.Path)
}

// realFile is a file without links.
func realFile(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
