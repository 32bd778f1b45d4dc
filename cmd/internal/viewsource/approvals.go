//go:build unix

package viewsource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// maxEnded bounds how many approvals that ended are remembered, for those who look at one of them.
const maxEnded = 1000

// approvals are what waits for a person, as events tell it. They belong to the feed's goroutine.
type approvals struct {
	pending []api.Approval // oldest first
	ended   []model.Ended  // oldest first
}

// load takes what waits now: events before were missed. What is not there any more has ended.
func (p *approvals) load(list []api.Approval) {
	for i := range p.pending {
		old := &p.pending[i]
		if !slices.ContainsFunc(list, func(a api.Approval) bool { return a.ID == old.ID }) {
			p.note(model.Ended{ID: old.ID, How: "it was answered, or nothing waits for it any more"})
		}
	}
	p.pending = list
}

// take is told that one was asked for, was answered, or is gone.
func (p *approvals) take(a *api.Approval) {
	at := slices.IndexFunc(p.pending, func(x api.Approval) bool { return x.ID == a.ID })
	switch {
	case a.State == "pending" && at < 0:
		p.pending = append(p.pending, *a)
	case a.State == "pending":
		p.pending[at] = *a
	case at >= 0:
		p.pending = slices.Delete(slices.Clone(p.pending), at, at+1)
		fallthrough
	default:
		p.note(model.Ended{ID: a.ID, How: ending(a)})
	}
}

func (p *approvals) note(e model.Ended) {
	if p.ended = append(p.ended, e); len(p.ended) > maxEnded {
		p.ended = slices.Clone(p.ended[len(p.ended)-maxEnded:])
	}
}

// ending is how an approval ended, in words.
func ending(a *api.Approval) string {
	if a.State == "gone" {
		return "nothing waits for it any more"
	}
	how := map[string]string{
		"once": "allowed once", "session": "allowed for the session", "always": "allowed always", "reject": "rejected",
	}[a.Answer]
	if how = cmp.Or(how, "answered"); a.By != nil {
		how += " by " + who(a.By)
	}
	if a.Feedback != "" {
		how += ": " + a.Feedback
	}
	return how
}

// who is an actor, for the person at this terminal.
func who(a *actor.Actor) string {
	user := fmt.Sprint("uid ", a.UID)
	if a.UID == os.Getuid() && a.Host == "" {
		user = "you"
	}
	var more []string
	if a.Token != "" {
		more = append(more, "token "+a.Token)
	}
	if a.Host != "" {
		more = append(more, "host "+a.Host)
	}
	if a.Agent != "" {
		if user != "you" {
			more = append([]string{user}, more...)
		}
		user = "agent " + a.Agent
	}
	if len(more) > 0 {
		user += " (" + strings.Join(more, ", ") + ")"
	}
	return user
}

// shown are the approvals that wait, as the viewer knows them.
func (p *approvals) shown() []model.Approval {
	list := make([]model.Approval, 0, len(p.pending))
	for i := range p.pending {
		list = append(list, viewApproval(&p.pending[i]))
	}
	return list
}

// waitsIn says that something in a session waits for an approval.
func (p *approvals) waitsIn(session string) bool {
	return slices.ContainsFunc(p.pending, func(a api.Approval) bool { return a.Session == session })
}

func viewApproval(a *api.Approval) model.Approval {
	v := model.Approval{
		ID: a.ID, Who: who(&a.Actor), Session: a.Session, Name: a.Name, What: a.Line, Cwd: a.Cwd,
		Started: words(a.Parent), Instead: a.Judgement.Instead, Risk: a.Risk, Group: cmp.Or(a.Group, a.ID),
		Covers: a.Prefixes, Rule: a.Rule, NoRule: a.NoRule, Count: a.Count, Asked: a.Asked, Why: a.Judgement.Why,
	}
	if v.What == "" {
		v.What = cmp.Or(words(a.Argv), a.Path)
	}
	if kind := map[string]string{"network": "connect to ", "reveal": "show the secret ", "write": "write "}[a.Kind]; kind != "" {
		v.What = kind + v.What
	}
	if rule := a.Judgement.Rule; rule != "" {
		v.Why = strings.TrimSpace(v.Why + " (rule " + rule + ")")
	}
	for _, c := range a.Judgement.Commands {
		v.Commands = append(v.Commands, model.Judged{Text: words(c.Argv), Verdict: c.Verdict})
	}
	return v
}

// words are arguments as a shell would read them.
func words(argv []string) string {
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = a
		if q, err := syntax.Quote(a, syntax.LangBash); err == nil {
			quoted[i] = q
		}
	}
	return strings.Join(quoted, " ")
}

// Answer answers approvals. Those that were answered elsewhere meanwhile are no error: events tell of them.
func (v source) Answer(ctx context.Context, ids []string, r overlays.Reply) error {
	done, err := v.c.AnswerApprovals(ctx, api.ApprovalsAnswer{
		IDs: ids, ApprovalAnswer: api.ApprovalAnswer{Answer: r.Answer, Feedback: r.Feedback, Rule: r.Rule},
	})
	for _, f := range done.Failed {
		if f.Error.Code != api.CodeAnswered && f.Error.Code != api.CodeNotFound {
			err = errors.Join(err, fmt.Errorf("%s: %w", f.ID, &f.Error))
		}
	}
	return err
}

// pendingApprovals asks for what waits. A daemon of before knows none.
func (v source) pendingApprovals(ctx context.Context) ([]api.Approval, error) {
	list, err := v.c.Approvals(ctx, client.ApprovalQuery{Limit: 10_000})
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeNotFound {
		return nil, nil
	}
	return list, err
}
