package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"slices"

	"modernc.org/sqlite"
)

// HistoryCommand is a past command, or a session's start command, with data of its session.
type HistoryCommand struct {
	Session string
	Name    string
	Argv    []string // argv of the session
	Shell   bool     // the session is a shell
	Labels  map[string]string
	Agent   string
	N       int    // of the command in its session; 0: the session's own Argv
	Text    string // the command's line; empty where N is 0
	Cwd     string
}

// History returns every command of every session in the database at path, live and ended, each session before its
// commands. It only reads, also while a daemon writes. A missing database yields nothing. An error ends the iteration.
func History(ctx context.Context, path string) iter.Seq2[HistoryCommand, error] {
	return func(yield func(HistoryCommand, error) bool) {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err := history(ctx, path, yield); err != nil {
			yield(HistoryCommand{}, Explain("read the history", path, err))
		}
	}
}

func history(ctx context.Context, path string, yield func(HistoryCommand, error) bool) (err error) {
	dsn, err := DSN(path, pragmas[:1]) // a reader needs only the busy timeout
	if err != nil {
		return err
	}
	connector, err := sqlite.NewConnector(dsn + "&mode=ro")
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	agent, err := columnOr(ctx, db, "sessions", "agent", "''")
	if err != nil {
		return err
	}
	const order = " ORDER BY 1, 7"
	rows, err := db.QueryContext(ctx, "SELECT id, name, argv, shell, labels, "+agent+", 0, '', cwd FROM sessions UNION ALL "+
		"SELECT c.session, s.name, s.argv, s.shell, s.labels, "+agent+", c.n, c.text, c.cwd "+
		"FROM commands c JOIN sessions s ON s.id = c.session"+order)
	if err != nil {
		return err
	}
	defer rows.Close()
	var last HistoryCommand // most commands are of the session of the one before
	var lastArgv, lastLabels string
	for rows.Next() {
		p := last
		var argv, labels string
		if err := rows.Scan(&p.Session, &p.Name, &argv, &p.Shell, &labels, &p.Agent, &p.N, &p.Text, &p.Cwd); err != nil {
			return err
		}
		if argv != lastArgv || labels != lastLabels {
			p.Argv, p.Labels = nil, nil
			if err := errors.Join(json.Unmarshal([]byte(argv), &p.Argv), json.Unmarshal([]byte(labels), &p.Labels)); err != nil {
				return err
			}
			lastArgv, lastLabels = argv, labels
		}
		if last = p; !yield(p, nil) {
			return nil
		}
	}
	return rows.Err()
}

// columnOr returns a column's name, or fallback if an older database lacks the column.
func columnOr(ctx context.Context, db *sql.DB, table, column, fallback string) (string, error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return "", err
		}
		names = append(names, name)
	}
	if slices.Contains(names, column) {
		return column, rows.Err()
	}
	return fallback, rows.Err()
}
