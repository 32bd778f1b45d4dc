//go:build unix

package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/longterm-dev/longterm/session/api"
)

// ApprovalQuery selects approvals.
type ApprovalQuery struct {
	All     bool   // include answered and withdrawn ones
	Session string // id, name or prefix; empty for all
	Limit   int    // the newest Limit; 0: 1000
}

// Approvals returns the approval requests, oldest first.
func (c *Client) Approvals(ctx context.Context, q ApprovalQuery) ([]api.Approval, error) {
	v := url.Values{}
	if q.All {
		v.Set("all", "true")
	}
	if q.Session != "" {
		v.Set("session", q.Session)
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return get[[]api.Approval](ctx, c, "/approvals", v)
}

// Approval returns an approval request.
func (c *Client) Approval(ctx context.Context, id string) (api.Approval, error) {
	return get[api.Approval](ctx, c, "/approvals/"+url.PathEscape(id), nil)
}

// AnswerApproval answers an approval request. If it is no longer pending, the error has code api.CodeAnswered.
func (c *Client) AnswerApproval(ctx context.Context, id string, a api.ApprovalAnswer) (api.Approval, error) {
	return send[api.Approval](ctx, c, "POST", "/approvals/"+url.PathEscape(id)+"/answer", nil, a)
}

// AnswerApprovals answers several approval requests: by id, a group, or all that are pending.
func (c *Client) AnswerApprovals(ctx context.Context, a api.ApprovalsAnswer) (api.ApprovalsAnswered, error) {
	return send[api.ApprovalsAnswered](ctx, c, "POST", "/approvals/answer", nil, a)
}

// Grants returns the permissions granted for sessions.
func (c *Client) Grants(ctx context.Context) ([]api.Grant, error) {
	return get[[]api.Grant](ctx, c, "/grants", nil)
}

// RevokeGrant revokes a granted permission.
func (c *Client) RevokeGrant(ctx context.Context, id string) error {
	_, err := send[struct{}](ctx, c, "DELETE", "/grants/"+url.PathEscape(id), nil, nil)
	return err
}
