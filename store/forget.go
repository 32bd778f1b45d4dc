package store

import (
	"context"
	"errors"
)

// withoutEnv takes the environment out of jobs' requests whose session was removed: they can
// only be read from then on.
const withoutEnv = `UPDATE jobs SET request = json_remove(request, '$.env', '$.set_env')
	WHERE session NOT IN (SELECT id FROM sessions) AND json_valid(request)
	AND coalesce(json_type(request, '$.env'), json_type(request, '$.set_env')) IS NOT NULL`

// ForgetRemoved leaves nothing of removed sessions: it takes what they were given out of what
// is kept of their jobs, writes all changes to the database itself and empties its log. It
// does not wait for who reads the database.
func (s *Store) ForgetRemoved(ctx context.Context) error {
	if _, err := s.db.ExecContext(ctx, withoutEnv); err != nil {
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
		err = errors.New("somebody reads the database")
	}
	return Explain("empty the log", s.path, err)
}
