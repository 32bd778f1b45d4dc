package gateway

import (
	"context"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/store"
)

// Rules are the rules in effect; *rulebook.Book has them.
type Rules interface {
	Known(name string) error
	For(rulebook.Subject) (*policy.Engine, *rulebook.Sources)
}

// Author adds a rule that a user decided on to the file of rules. An error gives the reason why it was not written.
type Author interface {
	Append(r policy.Rule, why string) error
}

// Store keeps approvals; *store.Store does.
type Store interface {
	PutApproval(ctx context.Context, a store.Approval, asking string) error
	Approval(ctx context.Context, n int64) (store.Approval, error)
	ApprovalOf(ctx context.Context, asking string) (store.Approval, error)
	Approvals(context.Context, store.ApprovalQuery) ([]store.Approval, error)
	PendingAskings(context.Context) ([]store.Asking, error)
	LastApproval(context.Context) (int64, error)
	PruneApprovals(ctx context.Context, keep int) error
	AddGrant(context.Context, store.Grant) (int64, error)
	Grants(context.Context) ([]store.Grant, error)
	Commands(context.Context, store.CommandQuery) ([]store.Command, error)
	DeleteGrant(ctx context.Context, n int64) error
}

// Record is what the audit trail is told.
type Record struct {
	Ask      Ask
	Actor    actor.Actor // who did it: who asks; of an answer, who answers
	Answer   bool        // a person answered an approval; else something was judged
	Verdict  policy.Verdict
	Rule     string
	Approval string
	Scope    string // of an answer: once, session, always, reject
	Note     string
}

// Audit keeps what was decided, before it is done. An error stops it.
type Audit interface {
	Decided(context.Context, Record) error
}

// Bus tells of approvals: "approval", "approval-answered", "approval-gone".
type Bus interface {
	PublishApproval(kind string, a *api.Approval)
}

// Judge is what a Gateway is to those who only look up.
type Judge interface {
	Judge(Ask) policy.Judgement
}

// Admitter is what a Gateway is to those who are about to do something.
type Admitter interface {
	Admit(context.Context, Ask) (Answer, error)
}
