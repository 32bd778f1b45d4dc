// Package authorize decides whether a line may be typed, a command started, a program executed or a secret shown.
//
//	Request → rules in effect → Judgement → allow | deny | approval: stored, published, waited for → Answer → audit
//
// Every caller that is about to do one of these asks here; no other code repeats the decision. An approval is stored
// before it is published, so it outlives its callers and the daemon: a request repeated with the same id after a
// restart finds its record. queue.go holds the open approvals as plain data; flight.go attributes executions to lines;
// shellhistory.go follows what earlier lines changed in a shell. Rules, store, audit trail and event bus are the
// interfaces of ports.go.
package authorize

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/effects"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/store"
)

// Kind is the kind of a request.
type Kind string

// Kinds of requests.
const (
	Line      Kind = "line"      // a line for a shell
	Command   Kind = "command"   // argv of run and new
	Execution Kind = "execution" // an execve inside a session
	Network   Kind = "network"   // host:port, of a sandbox
	Reveal    Kind = "reveal"    // a secret
	Write     Kind = "write"     // a file of rules that is trusted, and the like
	Stop      Kind = "stop"      // sessions of others that an agent ends
)

// Request is one action that needs permission.
type Request struct {
	// ID identifies the request permanently: it is that of the job or execution. A request repeated after a restart
	// finds its record.
	ID    string
	Kind  Kind
	Actor identity.Actor

	Session, Name string // the session's; empty before its start
	Labels        map[string]string

	Line, Shell string // of a line
	// Readers are the names of programs that may read the line instead of the session's shell. The line is judged as
	// code of each too; the strictest verdict counts.
	Readers    []string
	ReportsEnd bool   `json:"-"` // the end of the line is reported (LineFinished)
	Elsewhere  bool   // the line is not read by the session's shell, but by a rule for example
	Opaque     string // why the executed line may differ from the text; empty if it cannot
	Path       string // of an execution: the file that is executed; of a network: "host:port"; else what it is about
	File       string // identifies the command's file and version; if empty, the name counts
	Argv       []string
	// Files, of a line, are the files that it names as programs, with their ids when approval was requested. The
	// approval covers no other files.
	Files map[string]string
	// Own are the files that the line itself changes before it runs them, as the user was shown.
	Own []string `json:",omitempty"`
	// Link, of an execution, is the name in a system directory that it was executed by, if root made it a link to this
	// file elsewhere: presets judge it by that name. Installed reports whether root put the file where packages are.
	Link      string
	Installed bool
	Cwd, Home string
	Nameless  bool // of an execution: by a descriptor of a file without a name
	Real      bool // Cwd is without links, as the kernel has it for all
	// Also and Scripts are the words, with program files, of what an execution runs besides; the strictest verdict
	// counts. An unknown script is judged as any program.
	Also, Scripts [][]string

	// Settings are variables, NAME=VALUE, that a command gets in addition to the user's environment. They are part of
	// the command.
	Settings []string

	Pipe bool // of a line or command: it has no terminal

	// Depth and Parent apply to executions. Depth 0 is the requested command; Parent is the argv of its starter.
	Depth  int
	Parent []string

	// Script reports whether the process is env, executing the words of a first line such as "#!/usr/bin/env bash". It
	// was judged as that script before.
	Script bool
	// Descent lists the executing process and its ancestors up to the session's own, each identified by pid and start
	// time.
	Descent []string
	// ResolveID finds ID and Descent, which are needed only if approval is required; nil: they are set.
	ResolveID func() (id string, descent []string) `json:"-"`
	// OnWait is called before the request waits for a user or a record; may be nil.
	OnWait func() `json:"-"`
	// Programs, of an execution, are the programs that its session's sandbox profile lists; nil without a list. With Differ,
	// others need approval instead of being refused.
	Programs []string
	Differ   bool // programs that are not listed need approval, instead of being refused

	// MakeDraft creates a draft in which a line or command can run before it is approved, or returns why it cannot. If nil,
	// nothing runs in a draft.
	MakeDraft      func() (effects.Draft, error) `json:"-"`
	ShellVariables map[string]string             `json:"-"` // exported variables of the shell that gets the line
	InDraft        bool                          `json:"-"` // the request runs in a draft
	Drafted        *api.DraftReview              `json:"-"` // changes that a run in a draft would make

	Policy string // preset or rule set that the call requested
	Kept   string // policy that is stored with the session
	Yes    bool   // skips asking, never denials

	Since time.Time // of a line: when the shell that gets it was started

	inEffect   map[ruleKey]inEffect  // rules found while it is judged; nil: each judgement finds its own
	seen       *rulebook.LookupCache // files looked up while it is judged
	verdicts   *verdicts             // cache of the gateway, while it is judged
	priorState *policy.State         // of a line: state that other lines left in its shell
}

