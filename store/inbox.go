package store

import (
	"context"
	"database/sql"
	"time"
)

// InboxEntry is what is recorded of an entry of the user's inbox: its number, its marks, and the text of a message or port.
type InboxEntry struct {
	N       int64
	Key     string // kind and record; unique
	Session string // id; the entry is removed with it; "": of none
	Text    string // of a message, or the number of a port; else ""
	Count   int    // bells; else 0
	At      time.Time
	Done    time.Time // zero: not done
	Until   time.Time // end of the snooze; zero: none
}

var inboxColumns = columns[InboxEntry]{
	{"n", func(e *InboxEntry) any { return e.N }, func(e *InboxEntry) any { return &e.N }},
	{"key", func(e *InboxEntry) any { return e.Key }, func(e *InboxEntry) any { return &e.Key }},
	{"session", func(e *InboxEntry) any { return sql.NullString{String: e.Session, Valid: e.Session != ""} }, func(e *InboxEntry) any { return nullInto{&e.Session} }},
	{"text", func(e *InboxEntry) any { return e.Text }, func(e *InboxEntry) any { return &e.Text }},
	{"count", func(e *InboxEntry) any { return e.Count }, func(e *InboxEntry) any { return &e.Count }},
	{"at_ns", func(e *InboxEntry) any { return nanos(e.At) }, func(e *InboxEntry) any { return nanosInto{&e.At} }},
	{"done_ns", func(e *InboxEntry) any { return nanos(e.Done) }, func(e *InboxEntry) any { return nanosInto{&e.Done} }},
	{"until_ns", func(e *InboxEntry) any { return nanos(e.Until) }, func(e *InboxEntry) any { return nanosInto{&e.Until} }},
}

type nullInto struct{ text *string }

// Scan implements sql.Scanner.
func (n nullInto) Scan(v any) error {
	*n.text, _ = v.(string)
	return nil
}

// insertInbox inserts an entry if its key is new and its session, if any, still exists. A conflict would use up a number.
var insertInbox = "INSERT INTO inbox (" + inboxColumns[1:].names(", ") + ") SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7" +
	" WHERE (?2 IS NULL OR EXISTS (SELECT 1 FROM sessions WHERE id = ?2)) AND NOT EXISTS (SELECT 1 FROM inbox WHERE key = ?1)"

func addInbox(ctx context.Context, tx *sql.Tx, e *InboxEntry) error {
	_, err := tx.ExecContext(ctx, insertInbox, inboxColumns.values(e)[1:]...)
	return err
}

// Inbox returns all entries, by number.
func (s *Store) Inbox(ctx context.Context) ([]InboxEntry, error) {
	const op = "read the inbox"
	rows, err := s.db.QueryContext(ctx, "SELECT "+inboxColumns.names(", ")+" FROM inbox ORDER BY n")
	if err != nil {
		return nil, s.explain(op, err)
	}
	all, err := inboxColumns.rows(rows)
	return all, s.explain(op, err)
}

// inTx calls f within a transaction.
func (s *Store) inTx(ctx context.Context, op string, f func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(op, err)
	}
	defer tx.Rollback() // without effect after Commit
	if err := f(tx); err != nil {
		return s.explain(op, err)
	}
	return s.explain(op, tx.Commit())
}

