package authorize

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store"
)

// maxPending bounds the approvals that are open.
const maxPending = 1000

// Pending is a request that waits for a user's decision.
type Pending struct {
	g  *Gateway
	e  *entry
	id string           // of the request
	a  Request          // the request
	j  policy.Judgement // its judgement
}

// ask stores and publishes an approval and holds it. closed is the number of approvals that had ended when the caller
// checked for an answer; if more have ended since, ask returns errAnswered.
func (g *Gateway) ask(ctx context.Context, a Request, j policy.Judgement, by map[ruleKey]inEffect, closed int) (*Pending, error) {
	if a.Drafted == nil { // else it ran already
		a.Files, a.Own = filesShown(&a, &j), noteChangedFiles(&a, &j)
		j.Effects = effectsOf(&a, &j)
	} else {
		j.Effects = effectsOfDraft(a.Drafted)
	}
	if j.NoDraft != "" {
		j.Effects = append(j.Effects, "was not run in a draft: "+j.NoDraft)
	}
	digest := digestOf(&a)
	proposal, none := g.propose(&a, &j), ""
	if proposal == "" {
		none = g.unliftableRule(&a, &j)
	}
	g.mu.Lock()
	if g.queue.closed != closed && g.queue.requests[a.ID] == nil {
		g.mu.Unlock()
		return nil, errAnswered
	}
	if before := g.queue.requests[a.ID]; before != nil && before.request.File != "" && before.request.File != a.File { // by the daemon before
		g.mu.Unlock()
		return nil, g.refuseSwapped(ctx, &a, a.Path)
	}
	if len(g.queue.open) >= maxPending && g.queue.requests[a.ID] == nil && g.queue.digests[digest] == nil {
		g.mu.Unlock()
		return nil, api.Errorf(api.CodeLimit, "%d approvals are pending, which is the limit", maxPending).
			WithHint("reject all: `longterm approvals answer --all reject`; or answer one group: `longterm approvals answer --group GROUP once`")
	}
	kept, whole := a.toStored()
	e, isNew, changed := g.queue.ask(a.ID, digest, kept)
	if changed {
		e.last = time.Now()
	}
	e.rules = by
	if isNew {
		e.cut, e.scope = !whole, scopeOf(&a, &j)
		e.view = newView(e.n, &kept, &j, e.scope)
		e.view.Rule, e.view.NoRule = proposal, none
		e.view.RuleCwd = a.ruleDir(proposal)
	}
	told := e.view
	a.Files, a.Own = e.request.Files, e.request.Own // as at the first request, possibly to the previous daemon
	g.mu.Unlock()
	p := &Pending{g: g, e: e, id: a.ID, a: a, j: j}
	if !changed {
		return p, nil
	}
	err := g.audit(ctx, Record{Request: a, Actor: a.Actor, Verdict: policy.Ask, Rule: j.Rule, Approval: told.ID})
	if err == nil {
		err = g.save(e, a.ID)
	}
	if err != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		failed := asError(err)
		if isNew && g.queue.open[e.n] == e && !e.isClaimed() {
			g.queue.close(e, failed)
		} else {
			g.queue.release(a.ID)
			g.queue.drop(a.ID)
		}
		return nil, failed
	}
	if isNew {
		g.c.Bus.PublishApproval("approval", &told)
		if g.c.NotifyUsers != nil {
			g.c.NotifyUsers(&told)
		}
	}
	return p, nil
}

// ID returns the approval's id.
func (p *Pending) ID() string { return idOf(p.e.n) }

// Approval returns the current state of the approval.
func (p *Pending) Approval() api.Approval {
	p.g.mu.Lock()
	defer p.g.mu.Unlock()
	return p.e.view
}

// Wait waits for the answer. If ctx ends before, the request is withdrawn, unless the daemon is stopping.
func (p *Pending) Wait(ctx context.Context) (Answer, error) { return p.wait(ctx, p.withdraw) }

// WaitWithGrace waits like Wait, for callers that may retry, such as a remote client. If ctx ends, it releases the request instead
// of withdrawing it: the approval stays open for the grace.
func (p *Pending) WaitWithGrace(ctx context.Context) (Answer, error) { return p.wait(ctx, p.Release) }

