package gateway

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

// Pending is an asking that a person has to answer.
type Pending struct {
	g  *Gateway
	e  *entry
	id string // of the asking
	a  Ask
	j  policy.Judgement
}

// ask records an approval, tells of it, and holds it. closed is how many had been closed when it was looked
// whether this asking was answered; with more it is errAnswered.
func (g *Gateway) ask(ctx context.Context, a Ask, j policy.Judgement, by map[ruledBy]inEffect, closed int) (*Pending, error) {
	a.Files, a.Own = filesShown(&a, &j), sayChanged(&a, &j)
	digest := digestOf(&a)
	proposal, none := g.propose(&a, &j), ""
	if proposal == "" {
		none = g.noRule(&a, &j)
	}
	g.mu.Lock()
	if g.queue.closed != closed && g.queue.askings[a.ID] == nil {
		g.mu.Unlock()
		return nil, errAnswered
	}
	if before := g.queue.askings[a.ID]; before != nil && before.ask.File != "" && before.ask.File != a.File { // by the daemon before
		g.mu.Unlock()
		return nil, g.refuseSwapped(ctx, &a, a.Path)
	}
	if len(g.queue.open) >= maxPending && g.queue.askings[a.ID] == nil && g.queue.digests[digest] == nil {
		g.mu.Unlock()
		return nil, api.Errorf(api.CodeLimit, "%d approvals are pending, which is the limit", maxPending).
			WithHint("answer some: `longterm approvals answer --all reject`, or one group of them")
	}
	kept, whole := a.kept()
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
	a.Files, a.Own = e.ask.Files, e.ask.Own // as they were when it was asked first, perhaps by the daemon before
	g.mu.Unlock()
	p := &Pending{g: g, e: e, id: a.ID, a: a, j: j}
	if !changed {
		return p, nil
	}
	err := g.audit(ctx, Record{Ask: a, Actor: a.Actor, Verdict: policy.Ask, Rule: j.Rule, Approval: told.ID})
	if err == nil {
		err = g.save(e, a.ID)
	}
	if err != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		failed := asError(err)
		if isNew && g.queue.open[e.n] == e && !e.claimed() {
			g.queue.close(e, failed)
		} else {
			g.queue.letGo(a.ID)
			g.queue.drop(a.ID)
		}
		return nil, failed
	}
	if isNew {
		g.c.Bus.PublishApproval("approval", &told)
		if g.c.Tell != nil {
			g.c.Tell(&told)
		}
	}
	return p, nil
}

// ID is the approval's.
func (p *Pending) ID() string { return idOf(p.e.n) }

// Approval is what is asked for, as it stands.
func (p *Pending) Approval() api.Approval {
	p.g.mu.Lock()
	defer p.g.mu.Unlock()
	return p.e.view
}

// Wait waits for the answer. When ctx ends before, the asking is taken back, unless the daemon ends.
func (p *Pending) Wait(ctx context.Context) (Answer, error) { return p.wait(ctx, p.giveUp) }

// WaitForNow is Wait for who may come again: on another host, whose way here may be lost, or told that he is to ask once
// more. When ctx ends the asking stays open for the grace.
func (p *Pending) WaitForNow(ctx context.Context) (Answer, error) { return p.wait(ctx, p.Later) }

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
	if err := answer.take(&v); err != nil {
		p.g.refuse(&p.a, err)
		return answer, errors.Join(err, p.g.audit(context.WithoutCancel(ctx), Record{Ask: p.a, Actor: p.a.Actor, Verdict: policy.Deny, Rule: p.j.Rule, Approval: v.ID}))
	}
	ctx = context.WithoutCancel(ctx)
	if file := swapped(p.a.Files); file != "" {
		answer.Verdict = policy.Deny
		return answer, p.g.refuseSwapped(ctx, &p.a, file)
	}
	if err := p.still(ctx); err != nil {
		answer.Verdict = policy.Deny
		return answer, errors.Join(err, p.g.audit(ctx, Record{Ask: p.a, Actor: p.a.Actor, Verdict: policy.Deny, Rule: ruleChanged, Approval: v.ID}))
	}
	p.g.allowed(ctx, &p.a)
	if err = p.g.admitted(ctx, &p.a, &answer); err != nil {
		p.g.NotGiven(p.a.Session, p.a.ID)
	}
	return answer, err
}

// Later lets go of it without an end: whoever asked comes again with the same id, within the grace.
func (p *Pending) Later() {
	p.g.mu.Lock()
	left := p.g.queue.letGo(p.id)
	delete(p.g.former, p.id)
	p.g.mu.Unlock()
	if left == 0 {
		time.AfterFunc(grace, func() { p.g.drop(p.id) })
	}
}

// giveUp takes an asking back: who asked does not wait any more.
func (p *Pending) giveUp() {
	p.g.mu.Lock()
	leaving := p.g.leaving
	left := p.g.queue.letGo(p.id)
	p.g.mu.Unlock()
	if left == 0 && !leaving {
		p.g.drop(p.id)
	}
}

