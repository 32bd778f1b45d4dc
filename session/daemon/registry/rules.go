//go:build unix

package registry

import (
	"context"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/respond"
)

// AddRules attaches rules to the session.
func (e *Handle) AddRules(ctx context.Context, in *api.RespondRules) ([]api.RespondAttached, error) {
	rules, err := e.rulesOf(ctx, in)
	if err != nil {
		return nil, err
	}
	defer e.secrets.release()
	added, err := e.Session.AddRules(ctx, rules)
	return attachedViews(added), err
}

// Rules lists the session's rules in order of evaluation.
func (e *Handle) Rules(ctx context.Context) ([]api.RespondAttached, error) {
	rules, err := e.Session.Rules(ctx)
	return attachedViews(rules), err
}

// RemoveRules takes rules away; none named: all.
func (e *Handle) RemoveRules(ctx context.Context, names []string) ([]api.RespondAttached, error) {
	removed, err := e.Session.RemoveRules(ctx, names...)
	e.pruneSecrets(ctx)
	return attachedViews(removed), err
}

// RuleMatches returns the matches of the session's rules, oldest first.
func (e *Handle) RuleMatches() ([]api.RespondFiring, error) {
	list, err := e.Session.RuleMatches()
	return matchViews(list), err
}

// onRuleMatch publishes a rule's match, on the session's goroutine.
func (h *Registry) onRuleMatch(e *Handle, f session.RuleMatch) {
	view, answer := h.Describe(e, e.Session.Status()), matchView(&f)
	h.Bus.Send(api.Event{Kind: "respond", Session: &view, Answer: &answer})
	if f.Error != "" {
		h.log.Warn("rule failed", "session", e.rec.ID, "rule", f.ID, "name", f.Name, "err", f.Error)
	}
}

// ExecWithRules submits a line to the shell with rules that answer its prompts.
func (e *Handle) ExecWithRules(ctx context.Context, l session.Line, in *api.RespondRules) (*session.Run, error) {
	var err error
	if l.Rules, err = e.rulesOf(ctx, in); err != nil {
		return nil, err
	}
	r, err := e.Session.Exec(ctx, l)
	if err != nil && in != nil {
		e.secrets.release()
	}
	return r, err
}

// MatchesOfRun returns the matches of the rules given with a line.
func (e *Handle) MatchesOfRun(ctx context.Context, r *session.Run) []api.RespondFiring {
	if r == nil || len(r.Rules) == 0 {
		return nil
	}
	return matchViews(e.Session.MatchesOfRun(ctx, r))
}

// ReleaseLineSecrets drops the secrets of the rules given with a line that has ended.
func (e *Handle) ReleaseLineSecrets(ctx context.Context, r *session.Run) {
	if r != nil && len(r.Rules) > 0 {
		e.secrets.release()
		e.pruneSecrets(ctx)
	}
}

// rulesOf checks the rules of a request and stores the values of their secrets until no rule refers to them. nil has no
// rules.
func (e *Handle) rulesOf(ctx context.Context, in *api.RespondRules) ([]respond.Rule, error) {
	if in == nil {
		return nil, nil
	}
	var rules []respond.Rule
	for i := range in.Rules {
		r := ruleOf(&in.Rules[i])
		r.Redacted = identity.Of(ctx).IsAgent() // an agent could use rules to guess secrets
		if in.Ordered {
			r.AfterPrevious, r.Max = r.AfterPrevious || i > 0, max(r.Max, 1)
		}
		rules = append(rules, r)
	}
	if err := (respond.Set{Rules: rules}).Check(); err != nil {
		return nil, api.Errorf(api.CodeInvalid, "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if err := e.takeSecrets(rules, in.Secrets); err != nil {
		return nil, err
	}
	e.secrets.hold()
	return rules, nil
}

// ruleOf converts a rule from its API form.
func ruleOf(in *api.RespondRule) respond.Rule {
	r := respond.Rule{
		Name: in.Name, Text: in.Text, Regexp: in.Regexp, On: respond.Target(in.On), Max: in.Max,
		Timeout: time.Duration(in.TimeoutMS) * time.Millisecond, CoolDown: time.Duration(in.CooldownMS) * time.Millisecond,
		Force: in.Force, AfterPrevious: in.After,
	}
	if g := in.Region; g != nil {
		r.Region = &respond.Region{Top: g.Top, Bottom: g.Bottom, Left: g.Left, Right: g.Right}
	}
	for _, x := range in.Reply {
		r.Reply = append(r.Reply, respond.Reply{Kind: respond.ReplyKind(x.Kind), Value: x.Value, Wait: time.Duration(x.WaitMS) * time.Millisecond})
	}
	return r
}

// attachedViews returns rules in their API form.
func attachedViews(rules []session.Rule) []api.RespondAttached {
	list := make([]api.RespondAttached, 0, len(rules))
	for i := range rules {
		list = append(list, attachedView(&rules[i]))
	}
	return list
}

// attachedView returns a rule in its API form.
func attachedView(r *session.Rule) api.RespondAttached {
	v := api.RespondAttached{
		ID: r.ID, Uses: r.MatchCount, Added: r.Added, Call: r.IsOfLine(), Failed: r.Failed,
		RespondRule: api.RespondRule{
			Name: r.Name, Text: r.Text, Regexp: r.Regexp, On: string(r.On), Reply: replyViews(r.Reply), Max: r.Max,
			TimeoutMS: r.Timeout.Milliseconds(), CooldownMS: r.CoolDown.Milliseconds(), Force: r.Force, After: r.AfterPrevious,
		},
	}
	if g := r.Region; g != nil {
		v.Region = &api.RespondRegion{Top: g.Top, Bottom: g.Bottom, Left: g.Left, Right: g.Right}
	}
	return v
}

// replyViews returns replies in their API form.
func replyViews(list []respond.Reply) []api.RespondReply {
	var out []api.RespondReply
	for _, r := range list {
		out = append(out, api.RespondReply{Kind: string(r.Kind), Value: r.Value, WaitMS: r.Wait.Milliseconds()})
	}
	return out
}

// matchViews returns matches in their API form.
func matchViews(list []session.RuleMatch) []api.RespondFiring {
	out := make([]api.RespondFiring, 0, len(list))
	for i := range list {
		out = append(out, matchView(&list[i]))
	}
	return out
}

// matchView returns a match in its API form.
func matchView(f *session.RuleMatch) api.RespondFiring {
	return api.RespondFiring{
		Time: f.Time, Rule: f.ID, Name: f.Name, On: string(f.On), Offset: f.Offset,
		Match: f.Match, Use: f.MatchNumber, Reply: replyViews(f.Reply), Error: f.Error,
	}
}
