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
	OfJob      = "job"
	OfCommand  = "command"
	OfSession  = "session"
	OfInput    = "input"    // a program asks a person
	OfApproval = "approval" // a person has to allow something
)

// KeptCompletions is how many completions are kept, the newest.
const KeptCompletions = 20_000

// Completion is something that ended, or that wants a person. The database makes them of the records of jobs,
// commands, sessions and approvals as those change (migrations/0005_completions.sql), while there is a subscription.
type Completion struct {
	Seq      uint64 // grows; never given twice
	Kind     string
	Session  string // its id; empty: none
	Name     string // of the session, then
	Ref      string // which: id of a job or an approval, number of a command
	State    string // how it ended; the kind of input, or of what is to be allowed
	ExitCode *int
	Signal   string
	Text     string // line, command or question; its beginning
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

// Subscription is somebody who is told of completions, also of those while it was away.
type Subscription struct {
	Name    string
	UID     string   // of this one, not of one of the same name before
	Kinds   []string // empty: all
	Session string   // id; empty: all
	Hook    string   // line of a shell that is run for each; empty: none
	Cursor  uint64   // seq of the newest completion that was acknowledged
	Failed  int      // runs of the hook that failed
	Created time.Time
	Seen    time.Time // when it was last read or acknowledged
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

// Subscribe makes a subscription that begins now: ErrSubscribed when there is one of this name.
func (s *Store) Subscribe(ctx context.Context, sub Subscription) (Subscription, error) {
	const op = "make a subscription"
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return sub, s.explain(op, err)
	}
	defer tx.Rollback() // without effect after Commit
	if sub.Cursor, err = newest(ctx, tx); err != nil {
		return sub, s.explain(op, err)
	}
	text := "INSERT INTO subscriptions (" + subscriptionColumns.names(", ") + ") VALUES " + subscriptionColumns.places() + " ON CONFLICT DO NOTHING"
	res, err := tx.ExecContext(ctx, text, subscriptionColumns.values(&sub)...)
	if err := s.one(op, ErrSubscribed, res, err); err != nil {
		return sub, err
	}
	return sub, s.explain(op, tx.Commit())
}

// newest is the seq of the newest completion there ever was.
func newest(ctx context.Context, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (seq uint64, err error) {
	err = q.QueryRowContext(ctx, "SELECT seq FROM sqlite_sequence WHERE name = 'completions'").Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return seq, err
}

// NewestCompletion is the seq of the newest completion there ever was; 0: there was none.
func (s *Store) NewestCompletion(ctx context.Context) (uint64, error) {
	seq, err := newest(ctx, s.db)
	return seq, s.explain("read completions", err)
}

// Subscription is the one of a name: ErrNoSubscription.
func (s *Store) Subscription(ctx context.Context, name string) (Subscription, error) {
	var sub Subscription
	text := "SELECT " + subscriptionColumns.names(", ") + " FROM subscriptions WHERE name = ?"
	err := s.db.QueryRowContext(ctx, text, name).Scan(subscriptionColumns.dests(&sub)...)
	if errors.Is(err, sql.ErrNoRows) {
		return sub, fmt.Errorf("subscription %s: %w", name, ErrNoSubscription)
	}
	return sub, s.explain("read a subscription", err)
}

// Subscriptions are all, by name.
func (s *Store) Subscriptions(ctx context.Context) ([]Subscription, error) {
	const op = "read subscriptions"
	rows, err := s.db.QueryContext(ctx, "SELECT "+subscriptionColumns.names(", ")+" FROM subscriptions ORDER BY name")
	if err != nil {
		return nil, s.explain(op, err)
	}
	all, err := subscriptionColumns.rows(rows)
	return all, s.explain(op, err)
}

// Unsubscribe forgets a subscription: ErrNoSubscription. With the last one go all completions.
func (s *Store) Unsubscribe(ctx context.Context, name string) error {
	res, err := s.db.ExecContext(ctx, "DELETE FROM subscriptions WHERE name = ?", name)
	if err := s.one("forget subscription "+name, ErrNoSubscription, res, err); err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, "DELETE FROM completions WHERE NOT EXISTS (SELECT 1 FROM subscriptions)")
	return s.explain("forget completions", err)
}

// ForgetSubscriptions forgets those without a hook that nobody has read or acknowledged since a time.
func (s *Store) ForgetSubscriptions(ctx context.Context, since time.Time) error {
	_, err := s.db.ExecContext(ctx, "DELETE FROM subscriptions WHERE hook = '' AND seen_ns < ?", nanos(since))
	return s.explain("forget old subscriptions", err)
}

// Acknowledge moves a subscription's cursor forward, never back and never past what there was. failed is how many
// runs of its hook failed more. ErrNoSubscription: there is none, or another one of the same name.
func (s *Store) Acknowledge(ctx context.Context, sub *Subscription, cursor uint64, failed int, now time.Time) error {
	text := `UPDATE subscriptions SET failed = failed + ?, seen_ns = ?,
		cursor = max(cursor, min(?, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'completions'), 0)))
		WHERE name = ? AND uid = ?`
	res, err := s.db.ExecContext(ctx, text, failed, nanos(now), cursor, sub.Name, sub.UID)
	return s.one("acknowledge completions of "+sub.Name, ErrNoSubscription, res, err)
}

// Completions are those that a subscription has not acknowledged, after a seq, oldest first, at most so many. lost is
// how many of any kind were dropped after it, or a few less: there are only KeptCompletions. upTo is where it has looked: what comes
// after it has not been seen.
func (s *Store) Completions(ctx context.Context, sub *Subscription, after uint64, limit int) (all []Completion, lost, upTo uint64, err error) {
	const op = "read completions"
	if upTo, err = newest(ctx, s.db); err != nil {
		return nil, 0, after, s.explain(op, err)
	}
	if upTo > KeptCompletions+after {
		lost = upTo - KeptCompletions - after
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
	return all, lost, max(upTo, after), s.explain(op, err)
}

// HasCompletionOf says if there is a completion of a session, of one of some kinds.
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

// AddCompletion records one that no other record tells of: that a program asks a person. The same one again is none.
func (s *Store) AddCompletion(ctx context.Context, c Completion) error {
	text := `INSERT OR IGNORE INTO completions (kind, session, name, ref, state, exit_code, signal, text, at_ns)
		SELECT ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM subscriptions)`
	_, err := s.db.ExecContext(ctx, text, completionColumns.values(&c)[1:]...)
	return s.wrote(s.explain("record a completion", err))
}
