// Package gateway is the one way to every "may this be done".
//
//	Ask → rules in effect → Judgement → allow | deny | approval: recorded, told, waited for → Answer → audit
//
// Whoever is about to have a line typed, a command started, a program executed or a secret shown asks
// here first, and only here; no door has a way around it and none repeats it. An approval is a record
// before it is a question (queue.go is the pure machine of those that are open), so that it outlives
// whoever asked, answered or carried it: asked again with the same id after a restart, an asking finds
// its record. Rules, records, the audit trail and the bus of events are the interfaces of ports.go.
package gateway

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/store"
)

// Kind is what is asked for.
type Kind string

// The kinds.
const (
	Line      Kind = "line"      // a line for a shell
	Command   Kind = "command"   // argv of run and new
	Execution Kind = "execution" // an execve inside a session
	Network   Kind = "network"   // host:port, of a sandbox
	Reveal    Kind = "reveal"    // a secret
	Write     Kind = "write"     // a file of rules that is trusted, and the like
	Stop      Kind = "stop"      // sessions of others that an agent ends
)

// Ask is what somebody wants to do.
type Ask struct {
	// ID is durable: the same id is the same asking. It is a job's, or an execution's. Asked again after
	// a restart it finds its record.
	ID    string
	Kind  Kind
	Actor actor.Actor

	Session, Name string // of the session; empty: none yet
	Labels        map[string]string

	Line, Shell string // of a line
	// Readers are programs that may read the line instead of the session's shell, by their names: it is judged as code of
	// each as well, and the strictest counts.
	Readers   []string
	Ends      bool   `json:"-"` // of a line: its end is told (Landed)
	Elsewhere bool   // the line is not for the session's shell: a rule's, say
	Opaque    string // why the line may be another one than it says; empty: it is that
	Path      string // of an execution: the file that is executed; of a network: "host:port"; else what it is about
	File      string // tells the file of a command from another, and from a changed one; empty: it is judged by its name
	Argv      []string
	// Files, of a line, are those that it names as programs, as they were when a person was asked: he answers for no others.
	Files map[string]string
	// Own are those of them that the line itself changes before it runs them, as the person was told.
	Own []string `json:",omitempty"`
	// Link, of an execution, is the name in the system's directories that it was executed by, where root has put the
	// file that this leads to elsewhere: what presets say is said of the program of that name. Installed says that root has
	// put the file where packages are.
	Link      string
	Installed bool
	Cwd, Home string
	Nameless  bool // of an execution: by a descriptor of a file that has no name any more
	Real      bool // Cwd is without links, as the kernel has it for all
	// Also and Scripts are the words, programs by their files, of what an execution runs besides: the strictest counts.
	// What is not known of a script counts for nothing: it is a program like others.
	Also, Scripts [][]string

	// Settings are variables, NAME=VALUE, that a command is started with besides its person's: they are part of it.
	Settings []string

	Pipe bool // of a line or command: it has no terminal

	// Depth and Parent are of an execution: 0 is what was asked for; Parent is the argv of what started it.
	Depth  int
	Parent []string

	// Script says, of an execution, that the process is env at its work: it executes the words that it was
	// started with, of a first line such as "#!/usr/bin/env bash", and was judged for them as that script.
	Script bool
	// Descent are the process that executes and those above it, up to the session's own, each named for good (its number and
	// when it began).
	Descent []string
	// Naming finds ID and Descent when they are needed, of an execution that somebody is asked about; nil: they are known.
	Naming func() (id string, descent []string) `json:"-"`
	// Waits is told before somebody is asked or a record is waited for; nil: nobody is.
	Waits func() `json:"-"`
	// Programs, of an execution, are those that its session's sandbox profile lists; nil: none are. Differ has others asked
	// about, which are refused else.
	Programs []string
	Differ   bool

	Policy string // preset or name of rules that the call asked for
	Kept   string // that is kept with the session
	Yes    bool   // skips asking, never denials

	Since time.Time // of a line: when the shell that gets it was started

	inEffect map[ruledBy]inEffect // while it is judged; nil: a judgement has its own
	seen     *rulebook.Seen       // while it is judged
	verdicts *verdicts            // while it is judged
	earlier  *policy.State        // of a line: what others have left in its shell
}

// Answer is what came of an asking that may go ahead.
type Answer struct {
	Verdict   policy.Verdict
	Judgement policy.Judgement
	Approval  string // "A7"; empty: nobody had to be asked
	Feedback  string // what the person who answered said
	Scope     string // "once", "session" or "always" when an approval answered it
}