// Answer is the outcome of a request that may proceed.
type Answer struct {
	Verdict   policy.Verdict
	Judgement policy.Judgement
	Approval  string          // "A7"; empty if none was needed
	Draft     bool            // the caller runs it in a draft, then repeats the request with Drafted
	Feedback  string          // comment of the answering user
	Scope     string          // "once", "session" or "always" when an approval answered it
	By        *identity.Actor // that user; nil without an approval
}

// Config holds the dependencies of a gateway.
type Config struct {
	Rules         Rules
	Author        Author // nil: rules cannot be written
	Store         Store
	Audit         Audit // nil without an audit trail
	Bus           Bus
	Drafts        Drafts                 // nil: no request runs in a draft
	CheckStartDir func(dir string) error // returns an error if no session may start in dir; nil: any directory
	NotifyUsers   func(*api.Approval)    // notifies users of a new approval; may be nil
	// AgentsMayUseYes reports whether --yes counts for agents; nil means no.
	AgentsMayUseYes func() bool
	// Cwd returns the current directory of a session's shell, or "" if unknown; may be nil.
	Cwd func(session string) string
	// Flush waits until the store has the commands that sessions ran; may be nil.
	Flush func(context.Context)
	// OnAgentLine is called when an agent submits a line to a session; may be nil.
	OnAgentLine func(session, agent string)
	Log         *slog.Logger
}

// keptApprovals is the number of ended approvals that stay on record.
const keptApprovals = 10_000

// grace is how long an approval without a waiting caller stays open: its client may retry, or reconnect after a daemon
// restart.
const grace = time.Minute

// Gateway decides, asks and remembers. Its lock guards the maps and the queue, and is never held while
// anything is written.
type Gateway struct {
	c           Config
	unpersisted *unpersistedApprovals // c.Store with a retry queue

	mu                 sync.Mutex
	stopping           bool
	queue              *queue
	unrepeatedRequests map[string]bool // requests of the previous daemon that no caller has repeated yet
	grants             []store.Grant
	flights            map[string][]*flight         // what was admitted to sessions, oldest first
	refused            map[string][]refusal         // of executions, by session
	covers             map[string][]transitiveAllow // approved executions, by session
	histories          map[string]*shellHistory     // state that lines left in shells, by session

	verdicts verdicts
}

// flight is what was admitted to a session: the last line or command, and earlier lines that have not ended. Executions
// are attributed to them.
type flight struct {
	awaited  bool // a line whose end is reported (LineFinished)
	request  Request
	allowed  []shownCommand // that a user saw and allowed
	approval string
}

// Open returns a gateway with the approvals that the previous daemon left open. Those that no caller repeats within the
// grace are closed.
func Open(ctx context.Context, c Config) (*Gateway, error) {
	g := &Gateway{c: c, flights: map[string][]*flight{}, refused: map[string][]refusal{}, covers: map[string][]transitiveAllow{}, histories: map[string]*shellHistory{}}
	g.unpersisted = &unpersistedApprovals{Store: c.Store, log: c.Log}
	g.c.Store = g.unpersisted
	if err := c.Store.PruneApprovals(ctx, keptApprovals); err != nil {
		return nil, err
	}
	last, err := c.Store.LastApproval(ctx)
	if err != nil {
		return nil, err
	}
	g.queue = newQueue(last)
	askings, err := c.Store.PendingRequests(ctx)
	if err != nil {
		return nil, err
	}
	of := map[int64][]string{}
	for _, a := range askings {
		of[a.Approval] = append(of[a.Approval], a.ID)
	}
	open, err := c.Store.Approvals(ctx, store.ApprovalQuery{Pending: true})
	if err != nil {
		return nil, err
	}
	for i := range open {
		e, err := entryOf(&open[i])
		if err != nil {
			c.Log.Error("an approval cannot be read", "approval", open[i].N, "err", err)
			continue
		}
		g.queue.load(e, of[e.n])
	}
	if g.grants, err = c.Store.Grants(ctx); err != nil {
		return nil, err
	}
	g.unrepeatedRequests = map[string]bool{}
	for _, id := range g.queue.unheld() {
		g.unrepeatedRequests[id] = true
	}
	time.AfterFunc(grace, g.dropUnrepeated)
	return g, nil
}

