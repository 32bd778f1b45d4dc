package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Session is the record of a session.
type Session struct {
	ID     string            `json:"id"`
	Name   string            `json:"name"`
	Argv   []string          `json:"argv"`
	Shell  bool              `json:"shell,omitempty"` // the user's shell, not a command
	Cwd    string            `json:"cwd"`
	Env    []string          `json:"env,omitempty"` // NAME=value, added to the environment
	Labels map[string]string `json:"labels,omitempty"`
	Cols   int               `json:"cols"` // cells
	Rows   int               `json:"rows"`

	Engine    string `json:"engine"`
	Keeper    string `json:"keeper"` // placement key
	Pipe      bool   `json:"pipe,omitempty"`
	Temporary bool   `json:"temporary,omitempty"` // removed when it ends
	Restore   string `json:"restore,omitempty"`   // restore policy after a reboot; "": the default

	Policy string `json:"policy,omitempty"` // policy preset requested at the start; "": the default one
	Agent  string `json:"agent,omitempty"`  // label of the agent that started it; "": a user

	Call          string `json:"call,omitempty"`  // ID that the caller gave its start request, or ""
	RequestDigest string `json:"asked,omitempty"` // digest of that request

	PID      int    `json:"pid,omitempty"`
	State    string `json:"state"`               // running, exited, lost
	ExitCode *int   `json:"exit_code,omitempty"` // nil: not exited, or ended by a signal
	Signal   string `json:"signal,omitempty"`
	Stopped  bool   `json:"stopped,omitempty"` // the user or a caller ended it
	Title    string `json:"title,omitempty"`

	Created time.Time     `json:"created,omitzero"`
	Started time.Time     `json:"started,omitzero"`
	Ended   time.Time     `json:"ended,omitzero"`
	User    time.Duration `json:"user_ns,omitempty"` // CPU time
	System  time.Duration `json:"system_ns,omitempty"`
	MaxRSS  int64         `json:"max_rss,omitempty"` // bytes

	ProgramFrom uint64 `json:"program_from,omitempty"` // output offset at which its newest program started, after a restore
}

// sessionColumns are those of the sessions table. The first one is the key.
var sessionColumns = columns[Session]{
	{"id", func(s *Session) any { return s.ID }, func(s *Session) any { return &s.ID }},
	{"name", func(s *Session) any { return s.Name }, func(s *Session) any { return &s.Name }},
	{"argv", func(s *Session) any { return jsonOf(s.Argv, "[]") }, func(s *Session) any { return jsonInto{&s.Argv} }},
	{"shell", func(s *Session) any { return s.Shell }, func(s *Session) any { return &s.Shell }},
	{"cwd", func(s *Session) any { return s.Cwd }, func(s *Session) any { return &s.Cwd }},
	{"env", func(s *Session) any { return jsonOf(s.Env, "[]") }, func(s *Session) any { return jsonInto{&s.Env} }},
	{"labels", func(s *Session) any { return jsonOf(s.Labels, "{}") }, func(s *Session) any { return jsonInto{&s.Labels} }},
	{"cols", func(s *Session) any { return s.Cols }, func(s *Session) any { return &s.Cols }},
	{"rows", func(s *Session) any { return s.Rows }, func(s *Session) any { return &s.Rows }},
	{"engine", func(s *Session) any { return s.Engine }, func(s *Session) any { return &s.Engine }},
	{"keeper", func(s *Session) any { return s.Keeper }, func(s *Session) any { return &s.Keeper }},
	{"pipe", func(s *Session) any { return s.Pipe }, func(s *Session) any { return &s.Pipe }},
	{"temporary", func(s *Session) any { return s.Temporary }, func(s *Session) any { return &s.Temporary }},
	{"restore", func(s *Session) any { return s.Restore }, func(s *Session) any { return &s.Restore }},
	{"pid", func(s *Session) any { return s.PID }, func(s *Session) any { return &s.PID }},
	{"state", func(s *Session) any { return s.State }, func(s *Session) any { return &s.State }},
	{"exit_code", func(s *Session) any { return s.ExitCode }, func(s *Session) any { return &s.ExitCode }},
	{"signal", func(s *Session) any { return s.Signal }, func(s *Session) any { return &s.Signal }},
	{"stopped", func(s *Session) any { return s.Stopped }, func(s *Session) any { return &s.Stopped }},
	{"title", func(s *Session) any { return s.Title }, func(s *Session) any { return &s.Title }},
	{"created_ns", func(s *Session) any { return nanos(s.Created) }, func(s *Session) any { return nanosInto{&s.Created} }},
	{"started_ns", func(s *Session) any { return nanos(s.Started) }, func(s *Session) any { return nanosInto{&s.Started} }},
	{"ended_ns", func(s *Session) any { return nanos(s.Ended) }, func(s *Session) any { return nanosInto{&s.Ended} }},
	{"user_ns", func(s *Session) any { return int64(s.User) }, func(s *Session) any { return (*int64)(&s.User) }},
	{"system_ns", func(s *Session) any { return int64(s.System) }, func(s *Session) any { return (*int64)(&s.System) }},
	{"policy", func(s *Session) any { return s.Policy }, func(s *Session) any { return &s.Policy }},
	{"agent", func(s *Session) any { return s.Agent }, func(s *Session) any { return &s.Agent }},
	{"call_id", func(s *Session) any { return s.Call }, func(s *Session) any { return &s.Call }},
	{"asked", func(s *Session) any { return s.RequestDigest }, func(s *Session) any { return &s.RequestDigest }},
	{"max_rss", func(s *Session) any { return s.MaxRSS }, func(s *Session) any { return &s.MaxRSS }},
	{"program_from", func(s *Session) any { return int64(s.ProgramFrom) }, func(s *Session) any { return &s.ProgramFrom }},
}