// Config is what a gateway is made with.
type Config struct {
	Rules  Rules
	Author Author // nil: no rule can be written
	Store  Store
	Audit  Audit // nil: none is kept
	Bus    Bus
	Start  func(dir string) error // says that no session may start in a directory; nil: it may in any
	Tell   func(*api.Approval)    // tells people of one that was asked for; nil: nobody
	// AgentsYes says whether --yes counts where an agent gives it; nil: it does not.
	AgentsYes func() bool
	// Cwd is the directory that a session's shell is in now; empty, or nil: it is not known.
	Cwd func(session string) string
	// Flush waits until what sessions have run is in the store; nil: it is.
	Flush func(context.Context)
	// Worked is told that an agent has given a session a line; nil: nobody is.
	Worked func(session, agent string)
	Log    *slog.Logger
}

// keptApprovals is how many of those that are over stay on record.
const keptApprovals = 10_000

// grace is how long an approval waits for whoever asked for it to come again: a client that was told of it
// at once, or one of the daemon before.
const grace = time.Minute

// Gateway decides, asks and remembers. Its lock guards the maps and the queue, and is never held while
// anything is written.
type Gateway struct {
	c      Config
	unkept *unkept // c's store

	mu      sync.Mutex
	leaving bool
	queue   *queue
	former  map[string]bool // askings of the daemon before, until whoever asked lets go of one again
	grants  []store.Grant
	flights map[string][]*flight // what was admitted to sessions, oldest first
	refused map[string][]refusal // of executions, by session
	covers  map[string][]cover   // of executions that a person allowed, by session
	told    map[string]*told     // what lines have left in shells, by session

	verdicts verdicts
}

// flight is what was admitted to a session: the last of them, and lines before it that have not ended. Executions in it
// are theirs.
type flight struct {
	awaited  bool // it is a line whose end is told (Landed)
	ask      Ask
	allowed  []shownCommand // that a person was shown, and allowed
	approval string
}

// Open is a gateway with the approvals that the daemon before left open. Those nobody asks for again within
// the grace are gone.
func Open(ctx context.Context, c Config) (*Gateway, error) {
	g := &Gateway{c: c, flights: map[string][]*flight{}, refused: map[string][]refusal{}, covers: map[string][]cover{}, told: map[string]*told{}}
	g.unkept = &unkept{Store: c.Store, log: c.Log}
	g.c.Store = g.unkept
	if err := c.Store.PruneApprovals(ctx, keptApprovals); err != nil {
		return nil, err
	}
	last, err := c.Store.LastApproval(ctx)
	if err != nil {
		return nil, err
	}
	g.queue = newQueue(last)
	askings, err := c.Store.PendingAskings(ctx)
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
	g.former = map[string]bool{}
	for _, id := range g.queue.unheld() {
		g.former[id] = true
	}
	time.AfterFunc(grace, g.dropFormer)
	return g, nil
}

// Leave says that the daemon ends: who stops waiting now does so because of that, and what is open stays
// so, for its successor.
func (g *Gateway) Leave() {
	g.mu.Lock()
	g.leaving = true
	g.mu.Unlock()
	g.unkept.leave()
}

// Admit judges and, where a person is to be asked, waits until it is answered or ctx ends; it is gone with
// its last caller then. What is refused is an *api.Error: CodeDenied, CodeRejected.
func (g *Gateway) Admit(ctx context.Context, a Ask) (Answer, error) {
	answer, p, err := g.Begin(ctx, a)
	if p == nil {
		return answer, err
	}
	return p.Wait(ctx)
}

// Begin judges. When a person has to be asked, the asking is on record and told of, and Pending waits for the
// answer; else Pending is nil.
func (g *Gateway) Begin(ctx context.Context, a Ask) (Answer, *Pending, error) {
	if a.ID == "" && a.Naming == nil {
		a.ID = uuid.NewString()
	}
	answer, p, err := g.begin(ctx, a)
	if p != nil || err != nil {
		g.NotGiven(a.Session, a.ID)
	}
	return answer, p, err
}

// Unjudged records what an agent, or who is held by rules, starts without being judged: a shell by itself, whose lines are.
func (g *Gateway) Unjudged(ctx context.Context, a Ask) error {
	if !held(&a.Actor) && a.Policy == "" && a.Kept == "" {
		return nil
	}
	if len(a.Argv) == 0 {
		a.Argv = []string{a.Shell}
	}
	return g.audit(ctx, Record{Ask: a, Actor: a.Actor, Verdict: policy.Allow})
}