func (p *Pending) wait(ctx context.Context, leave func()) (Answer, error) {
	answer := Answer{Verdict: policy.Ask, Judgement: p.j, Approval: idOf(p.e.n)}
	select {
	case <-p.e.done:
	case <-ctx.Done():
		select {
		case <-p.e.done: // it was answered in time
		default:
			leave()
			return answer, ctx.Err()
		}
	}
	p.g.mu.Lock()
	v, err := p.e.view, p.e.err
	p.g.mu.Unlock()
	if err != nil {
		return answer, err
	}
	if err := answer.apply(&v); err != nil {
		p.g.recordRefusal(&p.a, err)
		return answer, errors.Join(err, p.g.audit(context.WithoutCancel(ctx), Record{Request: p.a, Actor: p.a.Actor, Verdict: policy.Deny, Rule: p.j.Rule, Approval: v.ID}))
	}
	ctx = context.WithoutCancel(ctx)
	if file := findSwapped(p.a.Files); file != "" {
		answer.Verdict = policy.Deny
		return answer, p.g.refuseSwapped(ctx, &p.a, file)
	}
	if err := p.checkUnchanged(ctx); err != nil && p.a.Drafted == nil {
		answer.Verdict = policy.Deny
		return answer, errors.Join(err, p.g.audit(ctx, Record{Request: p.a, Actor: p.a.Actor, Verdict: policy.Deny, Rule: ruleChanged, Approval: v.ID}))
	}
	if p.a.Drafted == nil {
		p.g.recordAllowed(ctx, &p.a)
	}
	if err = p.g.recordAdmitted(ctx, &p.a, &answer); err != nil {
		p.g.NotSubmitted(p.a.Session, p.a.ID)
	}
	return answer, err
}

// Release releases the request without ending it: the caller may repeat it with the same id within the grace.
func (p *Pending) Release() {
	p.g.mu.Lock()
	left := p.g.queue.release(p.id)
	delete(p.g.unrepeatedRequests, p.id)
	p.g.mu.Unlock()
	if left == 0 {
		time.AfterFunc(grace, func() { p.g.drop(p.id) })
	}
}

// withdraw withdraws a request whose caller no longer waits.
func (p *Pending) withdraw() {
	p.g.mu.Lock()
	leaving := p.g.stopping
	left := p.g.queue.release(p.id)
	p.g.mu.Unlock()
	if left == 0 && !leaving {
		p.g.drop(p.id)
	}
}

// Withdraw withdraws a request of the previous daemon that will not be repeated.
func (g *Gateway) Withdraw(asking string) { g.drop(asking) }

// RevokeToken ends the approvals that a revoked token requested and rejects their callers.
func (g *Gateway) RevokeToken(token string) {
	var of []*entry
	g.mu.Lock()
	for _, e := range g.queue.pending() {
		if e.request.Actor.Token == token {
			_, _ = g.queue.claim(e.n, "its token was revoked") // cannot fail: no other caller claims it
			of = append(of, e)
		}
	}
	g.mu.Unlock()
	over := api.Errorf(api.CodeDenied, "token %q of the request was revoked", oneLine(token))
	for _, e := range of {
		g.end(e, over, func(*api.Approval) {})
	}
}

// drop withdraws a request without holders. The approval ends if it was the last.
func (g *Gateway) drop(id string) {
	g.mu.Lock()
	if g.stopping {
		g.mu.Unlock()
		return
	}
	e, less := g.queue.drop(id)
	if e == nil {
		e = less
	}
	if e == nil {
		g.mu.Unlock()
		return
	}
	if less == nil {
		now := time.Now()
		e.view.State, e.view.Ended = store.ApprovalWithdrawn, &now
	}
	told := e.view
	g.mu.Unlock()
	if err := g.save(e, ""); err != nil {
		g.c.Log.Error("store a closed approval", "approval", told.ID, "err", err)
	}
	if less == nil {
		g.c.Bus.PublishApproval("approval-gone", &told)
	}
}

// save stores the current state of an approval. The saving lock orders the writes, so none overwrites a later one. It
// does not stop if the caller disconnects.
func (g *Gateway) save(e *entry, asking string) error {
	e.saving.Lock()
	defer e.saving.Unlock()
	g.mu.Lock()
	row, err := e.row()
	g.mu.Unlock()
	if err == nil {
		err = g.put(row, asking)
	}
	return err
}

func (g *Gateway) put(row store.Approval, asking string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := g.c.Store.PutApproval(ctx, row, asking); err != nil {
		return storageError(err)
	}
	return nil
}

