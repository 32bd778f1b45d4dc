package store

import (
	"context"
	"errors"
)

// removeJobEnv removes the environment from job requests of removed sessions. Such jobs can only be read.
const removeJobEnv = `UPDATE jobs SET request = json_remove(request, '$.env', '$.set_env')
	WHERE session NOT IN (SELECT id FROM sessions) AND json_valid(request)
	AND coalesce(json_type(request, '$.env'), json_type(request, '$.set_env')) IS NOT NULL`

// ForgetRemoved erases what remains of removed sessions: it deletes their environments from job records, checkpoints
// the database and truncates its WAL. It does not wait for readers.
func (s *Store) ForgetRemoved(ctx context.Context) error {
	if _, err := s.db.ExecContext(ctx, removeJobEnv); err != nil {
		return Explain("forget removed sessions", s.path, err)
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return Explain("empty the log", s.path, err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "PRAGMA busy_timeout(0)"); err != nil {
		return Explain("empty the log", s.path, err)
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA "+pragmas[0]) }()
	var busy, log, moved int
	err = conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved)
	if err == nil && busy != 0 {
		err = errors.New("database in use by a reader")
	}
	return Explain("empty the log", s.path, err)
}