// MarkStopping marks the daemon as stopping: callers that stop waiting now leave their approvals open for the next daemon.
func (g *Gateway) MarkStopping() {
	g.mu.Lock()
	g.stopping = true
	g.mu.Unlock()
	g.unpersisted.flush()
}

// Admit judges a request and, if a user has to decide, waits for the answer or the end of ctx. The approval closes with
// its last caller. A refusal is an *api.Error with CodeDenied or CodeRejected.
func (g *Gateway) Admit(ctx context.Context, a Request) (Answer, error) {
	answer, p, err := g.Begin(ctx, a)
	if p == nil {
		return answer, err
	}
	return p.Wait(ctx)
}

// Begin judges a request. If a user has to decide, the approval is stored and published, and Pending waits for the
// answer; otherwise Pending is nil.
func (g *Gateway) Begin(ctx context.Context, a Request) (Answer, *Pending, error) {
	if a.ID == "" && a.ResolveID == nil {
		a.ID = uuid.NewString()
	}
	answer, p, err := g.begin(ctx, a)
	if p != nil || err != nil || answer.Draft || a.Drafted != nil {
		g.NotSubmitted(a.Session, a.ID)
	}
	return answer, p, err
}

// RecordUnjudged audits what an agent or an actor under a policy starts without a judgement: a plain shell, whose lines
// are judged later.
func (g *Gateway) RecordUnjudged(ctx context.Context, a Request) error {
	if !boundByPolicy(&a.Actor) && a.Policy == "" && a.Kept == "" {
		return nil
	}
	if len(a.Argv) == 0 {
		a.Argv = []string{a.Shell}
	}
	return g.audit(ctx, Record{Request: a, Actor: a.Actor, Verdict: policy.Allow})
}

func (g *Gateway) begin(ctx context.Context, a Request) (Answer, *Pending, error) {
	if a.Kind == Execution {
		g.inherit(&a)
	} else {
		a.Yes = g.honorsYes(&a)
		a.priorState = g.priorShellState(ctx, &a, true)
	}
	judged := a
	judged.inEffect = map[ruleKey]inEffect{}
	j := g.Judge(judged)
	answer := Answer{Verdict: j.Verdict, Judgement: j}
	if a.OnWait != nil && j.Verdict != policy.Allow {
		a.OnWait()
	}
	a.OnWait = nil
	switch {
	case j.Verdict == policy.Deny:
		return answer, nil, errors.Join(denialError(j), g.audit(ctx, Record{Request: a, Actor: a.Actor, Verdict: policy.Deny, Rule: j.Rule}))
	case j.Verdict == policy.Ask:
		if a.ResolveID != nil {
			a.ID, a.Descent = a.ResolveID()
			a.ResolveID = nil
		}
		for {
			closed := g.closed()
			done, err := g.findDecision(ctx, &a, &answer)
			if err != nil {
				return answer, nil, err
			}
			if done {
				break
			}
			if a.wantsDraft(&j) {
				if j.NoDraft = a.noDraft(&j); j.NoDraft == "" {
					answer.Draft = true
					return answer, nil, g.audit(ctx, Record{Request: a, Actor: a.Actor, Verdict: policy.Ask, Rule: j.Rule, Note: "runs in a draft first"})
				}
			}
			p, err := g.ask(ctx, a, j, judged.inEffect, closed)
			if err != errAnswered {
				return answer, p, err
			}
		}
	}
	return answer, nil, g.recordAdmitted(ctx, &a, &answer)
}

// errAnswered reports that approvals were answered since the check; this request's may be among them.
var errAnswered = errors.New("approvals changed since the check")

// closed returns the number of approvals that have been closed.
func (g *Gateway) closed() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.queue.closed
}