func (g *Gateway) begin(ctx context.Context, a Ask) (Answer, *Pending, error) {
	if a.Kind == Execution {
		g.inherit(&a)
	} else {
		a.Yes = g.yesOf(&a)
		a.earlier = g.earlier(ctx, &a, true)
	}
	judged := a
	judged.inEffect = map[ruledBy]inEffect{}
	j := g.Judge(judged)
	answer := Answer{Verdict: j.Verdict, Judgement: j}
	if a.Waits != nil && j.Verdict != policy.Allow {
		a.Waits()
	}
	a.Waits = nil
	switch {
	case j.Verdict == policy.Deny:
		return answer, nil, errors.Join(denied(j), g.audit(ctx, Record{Ask: a, Actor: a.Actor, Verdict: policy.Deny, Rule: j.Rule}))
	case j.Verdict == policy.Ask:
		if a.Naming != nil {
			a.ID, a.Descent = a.Naming()
			a.Naming = nil
		}
		for {
			closed := g.closed()
			done, err := g.before(ctx, &a, &answer)
			if err != nil {
				return answer, nil, err
			}
			if done {
				break
			}
			p, err := g.ask(ctx, a, j, judged.inEffect, closed)
			if err != errAnswered {
				return answer, p, err
			}
		}
	}
	return answer, nil, g.admitted(ctx, &a, &answer)
}

// errAnswered says that approvals were answered since it was looked: this asking's may be among them.
var errAnswered = errors.New("approvals were answered meanwhile")

func (g *Gateway) closed() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.queue.closed
}

// before looks whether an asking was decided already: by a grant, by the line it belongs to, or by an answer
// to the same asking.
func (g *Gateway) before(ctx context.Context, a *Ask, answer *Answer) (bool, error) {
	j := &answer.Judgement
	if id := g.granted(a, j); id != "" {
		answer.Verdict, answer.Approval, answer.Scope = policy.Allow, id, "session"
		return true, nil
	}
	if id := g.allowedByLine(a, j); id != "" {
		answer.Verdict, answer.Approval, answer.Scope = policy.Allow, id, "once"
		return true, nil
	}
	if err := g.refusedBefore(a); err != nil {
		return false, errors.Join(err, g.audit(ctx, Record{Ask: *a, Actor: a.Actor, Verdict: policy.Deny, Rule: j.Rule}))
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
	if !sameWords(a, &e.ask) || lifted(&e.view) { // an id that a client gave to something else before; rules that ask again
		return false, nil
	}
	if file := swapped(e.ask.Files); file != "" && e.view.Answer != answerReject {
		return false, g.refuseSwapped(ctx, a, file)
	}
	return true, answer.take(&e.view)
}

// sameWords says that an asking is for what another one, as it is kept, was for.
func sameWords(a, kept *Ask) bool {
	k, _ := a.kept()
	return k.Kind == kept.Kind && (k.File == kept.File || kept.File == "") && k.Actor.Agent == kept.Actor.Agent && k.Line == kept.Line && k.Path == kept.Path && slices.Equal(k.Argv, kept.Argv) &&
		slices.Equal(k.Settings, kept.Settings) && slices.Equal(k.Readers, kept.Readers)
}

// take is the answer that a person gave.
func (answer *Answer) take(v *api.Approval) error {
	answer.Approval, answer.Feedback, answer.Scope = v.ID, v.Feedback, v.Answer
	if v.Answer == answerReject {
		answer.Verdict = policy.Deny
		return rejected(v)
	}
	answer.Verdict = policy.Allow
	if lifted(v) { // it is the rules that allow it, as if nobody had been asked
		answer.Approval, answer.Feedback, answer.Scope = "", "", ""
	}
	return nil
}

// admitted notes what goes ahead.
func (g *Gateway) admitted(ctx context.Context, a *Ask, answer *Answer) error {
	if err := g.audit(ctx, Record{Ask: *a, Actor: a.Actor, Verdict: policy.Allow, Rule: answer.Judgement.Rule, Approval: answer.Approval}); err != nil {
		return err
	}
	if a.Kind == Line && a.Session != "" {
		g.fly(a.Session, a, answer)
	}
	g.cover(a, answer)
	return nil
}

// audit has the trail keep it. What it cannot keep is not done, unless the configuration says otherwise.
func (g *Gateway) audit(ctx context.Context, r Record) error {
	if g.c.Audit == nil {
		return nil
	}
	err := g.c.Audit.Decided(ctx, r)
	if err == nil {
		return nil
	}
	return api.Errorf(api.CodeStorage, "the audit trail cannot be written: %v", err).
		WithHint("make room, or set policy.audit_full to go_on (`longterm config set policy.audit_full go_on`)")
}

func storageError(err error) *api.Error {
	return api.Errorf(api.CodeStorage, "approvals cannot be read or written: %v", err).WithHint("run `longterm doctor`")
}