// dropUnrepeated withdraws requests of the previous daemon that no caller has repeated. Repeated ones have their own grace.
func (g *Gateway) dropUnrepeated() {
	g.mu.Lock()
	ids := slices.DeleteFunc(g.queue.unheld(), func(id string) bool { return !g.unrepeatedRequests[id] })
	g.unrepeatedRequests = nil
	g.mu.Unlock()
	for _, id := range ids {
		g.drop(id)
	}
}

// digestOf returns a digest that is equal for identical requests: same actor, action and place.
func digestOf(a *Request) string {
	what := []any{a.Kind, a.Session, a.Actor.UID, a.Actor.Agent, a.Actor.Policy, a.Line, a.Path, a.File, a.Argv,
		a.Settings, a.Cwd, a.Policy, a.Kept, a.Opaque}
	if len(a.Readers) > 0 { // which those before did not have
		what = append(what, a.Readers)
	}
	if len(a.Files) > 0 {
		what = append(what, "files", a.Files)
	}
	if a.Drafted != nil {
		what = append(what, "draft", a.Drafted.Session)
	}
	if a.Actor.Token != "" { // with which it goes
		what = append(what, "token", a.Actor.Token)
	}
	b, err := json.Marshal(what)
	if err != nil {
		return a.ID // of plain values
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// newView returns an approval in its API form.
func newView(n int64, a *Request, j *policy.Judgement, scope []scoped) api.Approval {
	v := api.Approval{
		ID: idOf(n), State: store.ApprovalPending, Kind: string(a.Kind), Actor: a.Actor, Session: a.Session, Name: a.Name,
		Line: a.Line, Path: a.Path, Argv: a.Argv, Cwd: a.Cwd, Depth: a.Depth, Parent: a.Parent, Policy: firstNonEmpty(a.Policy, a.Kept, a.Actor.Policy),
		Judgement: view(*j), Risk: risk(j), Group: groupOf(j), Count: 1, Asked: time.Now(), Draft: a.Drafted,
	}
	switch { // settings are shown as one would write them
	case len(a.Settings) == 0:
	case a.Line != "":
		v.Line = "export " + quoteWords(a.Settings) + "; " + a.Line
	default:
		v.Argv = slices.Concat([]string{"env"}, a.Settings, a.Argv)
	}
	if a.Session != "" {
		for _, s := range scope {
			if text := firstNonEmpty(strings.Join(s.Prefix, " "), s.Exact); !slices.Contains(v.Prefixes, text) {
				v.Prefixes = append(v.Prefixes, text)
			}
		}
	}
	return v
}

func idOf(n int64) string { return "A" + strconv.FormatInt(n, 10) }

// numberOf reads an approval's id: A7, a7 and 7.
func numberOf(id string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimLeft(id, "Aa"), 10, 64)
	if err != nil || n <= 0 || len(id) > 20 {
		return 0, api.Errorf(api.CodeNotFound, "no approval %q", oneLine(id)).WithHint("`longterm approvals` lists them; they are named A1, A2 …")
	}
	return n, nil
}

// storedApproval is the JSON part of a stored approval, besides its columns.
type storedApproval struct {
	View    api.Approval `json:"view"`
	Request Request      `json:"ask"`
	Digest  string       `json:"digest"`
	Cut     bool         `json:"cut,omitempty"` // the request is truncated
	Scope   []scoped     `json:"scope,omitempty"`
}

func (e *entry) row() (store.Approval, error) {
	b, err := json.Marshal(storedApproval{e.view, e.request, e.digest, e.cut, e.scope})
	if err != nil {
		return store.Approval{}, fmt.Errorf("approval %s: %w", e.view.ID, err)
	}
	r := store.Approval{N: e.n, State: e.view.State, Kind: e.view.Kind, Session: e.view.Session, Body: b, Requested: e.view.Asked}
	if e.view.Ended != nil {
		r.Ended = *e.view.Ended
	}
	return r, nil
}

func entryOf(r *store.Approval) (*entry, error) {
	var b storedApproval
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return nil, fmt.Errorf("the record of approval %d cannot be read: %w", r.N, err)
	}
	return &entry{n: r.N, digest: b.Digest, request: b.Request, view: b.View, cut: b.Cut, scope: b.Scope}, nil
}