// findDecision reports whether a request was already decided: by a grant, by its line's approval, or by an answer to
// the same request. It sets answer then.
func (g *Gateway) findDecision(ctx context.Context, a *Request, answer *Answer) (bool, error) {
	j := &answer.Judgement
	if g.runsInDraft(a) && !slices.ContainsFunc(j.Commands, isUnlistedCommand) {
		answer.Verdict = policy.Allow
		return true, nil
	}
	if id := g.grantedBy(a, j); id != "" {
		answer.Verdict, answer.Approval, answer.Scope = policy.Allow, id, "session"
		return true, nil
	}
	if id := g.allowedByLine(a, j); id != "" {
		answer.Verdict, answer.Approval, answer.Scope = policy.Allow, id, "once"
		return true, nil
	}
	if err := g.refusedBefore(a); err != nil {
		return false, errors.Join(err, g.audit(ctx, Record{Request: *a, Actor: a.Actor, Verdict: policy.Deny, Rule: j.Rule}))
	}
	if id := g.coveredBy(a, j); id != "" {
		answer.Verdict, answer.Approval, answer.Scope = policy.Allow, id, "once"
		return true, nil
	}
	r, err := g.c.Store.ApprovalOf(ctx, a.ID)
	switch {
	case errors.Is(err, store.ErrNoApproval), err == nil && r.State != store.ApprovalAnswered:
		return false, nil
	case err != nil:
		return false, storageError(err)
	}
	e, err := entryOf(&r)
	if err != nil {
		return false, storageError(err)
	}
	if !sameWords(a, &e.request) || isAllowedByRules(&e.view) { // an id that a client gave to something else before; rules that ask again
		return false, nil
	}
	if file := findSwapped(e.request.Files); file != "" && e.view.Answer != answerReject {
		return false, g.refuseSwapped(ctx, a, file)
	}
	return true, answer.apply(&e.view)
}

// sameWords reports whether a request matches a stored one.
func sameWords(a, kept *Request) bool {
	k, _ := a.toStored()
	return k.Kind == kept.Kind && (k.File == kept.File || kept.File == "") && k.Actor.Agent == kept.Actor.Agent && k.Line == kept.Line && k.Path == kept.Path && slices.Equal(k.Argv, kept.Argv) &&
		slices.Equal(k.Settings, kept.Settings) && slices.Equal(k.Readers, kept.Readers)
}

// apply sets the user's answer to an approval; it returns an error for a rejection.
func (answer *Answer) apply(v *api.Approval) error {
	answer.Approval, answer.Feedback, answer.Scope, answer.By = v.ID, v.Feedback, v.Answer, v.By
	if v.Answer == answerReject {
		answer.Verdict = policy.Deny
		return rejectionError(v)
	}
	answer.Verdict = policy.Allow
	if isAllowedByRules(v) { // the rules allow it, as if no approval had been needed
		answer.Approval, answer.Feedback, answer.Scope = "", "", ""
	}
	return nil
}

// recordAdmitted records a request that was allowed.
func (g *Gateway) recordAdmitted(ctx context.Context, a *Request, answer *Answer) error {
	if err := g.audit(ctx, Record{Request: *a, Actor: a.Actor, Verdict: policy.Allow, Rule: answer.Judgement.Rule, Approval: answer.Approval}); err != nil {
		return err
	}
	if a.Drafted != nil {
		return nil // it ran
	}
	if a.Kind == Line && a.Session != "" {
		g.recordFlight(a.Session, a, answer)
	}
	g.cover(a, answer)
	return nil
}

// audit writes a record to the audit trail. If that fails, the action is refused unless the configuration permits it.
func (g *Gateway) audit(ctx context.Context, r Record) error {
	if g.c.Audit == nil {
		return nil
	}
	err := g.c.Audit.RecordDecision(ctx, r)
	if err == nil {
		return nil
	}
	return api.Errorf(api.CodeStorage, "the audit trail cannot be written: %v", err).
		WithHint("make room, or set policy.audit_full to go_on (`longterm config set policy.audit_full go_on`)")
}

func storageError(err error) *api.Error {
	return api.Errorf(api.CodeStorage, "approvals cannot be read or written: %v", err).WithHint("run `longterm doctor`")
}
