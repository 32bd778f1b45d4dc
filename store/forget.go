package store

import (
	"context"
	"errors"
)

// Checkpoint writes what was changed to the database itself and empties its log, so that
// nothing of what was deleted or overwritten is left in either. It does not wait for who
// reads the database.
func (s *Store) Checkpoint(ctx context.Context) error {
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
