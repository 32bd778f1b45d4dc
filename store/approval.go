package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// States of an approval.
const (
	ApprovalPending   = "pending"
	ApprovalAnswered  = "answered"
	ApprovalWithdrawn = "gone" // its requester no longer waits
)

// Approval is an approval request. Its row is written before a user sees it, and outlives the requester.
type Approval struct {
	N         int64
	State     string
	Kind      string
	Session   string    // ID, or "" before the session starts
	Body      []byte    // JSON, the caller's
	Requested time.Time // when the request was made
	Ended     time.Time // zero: pending
}

var approvalColumns = columns[Approval]{
	{"n", func(a *Approval) any { return a.N }, func(a *Approval) any { return &a.N }},
	{"state", func(a *Approval) any { return a.State }, func(a *Approval) any { return &a.State }},
	{"kind", func(a *Approval) any { return a.Kind }, func(a *Approval) any { return &a.Kind }},
	{"session", func(a *Approval) any { return a.Session }, func(a *Approval) any { return &a.Session }},
	{"body", func(a *Approval) any { return string(a.Body) }, func(a *Approval) any { return &a.Body }},
	{"asked_ns", func(a *Approval) any { return nanos(a.Requested) }, func(a *Approval) any { return nanosInto{&a.Requested} }},
	{"ended_ns", func(a *Approval) any { return nanos(a.Ended) }, func(a *Approval) any { return nanosInto{&a.Ended} }},
}

// PutApproval records or replaces an approval. If requestID is not "", it also records that this request ID waits for the
// approval, in the same transaction.
func (s *Store) PutApproval(ctx context.Context, a Approval, requestID string) error {
	const op = "record an approval"
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(op, err)
	}
	defer tx.Rollback() // without effect after Commit
	text := "INSERT OR REPLACE INTO approvals (" + approvalColumns.names(", ") + ") VALUES " + approvalColumns.placeholders()
	if _, err := tx.ExecContext(ctx, text, approvalColumns.values(&a)...); err != nil {
		return s.explain(op, err)
	}
	if requestID != "" {
		if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO askings (id, approval) VALUES (?, ?)", requestID, a.N); err != nil {
			return s.explain(op, err)
		}
	}
	return s.notifyChange(s.explain(op, tx.Commit()))
}

// Approval returns the approval with that number, or ErrNoApproval.
func (s *Store) Approval(ctx context.Context, n int64) (Approval, error) {
	return s.oneApproval(ctx, "SELECT "+approvalColumns.names(", ")+" FROM approvals WHERE n = ?", n)
}

// ApprovalOf returns the approval of a request ID, or ErrNoApproval.
func (s *Store) ApprovalOf(ctx context.Context, requestID string) (Approval, error) {
	return s.oneApproval(ctx, "SELECT "+approvalColumns.names(", ")+
		" FROM approvals WHERE n = (SELECT approval FROM askings WHERE id = ?)", requestID)
}

// oneApproval returns the approval that a statement selects, or ErrNoApproval.
func (s *Store) oneApproval(ctx context.Context, text string, arg any) (Approval, error) {
	var a Approval
	err := s.db.QueryRowContext(ctx, text, arg).Scan(approvalColumns.dests(&a)...)
	if errors.Is(err, sql.ErrNoRows) {
		return Approval{}, ErrNoApproval
	}
	return a, s.explain("read an approval", err)
}

// ApprovalQuery selects approvals. The zero value selects all.
type ApprovalQuery struct {
	Pending bool
	Session string
	Limit   int // at most this many, the newest; 0: all
}

// Approvals returns the approvals that match a query, newest first.
func (s *Store) Approvals(ctx context.Context, q ApprovalQuery) ([]Approval, error) {
	const op = "read approvals"
	text, args := "SELECT "+approvalColumns.names(", ")+" FROM approvals WHERE 1", []any(nil)
	if q.Pending {
		text += " AND state = '" + ApprovalPending + "'"
	}
	if q.Session != "" {
		text, args = text+" AND session = ?", append(args, q.Session)
	}
	text += " ORDER BY n DESC"
	if q.Limit > 0 {
		text, args = text+" LIMIT ?", append(args, q.Limit)
	}
	rows, err := s.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, s.explain(op, err)
	}
	all, err := approvalColumns.rows(rows)
	return all, s.explain(op, err)
}

// ApprovalRequest maps the ID of a caller's request to its approval, so that a repeated request finds it.
type ApprovalRequest struct {
	ID       string
	Approval int64
}

var approvalRequestColumns = columns[ApprovalRequest]{
	{"id", func(a *ApprovalRequest) any { return a.ID }, func(a *ApprovalRequest) any { return &a.ID }},
	{"approval", func(a *ApprovalRequest) any { return a.Approval }, func(a *ApprovalRequest) any { return &a.Approval }},
}

