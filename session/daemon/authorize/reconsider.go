package authorize

import (
	"context"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/store"
)

// A pending approval was requested under the rules of that time. When they change, it is judged again: newly denied
// requests are refused, newly allowed ones proceed without an answer.

// Reconsider judges pending approvals again whose rules have changed.
func (g *Gateway) Reconsider(ctx context.Context) {
	g.mu.Lock()
	list := g.queue.pending()
	g.mu.Unlock()
	for _, e := range list {
		if ctx.Err() != nil {
			return
		}
		j, changed := g.reevaluate(ctx, e)
		if !changed {
			continue
		}
		switch j.Verdict {
		case policy.Deny:
			g.mu.Lock()
			_, err := g.queue.claim(e.n, "the rules deny it by now")
			g.mu.Unlock()
			if err == nil { // otherwise already answered
				g.denyByNewRules(e, &j)
			}
		case policy.Allow:
			g.allowByNewRules(ctx, e)
		}
	}
}

// reevaluate judges an entry by the current rules; changed is false if they are the same as before.
func (g *Gateway) reevaluate(ctx context.Context, e *entry) (j policy.Judgement, changed bool) {
	g.mu.Lock()
	a, by := e.request, e.rules
	g.mu.Unlock()
	if e.cut || !g.rulesChanged(&a, by) { // e.cut: the request is truncated, so it cannot be evaluated
		return j, false
	}
	a.inEffect = map[ruleKey]inEffect{}
	j = g.Reevaluate(ctx, a)
	g.mu.Lock()
	e.rules = a.inEffect
	g.mu.Unlock()
	return j, true
}

// rulesChanged reports whether the rules that a request was judged by have changed. A nil by means that the previous
// daemon judged it.
func (g *Gateway) rulesChanged(a *Request, by map[ruleKey]inEffect) bool {
	b := *a
	b.seen = new(rulebook.LookupCache)
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

// denyByNewRules ends a claimed entry that the current rules deny, rejects its callers and returns the reason.
func (g *Gateway) denyByNewRules(e *entry, j *policy.Judgement) *api.Error {
	over := denialError(*j)
	over.Approval = idOf(e.n)
	over.Message += " (rules changed while approval " + over.Approval + " was pending)"
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := g.audit(ctx, Record{Request: e.request, Actor: e.request.Actor, Verdict: policy.Deny, Rule: j.Rule, Approval: over.Approval}); err != nil {
		g.c.Log.Error("audit a denial by changed rules", "approval", over.Approval, "err", err)
	}
	g.end(e, over, func(v *api.Approval) { v.Judgement = view(*j) })
	return over
}

// end ends a claimed entry without an answer; its callers receive reason. change edits the stored record.
func (g *Gateway) end(e *entry, reason error, change func(*api.Approval)) {
	g.mu.Lock()
	v, now := e.view, time.Now()
	g.mu.Unlock()
	v.State, v.Ended = store.ApprovalWithdrawn, &now
	change(&v)
	if _, err := g.closeApproval(e, &v, reason, true); err != nil {
		g.c.Log.Error("store a closed approval", "approval", v.ID, "err", err)
		g.mu.Lock()
		e.view = v
		g.queue.close(e, reason)
		g.mu.Unlock()
	}
	g.c.Bus.PublishApproval("approval-gone", &v)
}

// allowedByRulesFeedback is the feedback stored with an approval that changed rules have allowed.
const allowedByRulesFeedback = "the rules were changed, and allow it"

// allowByNewRules answers an approval that the current rules allow. No user saw it, so it allows nothing else.
func (g *Gateway) allowByNewRules(ctx context.Context, e *entry) {
	g.mu.Lock()
	_, err := g.queue.claim(e.n, allowedByRulesFeedback)
	v := e.view
	g.mu.Unlock()
	if err != nil {
		return // already answered
	}
	now := time.Now()
	v.State, v.Ended, v.Answer, v.Feedback, v.By = store.ApprovalAnswered, &now, answerAlways, allowedByRulesFeedback, nil
	if err = g.audit(ctx, Record{Request: e.request, Actor: e.request.Actor, Verdict: policy.Allow, Approval: v.ID, Note: allowedByRulesFeedback}); err == nil {
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

// isAllowedByRules reports whether the rules, not a user, allowed the request.
func isAllowedByRules(v *api.Approval) bool { return v.State == store.ApprovalAnswered && v.By == nil }
