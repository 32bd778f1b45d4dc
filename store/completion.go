package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kinds of completions.
const (
	CompletionJob      = "job"
	CompletionCommand  = "command"
	CompletionSession  = "session"
	CompletionInput    = "input"    // a program waits for a user
	CompletionApproval = "approval" // approval by a user is required
)

// KeptCompletions is the number of stored completions, the newest ones.
const KeptCompletions = 20_000

// Completion is the end of a job, command or session, or a request for a user. Triggers of the database create
// completions when the records of jobs, commands, sessions and approvals change (migrations/0005_completions.sql),
// while a subscription exists.
type Completion struct {
	Seq      uint64 // increasing, never reused
	Kind     string
	Session  string // ID, or ""
	Name     string // session name at that time
	Ref      string // id of the job or approval, or number of the command
	State    string // how it ended, or the kind of input or approval
	ExitCode *int
	Signal   string
	Text     string // start of the line, command or question
	At       time.Time
}

var completionColumns = columns[Completion]{
	{"seq", func(c *Completion) any { return c.Seq }, func(c *Completion) any { return &c.Seq }},
	{"kind", func(c *Completion) any { return c.Kind }, func(c *Completion) any { return &c.Kind }},
	{"session", func(c *Completion) any { return c.Session }, func(c *Completion) any { return &c.Session }},
	{"name", func(c *Completion) any { return c.Name }, func(c *Completion) any { return &c.Name }},
	{"ref", func(c *Completion) any { return c.Ref }, func(c *Completion) any { return &c.Ref }},
	{"state", func(c *Completion) any { return c.State }, func(c *Completion) any { return &c.State }},
	{"exit_code", func(c *Completion) any { return c.ExitCode }, func(c *Completion) any { return &c.ExitCode }},
	{"signal", func(c *Completion) any { return c.Signal }, func(c *Completion) any { return &c.Signal }},
	{"text", func(c *Completion) any { return c.Text }, func(c *Completion) any { return &c.Text }},
	{"at_ns", func(c *Completion) any { return nanos(c.At) }, func(c *Completion) any { return nanosInto{&c.At} }},
}

// Subscription is a durable reader of completions. It also receives those published while it was not connected.
type Subscription struct {
	Name    string
	UID     string   // distinguishes this subscription from earlier ones of the same name
	Kinds   []string // kinds to receive; empty means all
	Session string   // ID; "": all
	Hook    string   // shell command to run for each, or ""
	Cursor  uint64   // seq of the newest completion that was acknowledged
	Failed  int      // number of failed hook runs
	Created time.Time
	Seen    time.Time // time of the last read or acknowledgement
}

var subscriptionColumns = columns[Subscription]{
	{"name", func(s *Subscription) any { return s.Name }, func(s *Subscription) any { return &s.Name }},
	{"uid", func(s *Subscription) any { return s.UID }, func(s *Subscription) any { return &s.UID }},
	{"kinds", func(s *Subscription) any { return jsonOf(s.Kinds, "[]") }, func(s *Subscription) any { return jsonInto{&s.Kinds} }},
	{"session", func(s *Subscription) any { return s.Session }, func(s *Subscription) any { return &s.Session }},
	{"hook", func(s *Subscription) any { return s.Hook }, func(s *Subscription) any { return &s.Hook }},
	{"cursor", func(s *Subscription) any { return s.Cursor }, func(s *Subscription) any { return &s.Cursor }},
	{"failed", func(s *Subscription) any { return s.Failed }, func(s *Subscription) any { return &s.Failed }},
	{"created_ns", func(s *Subscription) any { return nanos(s.Created) }, func(s *Subscription) any { return nanosInto{&s.Created} }},
	{"seen_ns", func(s *Subscription) any { return nanos(s.Seen) }, func(s *Subscription) any { return nanosInto{&s.Seen} }},
}

// Subscribe creates a subscription that starts now. It returns ErrSubscribed if the name exists.
func (s *Store) Subscribe(ctx context.Context, sub Subscription) (Subscription, error) {
	const op = "make a subscription"
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return sub, s.explain(op, err)
	}
	defer tx.Rollback() // without effect after Commit
	if sub.Cursor, err = newestSeq(ctx, tx); err != nil {
		return sub, s.explain(op, err)
	}
	text := "INSERT INTO subscriptions (" + subscriptionColumns.names(", ") + ") VALUES " + subscriptionColumns.placeholders() + " ON CONFLICT DO NOTHING"
	res, err := tx.ExecContext(ctx, text, subscriptionColumns.values(&sub)...)
	if err := s.requireRow(op, ErrSubscribed, res, err); err != nil {
		return sub, err
	}
	return sub, s.explain(op, tx.Commit())
}

