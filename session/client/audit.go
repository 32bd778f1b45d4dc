//go:build unix

package client

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/longterm-dev/longterm/session/audit"
)

// AuditQuery selects audit records. Empty fields select all.
type AuditQuery struct {
	Session string // id, name or prefix; also of a removed session
	Agent   string // label
	Verdict string
	Kind    string
	Since   string        // a time, or -2h
	After   uint64        // only records with greater numbers
	Limit   int           // the newest Limit; 0: 100
	Await   time.Duration // how long to wait for a first record
}

// Audit returns audit records, oldest first.
func (c *Client) Audit(ctx context.Context, q AuditQuery) ([]audit.Record, error) {
	v := url.Values{}
	for name, value := range map[string]string{
		"session": q.Session, "agent": q.Agent, "verdict": q.Verdict, "kind": q.Kind, "since": q.Since,
	} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if q.After > 0 {
		v.Set("after", strconv.FormatUint(q.After, 10))
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if q.Await > 0 {
		v.Set("await_ms", strconv.FormatInt(q.Await.Milliseconds(), 10))
	}
	return get[[]audit.Record](ctx, c, "/audit", v)
}

// VerifyAudit checks that no audit record was changed or is missing. Heads stored outside of the log are compared with
// it.
func (c *Client) VerifyAudit(ctx context.Context, heads ...audit.Head) (audit.Report, error) {
	v := url.Values{}
	for _, h := range heads {
		v.Add("head", h.String())
	}
	return get[audit.Report](ctx, c, "/audit/verify", v)
}