// NumberInbox gives numbers to entries that have none, in their order.
func (s *Store) NumberInbox(ctx context.Context, list []InboxEntry) error {
	return s.inTx(ctx, "number the inbox", func(tx *sql.Tx) error {
		for i := range list {
			if err := addInbox(ctx, tx, &list[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// MarkInbox records the marks of an entry, Done and Until.
func (s *Store) MarkInbox(ctx context.Context, e InboxEntry) error {
	return s.inTx(ctx, "mark an entry of the inbox", func(tx *sql.Tx) error {
		if err := addInbox(ctx, tx, &e); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE inbox SET done_ns = ?, until_ns = ? WHERE key = ?", nanos(e.Done), nanos(e.Until), e.Key)
		return err
	})
}

// AddMessages records messages of programs. A bell of a session with an earlier one that is not done is counted there.
// Only the newest keep messages and the newest keep ports of a session are kept.
func (s *Store) AddMessages(ctx context.Context, list []InboxEntry, keep int) error {
	return s.inTx(ctx, "record messages", func(tx *sql.Tx) error {
		for i := range list {
			e := &list[i]
			counted, err := countBell(ctx, tx, e)
			if err == nil && !counted {
				err = addInbox(ctx, tx, e)
			}
			if err == nil && !counted {
				_, err = tx.ExecContext(ctx, `DELETE FROM inbox WHERE session = ?1 AND (text <> '' OR count > 0) AND (key GLOB 'port *') = (?2 GLOB 'port *') AND n NOT IN
					(SELECT n FROM inbox WHERE session = ?1 AND (text <> '' OR count > 0) AND (key GLOB 'port *') = (?2 GLOB 'port *') ORDER BY n DESC LIMIT ?3)`, e.Session, e.Key, keep)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// countBell adds a bell to the session's earlier one that is neither done nor seen, and reports whether there was one.
func countBell(ctx context.Context, tx *sql.Tx, e *InboxEntry) (counted bool, err error) {
	if e.Count == 0 {
		return false, nil
	}
	res, err := tx.ExecContext(ctx, `UPDATE inbox SET count = count + ?, at_ns = ?
		WHERE session = ? AND count > 0 AND done_ns = 0 AND at_ns > coalesce((SELECT seen_ns FROM inbox_seen WHERE session = ?), 0)`,
		e.Count, nanos(e.At), e.Session, e.Session)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// ForgetInbox deletes entries of before a time.
func (s *Store) ForgetInbox(ctx context.Context, before time.Time) error {
	_, err := s.db.ExecContext(ctx, "DELETE FROM inbox WHERE at_ns < ? AND done_ns < ? AND until_ns < ?", nanos(before), nanos(before), nanos(before))
	return s.explain("forget old entries of the inbox", err)
}

// MarkSessionSeen records that a user's client showed a session.
func (s *Store) MarkSessionSeen(ctx context.Context, session string, at time.Time) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO inbox_seen (session, seen_ns) SELECT ?, ? WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ?)
		ON CONFLICT (session) DO UPDATE SET seen_ns = max(seen_ns, excluded.seen_ns)`, session, nanos(at), session)
	return s.explain("record that a session was seen", err)
}

// SeenSessions returns when users' clients last showed sessions, by id.
func (s *Store) SeenSessions(ctx context.Context) (map[string]time.Time, error) {
	const op = "read which sessions were seen"
	rows, err := s.db.QueryContext(ctx, "SELECT session, seen_ns FROM inbox_seen")
	if err != nil {
		return nil, s.explain(op, err)
	}
	list, err := columns[InboxEntry]{
		{"session", nil, func(e *InboxEntry) any { return &e.Session }},
		{"seen_ns", nil, func(e *InboxEntry) any { return nanosInto{&e.At} }},
	}.rows(rows)
	seen := make(map[string]time.Time, len(list))
	for i := range list {
		seen[list[i].Session] = list[i].At
	}
	return seen, s.explain(op, err)
}

// EndedRun is a run that ended: a user's command in a shell, a user's job in the background, or the program of a session.
type EndedRun struct {
	Completion
	Started time.Time
	Cwd     string
}

// selectEndedRuns selects the runs of users. It omits runs whose caller waited for the end, runs of agents, which read the end
// themselves, and runs that a user stopped. The entry of a job includes its session and command.
const selectEndedRuns = `
SELECT kind, session, name, ref, state, exit_code, signal, text, at_ns, started_ns, cwd FROM (
	SELECT 'command' AS kind, c.session AS session, s.name AS name, CAST(c.n AS TEXT) AS ref, c.state AS state, c.exit_code AS exit_code,
		c.signal AS signal, substr(c.text, 1, 1000) AS text, c.ended_ns AS at_ns, c.started_ns AS started_ns, c.cwd AS cwd
	FROM commands c JOIN sessions s ON s.id = c.session
	WHERE c.ended_ns > ?1 AND c.state <> 'running' AND c.source NOT IN ('exec', 'program') AND c.source NOT LIKE 'agent:%' AND s.agent = ''
	UNION ALL
	SELECT 'job', j.session, coalesce(s.name, ''), j.id, coalesce(CASE WHEN json_valid(j.result) THEN json_extract(j.result, '$.state') END, 'lost'),
		CASE WHEN json_valid(j.result) THEN json_extract(j.result, '$.exit_code') END,
		coalesce(CASE WHEN json_valid(j.result) THEN json_extract(j.result, '$.signal') END, ''), substr(j.line, 1, 1000), j.ended_ns, j.created_ns,
		coalesce(CASE WHEN json_valid(j.result) THEN json_extract(j.result, '$.cwd_before') END, '')
	FROM jobs j LEFT JOIN sessions s ON s.id = j.session
	WHERE j.ended_ns > ?1 AND j.state = 'done' AND j.id NOT GLOB 'hook-*' AND json_valid(j.request)
		AND (json_extract(j.request, '$.background') = 1 OR json_extract(j.request, '$.yield_ms') > 0)
		AND coalesce(json_extract(j.request, '$.actor.agent'), '') = ''
		AND NOT (json_valid(j.result) AND coalesce(json_extract(j.result, '$.state'), '') = 'killed' AND json_extract(j.result, '$.timed_out') = 'none')
	UNION ALL
	SELECT 'session', s.id, s.name, CAST(s.started_ns AS TEXT), s.state, s.exit_code, s.signal, s.argv, s.ended_ns, s.started_ns, s.cwd
	FROM sessions s
	WHERE s.ended_ns > ?1 AND s.state <> 'running' AND s.shell = 0 AND s.stopped = 0 AND s.temporary = 0 AND s.agent = ''
		AND coalesce(CASE WHEN json_valid(s.labels) THEN json_extract(s.labels, '$."longterm.kept"') END, '') <> 'run'
		AND coalesce(CASE WHEN json_valid(s.labels) THEN json_extract(s.labels, '$."longterm.hook"') END, '') = ''
		AND s.id NOT IN (SELECT session FROM jobs WHERE kind = 'command')
) AS e WHERE at_ns > coalesce((SELECT seen_ns FROM inbox_seen v WHERE v.session = e.session), 0)
ORDER BY at_ns DESC LIMIT ?2`

// EndedRuns returns the newest runs of users that ended after a time and after a client last showed their session, newest first.
func (s *Store) EndedRuns(ctx context.Context, after time.Time, limit int) ([]EndedRun, error) {
	const op = "read ended runs"
	rows, err := s.db.QueryContext(ctx, selectEndedRuns, nanos(after), limit)
	if err != nil {
		return nil, s.explain(op, err)
	}
	defer rows.Close()
	var all []EndedRun
	for rows.Next() {
		var e EndedRun
		dests := append(completionColumns[1:].dests(&e.Completion), nanosInto{&e.Started}, &e.Cwd)
		if err := rows.Scan(dests...); err != nil {
			return nil, s.explain(op, err)
		}
		all = append(all, e)
	}
	return all, s.explain(op, rows.Err())
}
