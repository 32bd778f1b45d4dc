package authorize

import (
	"context"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/store"
)

// Rules looks up the rules in effect; *rulebook.Book implements it.
type Rules interface {
	CheckPolicyName(name string) error
	For(rulebook.Subject) (*policy.Engine, *rulebook.Sources)
}

// Author adds a user's rule to the rule file. An error gives the reason why it was not written.
type Author interface {
	Append(r policy.Rule, why string) error
}

// Store keeps approvals; *store.Store does.
type Store interface {
	PutApproval(ctx context.Context, a store.Approval, asking string) error
	Approval(ctx context.Context, n int64) (store.Approval, error)
	ApprovalOf(ctx context.Context, asking string) (store.Approval, error)
	Approvals(context.Context, store.ApprovalQuery) ([]store.Approval, error)
	PendingRequests(context.Context) ([]store.ApprovalRequest, error)
	LastApproval(context.Context) (int64, error)
	PruneApprovals(ctx context.Context, keep int) error
	AddGrant(context.Context, store.Grant) (int64, error)
	Grants(context.Context) ([]store.Grant, error)
	Commands(context.Context, store.CommandQuery) ([]store.Command, error)
	DeleteGrant(ctx context.Context, n int64) error
}

// Record is one entry for the audit trail.
type Record struct {
	Request  Request
	Actor    identity.Actor // the requesting actor; for answers, the answering one
	Answer   bool           // a user answered an approval; otherwise a judgement
	Verdict  policy.Verdict
	Rule     string
	Approval string
	Scope    string // of an answer: once, session, always, reject
	Note     string
}

// Audit records decisions before they take effect. An error stops them.
type Audit interface {
	RecordDecision(context.Context, Record) error
}

// Bus publishes approval events: "approval", "approval-answered", "approval-gone".
type Bus interface {
	PublishApproval(kind string, a *api.Approval)
}

// Judge evaluates requests without acting on them.
type Judge interface {
	Judge(Request) policy.Judgement
}

// Admitter decides requests and waits for their approval.
type Admitter interface {
	Admit(context.Context, Request) (Answer, error)
}