// newestSeq returns the highest seq ever used by a completion.
func newestSeq(ctx context.Context, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (seq uint64, err error) {
	err = q.QueryRowContext(ctx, "SELECT seq FROM sqlite_sequence WHERE name = 'completions'").Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return seq, err
}

// NewestCompletion returns the highest seq ever used by a completion, or 0.
func (s *Store) NewestCompletion(ctx context.Context) (uint64, error) {
	seq, err := newestSeq(ctx, s.db)
	return seq, s.explain("read completions", err)
}

// Subscription returns the subscription of that name, or ErrNoSubscription.
func (s *Store) Subscription(ctx context.Context, name string) (Subscription, error) {
	var sub Subscription
	text := "SELECT " + subscriptionColumns.names(", ") + " FROM subscriptions WHERE name = ?"
	err := s.db.QueryRowContext(ctx, text, name).Scan(subscriptionColumns.dests(&sub)...)
	if errors.Is(err, sql.ErrNoRows) {
		return sub, fmt.Errorf("subscription %s: %w", name, ErrNoSubscription)
	}
	return sub, s.explain("read a subscription", err)
}

// Subscriptions returns all subscriptions, by name.
func (s *Store) Subscriptions(ctx context.Context) ([]Subscription, error) {
	const op = "read subscriptions"
	rows, err := s.db.QueryContext(ctx, "SELECT "+subscriptionColumns.names(", ")+" FROM subscriptions ORDER BY name")
	if err != nil {
		return nil, s.explain(op, err)
	}
	all, err := subscriptionColumns.rows(rows)
	return all, s.explain(op, err)
}

// Unsubscribe removes a subscription, or returns ErrNoSubscription. The last one removes all completions.
func (s *Store) Unsubscribe(ctx context.Context, name string) error {
	res, err := s.db.ExecContext(ctx, "DELETE FROM subscriptions WHERE name = ?", name)
	if err := s.requireRow("forget subscription "+name, ErrNoSubscription, res, err); err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, "DELETE FROM completions WHERE NOT EXISTS (SELECT 1 FROM subscriptions)")
	return s.explain("forget completions", err)
}

// ForgetSubscriptions deletes subscriptions without a hook that were neither read nor acknowledged since a time.
func (s *Store) ForgetSubscriptions(ctx context.Context, since time.Time) error {
	_, err := s.db.ExecContext(ctx, "DELETE FROM subscriptions WHERE hook = '' AND seen_ns < ?", nanos(since))
	return s.explain("forget old subscriptions", err)
}

// Acknowledge moves a subscription's cursor forward, at most to the newest completion. failed adds to its count of
// failed hook runs. It returns ErrNoSubscription if the subscription does not exist or was replaced by another of that
// name.
func (s *Store) Acknowledge(ctx context.Context, sub *Subscription, cursor uint64, failed int, now time.Time) error {
	text := `UPDATE subscriptions SET failed = failed + ?, seen_ns = ?,
		cursor = max(cursor, min(?, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'completions'), 0)))
		WHERE name = ? AND uid = ?`
	res, err := s.db.ExecContext(ctx, text, failed, nanos(now), cursor, sub.Name, sub.UID)
	return s.requireRow("acknowledge completions of "+sub.Name, ErrNoSubscription, res, err)
}

// Completions returns up to limit unacknowledged completions after a seq, oldest first. dropped counts the completions of any
// kind that were dropped after it, perhaps a few less: only KeptCompletions are stored. upTo is the last seq that the query
// covers.
func (s *Store) Completions(ctx context.Context, sub *Subscription, after uint64, limit int) (all []Completion, dropped, upTo uint64, err error) {
	const op = "read completions"
	if upTo, err = newestSeq(ctx, s.db); err != nil {
		return nil, 0, after, s.explain(op, err)
	}
	if upTo > KeptCompletions+after {
		dropped = upTo - KeptCompletions - after
	}
	text, args := "SELECT "+completionColumns.names(", ")+" FROM completions WHERE seq > ?", []any{after}
	if len(sub.Kinds) > 0 {
		text += " AND kind IN (?" + strings.Repeat(", ?", len(sub.Kinds)-1) + ")"
		for _, k := range sub.Kinds {
			args = append(args, k)
		}
	}
	if sub.Session != "" {
		text, args = text+" AND session = ?", append(args, sub.Session)
	}
	rows, err := s.db.QueryContext(ctx, text+" ORDER BY seq LIMIT ?", append(args, limit)...)
	if err != nil {
		return nil, 0, after, s.explain(op, err)
	}
	all, err = completionColumns.rows(rows)
	switch n := len(all); {
	case n > 0 && n == limit:
		upTo = all[n-1].Seq
	case n > 0:
		upTo = max(upTo, all[n-1].Seq)
	}
	return all, dropped, max(upTo, after), s.explain(op, err)
}

// HasCompletionOf reports whether a session has a completion of one of the kinds.
func (s *Store) HasCompletionOf(ctx context.Context, session string, kinds ...string) (bool, error) {
	for _, kind := range kinds {
		var n int
		err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM completions WHERE kind = ? AND session = ? LIMIT 1)", kind, session).Scan(&n)
		if err != nil || n > 0 {
			return n > 0, s.explain("look for a completion", err)
		}
	}
	return false, nil
}

// AddCompletion records a completion without another record: a program waits for a user. A duplicate is ignored.
func (s *Store) AddCompletion(ctx context.Context, c Completion) error {
	text := `INSERT OR IGNORE INTO completions (kind, session, name, ref, state, exit_code, signal, text, at_ns)
		SELECT ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM subscriptions)`
	_, err := s.db.ExecContext(ctx, text, completionColumns.values(&c)[1:]...)
	return s.notifyChange(s.explain("record a completion", err))
}
