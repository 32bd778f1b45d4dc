package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// States of a command.
const (
	CommandRunning = "running"
	CommandDone    = "done"
	CommandLost    = "lost" // exit status unknown: the end was not observed
)

// Redacted is stored for a variable in place of a secret's value.
const Redacted = "[redacted]"

// Command is the record of a command that ran in a session.
type Command struct {
	Session string `json:"session"` // session id
	N       int    `json:"n"`       // 1 is the session's first
	Text    string `json:"text"`
	// exec, agent:LABEL or program; for a user's command, how its text was obtained
	Source  string `json:"source"`
	State   string `json:"state"`             // running, done, lost
	Quality string `json:"quality,omitempty"` // quality of the shell integration: rich, basic or none

	Cwd      string             `json:"cwd,omitempty"`       // directory before the command
	CwdAfter string             `json:"cwd_after,omitempty"` // directory after the command
	Env      map[string]*string `json:"env,omitempty"`       // variables that the command changed; nil: unset

	Started  time.Time `json:"started,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
	ExitCode *int      `json:"exit_code,omitempty"` // nil: not ended, unknown, or ended by a signal
	Signal   string    `json:"signal,omitempty"`

	From      uint64 `json:"from"`                 // range of its output in the journal: [From, To)
	To        uint64 `json:"to,omitempty"`         // offset; 0: still running
	AltScreen bool   `json:"alt_screen,omitempty"` // it used the alternate screen
	Truncated bool   `json:"truncated,omitempty"`  // part of its output is not in the journal
	Binary    bool   `json:"binary,omitempty"`     // it printed binary data
}

// commandColumns are those of the commands table. The first two are the key.
var commandColumns = columns[Command]{
	{"session", func(c *Command) any { return c.Session }, func(c *Command) any { return &c.Session }},
	{"n", func(c *Command) any { return c.N }, func(c *Command) any { return &c.N }},
	{"text", func(c *Command) any { return c.Text }, func(c *Command) any { return &c.Text }},
	{"source", func(c *Command) any { return c.Source }, func(c *Command) any { return &c.Source }},
	{"state", func(c *Command) any { return c.State }, func(c *Command) any { return &c.State }},
	{"quality", func(c *Command) any { return c.Quality }, func(c *Command) any { return &c.Quality }},
	{"cwd", func(c *Command) any { return c.Cwd }, func(c *Command) any { return &c.Cwd }},
	{"cwd_after", func(c *Command) any { return c.CwdAfter }, func(c *Command) any { return &c.CwdAfter }},
	{"env", func(c *Command) any { return jsonOf(c.Env, "{}") }, func(c *Command) any { return jsonInto{&c.Env} }},
	{"started_ns", func(c *Command) any { return nanos(c.Started) }, func(c *Command) any { return nanosInto{&c.Started} }},
	{"ended_ns", func(c *Command) any { return nanos(c.Ended) }, func(c *Command) any { return nanosInto{&c.Ended} }},
	{"exit_code", func(c *Command) any { return c.ExitCode }, func(c *Command) any { return &c.ExitCode }},
	{"signal", func(c *Command) any { return c.Signal }, func(c *Command) any { return &c.Signal }},
	{"from_offset", func(c *Command) any { return c.From }, func(c *Command) any { return &c.From }},
	{"to_offset", func(c *Command) any { return c.To }, func(c *Command) any { return &c.To }},
	{"alt_screen", func(c *Command) any { return c.AltScreen }, func(c *Command) any { return &c.AltScreen }},
	{"truncated", func(c *Command) any { return c.Truncated }, func(c *Command) any { return &c.Truncated }},
	{"binary", func(c *Command) any { return c.Binary }, func(c *Command) any { return &c.Binary }},
}

// AddCommand records a command and returns its number: N, or the session's next number if N is 0. It returns
// ErrNotFound without the session, and ErrCommandExists for a number in use.
func (s *Store) AddCommand(ctx context.Context, c Command) (n int, err error) {
	values := commandColumns.values(&c)
	places := commandColumns.placeholders()
	if c.N == 0 { // one statement, so that two callers get two numbers
		values[1] = c.Session
		places = strings.Replace(places, "?, ?", "?, (SELECT coalesce(max(n), 0) + 1 FROM commands WHERE session = ?)", 1)
	}
	text := "INSERT INTO commands (" + commandColumns.names(", ") + ") VALUES " + places + " RETURNING n"
	err = s.db.QueryRowContext(ctx, text, values...).Scan(&n)
	return n, s.notifyChange(s.explain("record a command of session "+c.Session, err))
}

// UpdateCommand replaces the record of a command, or returns ErrNoCommand.
func (s *Store) UpdateCommand(ctx context.Context, c Command) error {
	text := "UPDATE commands SET " + commandColumns.names(" = ?, ") + " = ? WHERE session = ? AND n = ?"
	res, err := s.db.ExecContext(ctx, text, append(commandColumns.values(&c), c.Session, c.N)...)
	return s.notifyChange(s.requireRow(fmt.Sprintf("update command %d of session %s", c.N, c.Session), ErrNoCommand, res, err))
}

// Command returns the n-th command of a session, or ErrNoCommand.
func (s *Store) Command(ctx context.Context, session string, n int) (Command, error) {
	op := fmt.Sprintf("command %d of session %s", n, session)
	text := "SELECT " + commandColumns.names(", ") + " FROM commands WHERE session = ? AND n = ?"
	var c Command
	err := s.db.QueryRowContext(ctx, text, session, n).Scan(commandColumns.dests(&c)...)
	if errors.Is(err, sql.ErrNoRows) {
		return Command{}, fmt.Errorf("%s: %w", op, ErrNoCommand)
	}
	return c, s.explain("read "+op, err)
}

// CommandQuery selects commands. The zero value selects all.
type CommandQuery struct {
	Session string
	After   int       // number greater than this
	Since   time.Time // started at this time or later
	Until   time.Time // started before
	Text    string    // substring of the command, ignoring the case of ASCII letters
	Cwd     string    // directory
	Failed  bool      // exit code other than 0, or a signal
	Running bool
	Done    bool // ended, with a known exit code or signal
	Limit   int  // at most this many; 0: all
	Newest  bool // newest first, and with Limit the newest ones; else oldest first
}

// Commands returns the commands that match a query, of live and ended sessions, by start time.
func (s *Store) Commands(ctx context.Context, q CommandQuery) ([]Command, error) {
	const op = "read commands"
	where, args := q.where()
	order := "started_ns, session, n"
	if q.Session != "" {
		order = "n" // the same order, and that of the key
	}
	if q.Newest {
		order = strings.ReplaceAll(order, ",", " DESC,") + " DESC"
	}
	text := "SELECT " + commandColumns.names(", ") + " FROM commands WHERE " + where + " ORDER BY " + order
	if q.Limit > 0 {
		text, args = text+" LIMIT ?", append(args, q.Limit)
	}
	rows, err := s.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, s.explain(op, err)
	}
	all, err := commandColumns.rows(rows)
	return all, s.explain(op, err)
}

// where returns the SQL condition of the query and its parameters.
func (q CommandQuery) where() (text string, args []any) {
	text = "1"
	for _, c := range []struct {
		asked bool
		text  string
		args  []any
	}{
		{q.Session != "", "session = ?", []any{q.Session}},
		{q.After > 0, "n > ?", []any{q.After}},
		{!q.Since.IsZero(), "started_ns >= ?", []any{nanos(q.Since)}},
		{!q.Until.IsZero(), "started_ns < ?", []any{nanos(q.Until)}},
		{q.Text != "", `text LIKE ? ESCAPE '\'`, []any{"%" + likeEscaper.Replace(q.Text) + "%"}},
		{q.Cwd != "", "cwd = ?", []any{q.Cwd}},
		{q.Failed, "(exit_code <> 0 OR signal <> '')", nil},
		{q.Running, "state = '" + CommandRunning + "'", nil},
		{q.Done, "state = '" + CommandDone + "' AND (exit_code IS NOT NULL OR signal <> '')", nil},
	} {
		if c.asked {
			text, args = text+" AND "+c.text, append(args, c.args...)
		}
	}
	return text, args
}

// likeEscaper escapes the special characters of LIKE.
var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