// Withdraw takes back an asking of the daemon before that will not be asked for again.
func (g *Gateway) Withdraw(asking string) { g.drop(asking) }

// Revoked takes back what was asked for by a token that counts no more: nobody answers it, and those who wait are refused.
func (g *Gateway) Revoked(token string) {
	var of []*entry
	g.mu.Lock()
	for _, e := range g.queue.pending() {
		if e.ask.Actor.Token == token {
			_, _ = g.queue.claim(e.n, "its token was revoked") // nobody else does
			of = append(of, e)
		}
	}
	g.mu.Unlock()
	over := api.Errorf(api.CodeDenied, "the token %q, by which this was asked for, was revoked", inLine(token))
	for _, e := range of {
		g.end(e, over, func(*api.Approval) {})
	}
}

// drop takes an asking back that nobody holds; the approval is gone when it was the last.
func (g *Gateway) drop(id string) {
	g.mu.Lock()
	if g.leaving {
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
		e.view.State, e.view.Ended = store.ApprovalGone, &now
	}
	told := e.view
	g.mu.Unlock()
	if err := g.save(e, ""); err != nil {
		g.c.Log.Error("record that an approval is gone", "approval", told.ID, "err", err)
	}
	if less == nil {
		g.c.Bus.PublishApproval("approval-gone", &told)
	}
}

// save writes the record of an approval as it is when its turn has come, so that no write undoes a later one.
// Whoever asked may go away; half a record helps nobody.
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

// dropFormer takes back what the daemon before left and nobody has asked for again. What was asked for since has a time of its own.
func (g *Gateway) dropFormer() {
	g.mu.Lock()
	ids := slices.DeleteFunc(g.queue.unheld(), func(id string) bool { return !g.former[id] })
	g.former = nil
	g.mu.Unlock()
	for _, id := range ids {
		g.drop(id)
	}
}

// digestOf tells identical askings: who asks for the same, in the same place.
func digestOf(a *Ask) string {
	what := []any{a.Kind, a.Session, a.Actor.UID, a.Actor.Agent, a.Actor.Policy, a.Line, a.Path, a.File, a.Argv,
		a.Settings, a.Cwd, a.Policy, a.Kept, a.Opaque}
	if len(a.Readers) > 0 { // which those before did not have
		what = append(what, a.Readers)
	}
	if len(a.Files) > 0 {
		what = append(what, "files", a.Files)
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

// newView is an approval as clients see it.
func newView(n int64, a *Ask, j *policy.Judgement, scope []scoped) api.Approval {
	v := api.Approval{
		ID: idOf(n), State: store.ApprovalPending, Kind: string(a.Kind), Actor: a.Actor, Session: a.Session, Name: a.Name,
		Line: a.Line, Path: a.Path, Argv: a.Argv, Cwd: a.Cwd, Depth: a.Depth, Parent: a.Parent, Policy: firstOf(a.Policy, a.Kept, a.Actor.Policy),
		Judgement: view(*j), Risk: risk(j), Group: groupOf(j), Count: 1, Asked: time.Now(),
	}
	switch { // settings are shown as one would write them
	case len(a.Settings) == 0:
	case a.Line != "":
		v.Line = "export " + quoted(a.Settings) + "; " + a.Line
	default:
		v.Argv = slices.Concat([]string{"env"}, a.Settings, a.Argv)
	}
	if a.Session != "" {
		for _, s := range scope {
			if text := firstOf(strings.Join(s.Prefix, " "), s.Exact); !slices.Contains(v.Prefixes, text) {
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
		return 0, api.Errorf(api.CodeNotFound, "no approval %q", inLine(id)).WithHint("`longterm approvals` lists them; they are named A1, A2 …")
	}
	return n, nil
}

// body is what is kept of an approval besides the columns of its row.
type body struct {
	View   api.Approval `json:"view"`
	Ask    Ask          `json:"ask"`
	Digest string       `json:"digest"`
	Cut    bool         `json:"cut,omitempty"`
	Scope  []scoped     `json:"scope,omitempty"`
}

func (e *entry) row() (store.Approval, error) {
	b, err := json.Marshal(body{e.view, e.ask, e.digest, e.cut, e.scope})
	if err != nil {
		return store.Approval{}, fmt.Errorf("approval %s: %w", e.view.ID, err)
	}
	r := store.Approval{N: e.n, State: e.view.State, Kind: e.view.Kind, Session: e.view.Session, Body: b, Asked: e.view.Asked}
	if e.view.Ended != nil {
		r.Ended = *e.view.Ended
	}
	return r, nil
}

func entryOf(r *store.Approval) (*entry, error) {
	var b body
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return nil, fmt.Errorf("the record of approval %d cannot be read: %w", r.N, err)
	}
	return &entry{n: r.N, digest: b.Digest, ask: b.Ask, view: b.View, cut: b.Cut, scope: b.Scope}, nil
}