// PendingRequests returns the request IDs of pending approvals.
func (s *Store) PendingRequests(ctx context.Context) ([]ApprovalRequest, error) {
	const op = "read askings"
	rows, err := s.db.QueryContext(ctx, "SELECT "+approvalRequestColumns.names(", ")+` FROM askings
		WHERE approval IN (SELECT n FROM approvals WHERE state = 'pending') ORDER BY approval, id`)
	if err != nil {
		return nil, s.explain(op, err)
	}
	all, err := approvalRequestColumns.rows(rows)
	return all, s.explain(op, err)
}

// LastApproval returns the largest number in use, or 0.
func (s *Store) LastApproval(ctx context.Context) (int64, error) {
	var n sql.NullInt64
	err := s.db.QueryRowContext(ctx, "SELECT max(n) FROM approvals").Scan(&n)
	return n.Int64, s.explain("read approvals", err)
}

// Grant is a permission that a user gave to a session for later commands.
type Grant struct {
	N        int64
	Session  string
	Kind     string
	Rule     string   // rule that required the approval
	Prefix   []string // first words of the allowed commands
	Exact    string   // the complete allowed request; "": Prefix applies
	Dir      string   // directory in which the grant holds, for a prefix also below it; "": everywhere
	Commands string   // digest of the commands that the user saw with Exact
	Approval int64
	Created  time.Time
}

// grantColumns excludes the number, which the database assigns.
var grantColumns = columns[Grant]{
	{"session", func(g *Grant) any { return g.Session }, func(g *Grant) any { return &g.Session }},
	{"kind", func(g *Grant) any { return g.Kind }, func(g *Grant) any { return &g.Kind }},
	{"rule", func(g *Grant) any { return g.Rule }, func(g *Grant) any { return &g.Rule }},
	{"prefix", func(g *Grant) any { return jsonOf(g.Prefix, "[]") }, func(g *Grant) any { return jsonInto{&g.Prefix} }},
	{"exact", func(g *Grant) any { return g.Exact }, func(g *Grant) any { return &g.Exact }},
	{"dir", func(g *Grant) any { return g.Dir }, func(g *Grant) any { return &g.Dir }},
	{"commands", func(g *Grant) any { return g.Commands }, func(g *Grant) any { return &g.Commands }},
	{"approval", func(g *Grant) any { return g.Approval }, func(g *Grant) any { return &g.Approval }},
	{"created_ns", func(g *Grant) any { return nanos(g.Created) }, func(g *Grant) any { return nanosInto{&g.Created} }},
}

// AddGrant records a grant and returns its number.
func (s *Store) AddGrant(ctx context.Context, g Grant) (int64, error) {
	text := "INSERT INTO grants (" + grantColumns.names(", ") + ") VALUES " + grantColumns.placeholders()
	res, err := s.db.ExecContext(ctx, text, grantColumns.values(&g)...)
	if err != nil {
		return 0, s.explain("record a grant", err)
	}
	n, err := res.LastInsertId()
	return n, s.explain("record a grant", err)
}

// Grants returns all grants, oldest first.
func (s *Store) Grants(ctx context.Context) ([]Grant, error) {
	const op = "read grants"
	all := append(columns[Grant]{{"n", nil, func(g *Grant) any { return &g.N }}}, grantColumns...)
	rows, err := s.db.QueryContext(ctx, "SELECT "+all.names(", ")+" FROM grants ORDER BY n")
	if err != nil {
		return nil, s.explain(op, err)
	}
	list, err := all.rows(rows)
	return list, s.explain(op, err)
}

// DeleteGrant removes a grant, or returns ErrNoGrant.
func (s *Store) DeleteGrant(ctx context.Context, n int64) error {
	res, err := s.db.ExecContext(ctx, "DELETE FROM grants WHERE n = ?", n)
	return s.requireRow("forget a grant", ErrNoGrant, res, err)
}

// PruneApprovals deletes all but the newest keep approvals that are not pending. The newest row always stays, so that
// no number is used twice.
func (s *Store) PruneApprovals(ctx context.Context, keep int) error {
	_, err := s.db.ExecContext(ctx, `DELETE FROM approvals WHERE state <> 'pending' AND n NOT IN
		(SELECT n FROM approvals ORDER BY n DESC LIMIT max(1, ?))`, keep)
	if err == nil {
		_, err = s.db.ExecContext(ctx, "DELETE FROM askings WHERE approval NOT IN (SELECT n FROM approvals)")
	}
	return s.explain("forget old approvals", err)
}
