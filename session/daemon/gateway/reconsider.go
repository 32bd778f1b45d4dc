package gateway

import (
	"context"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/store"
)

// What waits for a person was asked about by the rules of that moment. When these change it is judged anew: what they deny
// by now is refused, and what they allow by now goes ahead, without an answer.

// Reconsider judges what is pending anew where the rules that it was judged by are others now.
func (g *Gateway) Reconsider(ctx context.Context) {
	g.mu.Lock()
	list := g.queue.pending()
	g.mu.Unlock()
	for _, e := range list {
		if ctx.Err() != nil {
			return
		}
		j, changed := g.anew(ctx, e)
		if !changed {
			continue
		}
		switch j.Verdict {
		case policy.Deny:
			g.mu.Lock()
			_, err := g.queue.claim(e.n, "the rules deny it by now")
			g.mu.Unlock()
			if err == nil { // else somebody answers it, and learns of it
				g.denySince(e, &j)
			}
		case policy.Allow:
			g.lift(ctx, e)
		}
	}
}

// anew is what the rules say of an entry now; changed says that they are others than it was judged by last.
func (g *Gateway) anew(ctx context.Context, e *entry) (j policy.Judgement, changed bool) {
	g.mu.Lock()
	a, by := e.ask, e.rules
	g.mu.Unlock()
	if e.cut || !g.otherRules(&a, by) { // cut: what was asked is not all here to be judged
		return j, false
	}
	a.inEffect = map[ruledBy]inEffect{}
	j = g.JudgeAgain(ctx, a)
	g.mu.Lock()
	e.rules = a.inEffect
	g.mu.Unlock()
	return j, true
}

// otherRules says that rules by which an asking was judged are others now. by nil: it was the daemon before that judged it.
func (g *Gateway) otherRules(a *Ask, by map[ruledBy]inEffect) bool {
	b := *a
	b.seen = new(rulebook.Seen)
	for of, was := range by {
		if of.cwd != a.Cwd || of.home != a.Home {
			continue // what it was taken for besides
		}
		if engine, _ := g.c.Rules.For(b.subject(of.policy)); engine != was.engine {
			return true
		}
	}
	return by == nil
}

// denySince ends an entry, which is claimed, because the rules deny it by now: who waits for it is refused. It returns why.
func (g *Gateway) denySince(e *entry, j *policy.Judgement) *api.Error {
	over := denied(*j)
	over.Approval = idOf(e.n)
	over.Message += ", since it was asked about (approval " + over.Approval + ")"
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := g.audit(ctx, Record{Ask: e.ask, Actor: e.ask.Actor, Verdict: policy.Deny, Rule: j.Rule, Approval: over.Approval}); err != nil {
		g.c.Log.Error("record that the rules deny what was asked about", "approval", over.Approval, "err", err)
	}
	g.end(e, over, func(v *api.Approval) { v.Judgement = view(*j) })
	return over
}

// end ends an entry, which is claimed, without an answer: who waits for it gets the error. change is what its record says
// besides.
func (g *Gateway) end(e *entry, over error, change func(*api.Approval)) {
	g.mu.Lock()
	v, now := e.view, time.Now()
	g.mu.Unlock()
	v.State, v.Ended = store.ApprovalGone, &now
	change(&v)
	if _, err := g.saveOver(e, &v, over, true); err != nil {
		g.c.Log.Error("record that an approval is gone", "approval", v.ID, "err", err)
		g.mu.Lock()
		e.view = v
		g.queue.close(e, over)
		g.mu.Unlock()
	}
	g.c.Bus.PublishApproval("approval-gone", &v)
}

// liftedBy is what the record of a lifted approval says instead of a person's feedback.
const liftedBy = "the rules were changed, and allow it"

// lift answers what the rules allow by now. No person has seen it: nothing besides is allowed by that.
func (g *Gateway) lift(ctx context.Context, e *entry) {
	g.mu.Lock()
	_, err := g.queue.claim(e.n, liftedBy)
	v := e.view
	g.mu.Unlock()
	if err != nil {
		return // somebody answers it
	}
	now := time.Now()
	v.State, v.Ended, v.Answer, v.Feedback, v.By = store.ApprovalAnswered, &now, answerAlways, liftedBy, nil
	if err = g.audit(ctx, Record{Ask: e.ask, Actor: e.ask.Actor, Verdict: policy.Allow, Approval: v.ID, Note: liftedBy}); err == nil {
		err = g.finish(e, v)
	}
	if err != nil {
		g.c.Log.Error("let go ahead what the rules allow by now", "approval", v.ID, "err", err)
		g.mu.Lock()
		g.queue.unclaim(e)
		e.rules = nil // it is tried again
		g.mu.Unlock()
	}
}

// lifted says that an approval was answered by no person: the rules allow it.
func lifted(v *api.Approval) bool { return v.State == store.ApprovalAnswered && v.By == nil }
