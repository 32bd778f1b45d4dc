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
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/identity"
)

// maxEnded limits how many ended approvals are remembered for viewers that still show one.
const maxEnded = 1000

// approvals holds the pending approval requests, as events report them. The feed's goroutine owns it.
type approvals struct {
	pending []api.Approval        // pending requests, oldest first
	ended   []model.EndedApproval // ended requests, oldest first
}

// load replaces the pending requests after missed events. Requests that are no longer in the list count as ended.
func (p *approvals) load(list []api.Approval) {
	for i := range p.pending {
		old := &p.pending[i]
		if !slices.ContainsFunc(list, func(a api.Approval) bool { return a.ID == old.ID }) {
			p.addEnded(model.EndedApproval{ID: old.ID, How: "answered or expired"})
		}
	}
	p.pending = list
}

// onEvent handles the event of a new, answered or expired request.
func (p *approvals) onEvent(a *api.Approval) {
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
		p.addEnded(model.EndedApproval{ID: a.ID, How: ending(a)})
	}
}

// addEnded records the end of a request.
func (p *approvals) addEnded(e model.EndedApproval) {
	if p.ended = append(p.ended, e); len(p.ended) > maxEnded {
		p.ended = slices.Clone(p.ended[len(p.ended)-maxEnded:])
	}
}

// ending describes how an approval request ended.
func ending(a *api.Approval) string {
	if a.State == "gone" {
		return "expired"
	}
	how := map[string]string{
		"once": "allowed once", "session": "allowed for the session", "always": "allowed always", "reject": "rejected",
	}[a.Answer]
	if how = cmp.Or(how, "answered"); a.By != nil {
		how += " by " + describeActor(a.By)
	}
	if a.Feedback != "" {
		how += ": " + a.Feedback
	}
	return how
}

// describeActor describes an actor to the user at this terminal.
func describeActor(a *identity.Actor) string {
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

// pendingRequests returns the pending requests in the viewer's form.
func (p *approvals) pendingRequests() []model.Approval {
	list := make([]model.Approval, 0, len(p.pending))
	for i := range p.pending {
		list = append(list, viewApproval(&p.pending[i]))
	}
	return list
}

// isPendingIn reports whether a command in the session waits for approval.
func (p *approvals) isPendingIn(session string) bool {
	return slices.ContainsFunc(p.pending, func(a api.Approval) bool { return a.Session == session })
}

func viewApproval(a *api.Approval) model.Approval {
	v := model.Approval{
		ID: a.ID, Requester: describeActor(&a.Actor), Session: a.Session, Name: a.Name, What: a.Line, Cwd: a.Cwd,
		Started: shellJoin(a.Parent), Instead: a.Judgement.Instead, Risk: a.Risk, Group: cmp.Or(a.Group, a.ID),
		Covers: a.Prefixes, Rule: a.Rule, NoRule: a.NoRule, Count: a.Count, Asked: a.Asked, Effects: a.Judgement.Explain(), Why: a.Judgement.RuleWithReason(),
	}
	if v.What == "" {
		v.What = cmp.Or(shellJoin(a.Argv), a.Path)
	}
	if kind := map[string]string{"network": "connect to ", "reveal": "show the secret ", "write": "write "}[a.Kind]; kind != "" {
		v.What = kind + v.What
	}
	for _, c := range a.Judgement.Commands {
		v.Commands = append(v.Commands, model.Judged{Text: shellJoin(c.Argv), Verdict: c.Verdict})
	}
	return v
}

// shellJoin quotes arguments for a shell and joins them with spaces.
func shellJoin(argv []string) string {
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = a
		if q, err := syntax.Quote(a, syntax.LangBash); err == nil {
			quoted[i] = q
		}
	}
	return strings.Join(quoted, " ")
}

// Answer answers approval requests. Requests that were answered elsewhere in the meantime are not errors: events report
// them.
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

// pendingApprovals returns the pending requests. An older daemon has none.
func (v source) pendingApprovals(ctx context.Context) ([]api.Approval, error) {
	list, err := v.c.Approvals(ctx, client.ApprovalQuery{Limit: 10_000})
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeNotFound {
		return nil, nil
	}
	return list, err
}