// CreateSession records a session. Errors are ErrExists and ErrNameTaken.
func (s *Store) CreateSession(ctx context.Context, r Session) error {
	insert, err := s.prepare(ctx, &s.insert, func() string {
		return "INSERT INTO sessions (" + sessionColumns.names(", ") + ") VALUES " + sessionColumns.placeholders()
	})
	if err == nil {
		_, err = insert.ExecContext(ctx, sessionColumns.values(&r)...)
	}
	return s.explain("record session "+r.ID, err)
}

// UpdateSession replaces the record of a session. Errors are ErrNotFound and ErrNameTaken.
func (s *Store) UpdateSession(ctx context.Context, r Session) error {
	update, err := s.prepare(ctx, &s.update, func() string {
		return "UPDATE sessions SET " + sessionColumns.names(" = ?, ") + " = ? WHERE id = ?"
	})
	if err != nil {
		return s.notifyChange(s.explain("update session "+r.ID, err))
	}
	res, err := update.ExecContext(ctx, append(sessionColumns.values(&r), r.ID)...)
	return s.notifyChange(s.requireRow("update session "+r.ID, ErrNotFound, res, err))
}

// prepare prepares a statement once and stores it in *cached. Preparing takes at least as long as executing, and a
// thousand sessions may end at once.
func (s *Store) prepare(ctx context.Context, cached **sql.Stmt, text func() string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *cached != nil {
		return *cached, nil
	}
	stmt, err := s.db.PrepareContext(ctx, text())
	if err == nil {
		*cached = stmt
	}
	return stmt, err
}

// DeleteSession removes a session's record, or returns ErrNotFound.
func (s *Store) DeleteSession(ctx context.Context, id string) error {
	res, err := s.db.ExecContext(ctx, "DELETE FROM sessions WHERE id = ?", id)
	return s.requireRow("delete session "+id, ErrNotFound, res, err)
}

// Session returns the record of a session, or ErrNotFound.
func (s *Store) Session(ctx context.Context, id string) (Session, error) {
	var r Session
	err := s.db.QueryRowContext(ctx, "SELECT "+sessionColumns.names(", ")+" FROM sessions WHERE id = ?", id).Scan(sessionColumns.dests(&r)...)
	if errors.Is(err, sql.ErrNoRows) {
		return Session{}, fmt.Errorf("session %s: %w", id, ErrNotFound)
	}
	return r, s.explain("read session "+id, err)
}

// Sessions returns all recorded sessions, oldest first.
func (s *Store) Sessions(ctx context.Context) ([]Session, error) {
	const op = "read sessions"
	rows, err := s.db.QueryContext(ctx, "SELECT "+sessionColumns.names(", ")+" FROM sessions ORDER BY created_ns, id")
	if err != nil {
		return nil, s.explain(op, err)
	}
	all, err := sessionColumns.rows(rows)
	return all, s.explain(op, err)
}
