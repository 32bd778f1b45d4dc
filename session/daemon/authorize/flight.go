package authorize

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

// Executions in a session inherit from the line or command admitted last: its actor, its rules and its --yes. A command
// that the user approved in a line needs no second approval when it is executed, as long as the line runs.

// recordFlight records what was admitted to a session.
func (g *Gateway) recordFlight(session string, a *Request, answer *Answer) {
	f := &flight{request: *a, approval: answer.Approval, awaited: a.Kind == Line && a.ReportsEnd}
	f.request.Yes = g.honorsYes(a)
	if answer.Approval != "" {
		f.allowed = shownTo(a, &answer.Judgement)
	}
	if g.c.OnAgentLine != nil && a.Actor.IsAgent() {
		g.c.OnAgentLine(session, a.Actor.Agent)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	list := slices.DeleteFunc(g.flights[session], func(o *flight) bool { return !o.awaited || o.request.ID == a.ID })
	list = append(list, f)
	g.flights[session] = list[max(0, len(list)-maxFlights):]
	if len(list) == 1 && f.isNeutral() {
		delete(g.flights, session)
	}
	delete(g.refused, session)
}

// isNeutral reports whether executions are judged the same without this flight. For most sessions that is the only one.
func (f *flight) isNeutral() bool {
	a := &f.request
	return !f.awaited && f.approval == "" && a.Actor.Agent == "" && a.Actor.Policy == "" && a.Policy == "" && a.Kept == "" && !a.Yes
}

// maxFlights bounds the lines of a session that were let through and have not ended.
const maxFlights = 64

// LineFinished records that the line with this id has ended. Processes that it left running still belong to it until
// the session gets another line.
func (g *Gateway) LineFinished(session, id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := g.flights[session]
	for _, f := range list {
		f.awaited = f.awaited && f.request.ID != id
	}
	if n := len(list) - 1; n > 0 {
		last := list[n]
		g.flights[session] = slices.DeleteFunc(list, func(f *flight) bool { return f != last && !f.awaited })
	}
}

// lastFlight returns what was admitted to a session last, or nil. The caller holds the lock.
func (g *Gateway) lastFlight(session string) *flight {
	if list := g.flights[session]; len(list) > 0 {
		return list[len(list)-1]
	}
	return nil
}

// honorsYes reports whether --yes counts. It counts for users, and for agents only if the configuration permits it.
func (g *Gateway) honorsYes(a *Request) bool {
	return a.Yes && (!boundByPolicy(&a.Actor) || g.c.AgentsMayUseYes != nil && g.c.AgentsMayUseYes())
}

// RulesOf returns the policy of the line that a session received last. It applies to all programs there.
func (g *Gateway) RulesOf(session string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f := g.lastFlight(session); f != nil {
		return firstNonEmpty(f.request.Policy, f.request.Actor.Policy)
	}
	return ""
}

// Started records the session of a command that was admitted before its session existed.
func (g *Gateway) Started(session string, a Request, answer Answer) {
	g.recordFlight(session, &a, &answer)
}

// Recall restores what the previous daemon admitted to a session, for its later executions.
func (g *Gateway) Recall(ctx context.Context, session string, a Request) {
	answer := Answer{Verdict: policy.Allow}
	if r, err := g.c.Store.ApprovalOf(ctx, a.ID); err == nil && r.State == store.ApprovalAnswered {
		if e, err := entryOf(&r); err == nil && e.view.Answer != answerReject && !isAllowedByRules(&e.view) {
			answer.Judgement, answer.Approval = judgementOf(&e.view.Judgement), e.view.ID
			a.Files, a.Own = e.request.Files, e.request.Own
		}
	}
	g.recordFlight(session, &a, &answer)
}

// maxRefusals bounds the rejections remembered per session.
const maxRefusals = 64

// refusal is an execution that a user rejected.
type refusal struct {
	pid  int
	argv []string
	by   *api.Error
}

// recordRefusal records that a process may not execute these words.
func (g *Gateway) recordRefusal(a *Request, by error) {
	var e *api.Error
	if a.Kind != Execution || !errors.As(by, &e) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	list := append(g.refused[a.Session], refusal{a.Actor.PID, a.Argv, e})
	g.refused[a.Session] = list[max(0, len(list)-maxRefusals):]
}

// refusedBefore returns the user's rejection of an execution that the same process now retries in another directory of
// PATH, so that the user is asked once only.
func (g *Gateway) refusedBefore(a *Request) error {
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

// Refuse rejects an execution after it was admitted, because of later findings. Its process is refused the same words
// from then on.
func (g *Gateway) Refuse(ctx context.Context, a Request, by *api.Error) error {
	g.inherit(&a)
	if a.ResolveID != nil {
		a.ID, a.Descent = a.ResolveID()
		a.ResolveID = nil
	}
	a.OnWait = nil
	g.recordRefusal(&a, by)
	return errors.Join(by, g.audit(ctx, Record{Request: a, Actor: a.Actor, Verdict: policy.Deny, Rule: ruleChanged}))
}

// ruleChanged is the rule for a file that changed while its approval was pending.
const ruleChanged = "changed"

// inherit sets the actor, rules and options of an execution from its line.
func (g *Gateway) inherit(a *Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.lastFlight(a.Session)
	if f == nil {
		return
	}
	if a.Actor.Agent == "" {
		a.Actor.Agent = f.request.Actor.Agent
	}
	if a.Actor.Policy == "" {
		a.Actor.Policy = f.request.Actor.Policy
	}
	if a.Policy == "" {
		a.Policy = f.request.Policy
	}
	if a.Kept == "" {
		a.Kept = f.request.Kept
	}
	a.Yes = a.Yes || f.request.Yes
}

// allowedByLine returns the approval of the line that an execution belongs to, if it covers these commands. The shell
// does not report in time which of several submitted lines it runs, so the approval of each holds until that line ends.
func (g *Gateway) allowedByLine(a *Request, j *policy.Judgement) string {
	if a.Kind != Execution || len(j.Commands) == 0 {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.ContainsFunc(j.Commands, isUnlistedCommand) {
		return "" // the approval of the line did not show what the profile lacks
	}
	for _, f := range g.flights[a.Session] {
		if f.approval != "" && f.isUnchanged(a) && (f.request.Kind == Command && isCommand(&f.request, a) || allowsAll(f.allowed, j.Commands, a.Home)) {
			return f.approval
		}
	}
	return ""
}

// isUnchanged reports whether the files that the user saw are unchanged, except those that the line itself changes, as
// was shown.
func (f *flight) isUnchanged(a *Request) bool {
	for _, words := range slices.Concat([][]string{{a.Path}, a.Argv}, a.Also, a.Scripts) {
		for _, w := range words {
			if w != "" && !filepath.IsAbs(w) {
				w = "./" + w
			}
			file := fileOf(w, a.Cwd)
			if id, shown := f.request.Files[file]; shown && sys.FileID(file) != id && !slices.Contains(f.request.Own, file) {
				return false
			}
		}
	}
	return true
}

// isCommand reports whether an execution is the start of a requested command: its own words and file, or the shell that
// reads its line.
func isCommand(asked, a *Request) bool {
	if n := len(a.Argv); asked.Line != "" {
		own := slices.ContainsFunc(asked.Also, func(words []string) bool { return words[0] == a.Path })
		return n == 3 && a.Argv[1] == "-c" && a.Argv[2] == asked.Line && (own || a.Path == "" || isFoundByName(a.Path, a.Home))
	}
	return len(asked.Argv) > 0 && len(a.Argv) > 0 && slices.Equal(asked.Argv[1:], a.Argv[1:]) && asked.Path != "" && realFile(asked.Path) == realFile(a.Path)
}

// realFile resolves links in a path.
func realFile(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
