package store

import (
	"context"
	"embed"
	"fmt"
)

//go:embed migrations/*.sql
var migrations embed.FS

// SchemaVersion returns the newest schema version that this program supports.
func SchemaVersion() int {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return 0 // it is embedded
	}
	return len(files)
}

// migrate updates the schema. The n-th file, by name, upgrades version n-1 to n; files never change once released.
func (s *Store) migrate(ctx context.Context) error {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return err
	}
	var have int
	if err := s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	if have > len(files) {
		return fmt.Errorf("%w (schema %d, this one knows %d)", ErrNewer, have, len(files))
	}
	for i := have; i < len(files); i++ {
		if err := s.apply(ctx, "migrations/"+files[i].Name(), i+1); err != nil {
			return fmt.Errorf("%s: %w", files[i].Name(), err)
		}
	}
	return nil
}

// apply runs one file in a transaction.
func (s *Store) apply(ctx context.Context, name string, version int) error {
	text, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // without effect after Commit
	if _, err := tx.ExecContext(ctx, string(text)); err != nil {
		return markMalformed(err)
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		return err
	}
	return tx.Commit()
}
