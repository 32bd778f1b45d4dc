package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// tables returns all tables with the columns in use.
func tables() map[string]string {
	return map[string]string{
		"sessions": sessionColumns.names(", "),
		"commands": commandColumns.names(", "),
		"jobs":     jobColumns.names(", "),
	}
}

// maxFullCheck is the largest database, in bytes, that is checked completely when it is opened. Of a larger one only the
// parts that the start needs are checked, so that the start is not delayed; other damage is found in use (see
// damagedSuffix).
const maxFullCheck = 16 << 20

// check detects damaged pages, and tables with an unexpected schema.
func (s *Store) check(ctx context.Context) error {
	for table, columns := range tables() {
		rows, err := s.db.QueryContext(ctx, "SELECT "+columns+" FROM "+table+" LIMIT 1")
		if err != nil {
			return markMalformed(err)
		}
		for rows.Next() {
			// its first page can be read
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
	}
	checks := []string{"quick_check(1)"}
	if st, err := os.Stat(s.path); err == nil && st.Size() > maxFullCheck {
		checks = []string{"quick_check(sessions)", "quick_check(jobs)"}
	}
	for _, check := range checks {
		var result string
		err := s.db.QueryRowContext(ctx, "PRAGMA "+check).Scan(&result)
		if err == nil && result != "ok" {
			err = fmt.Errorf("%w: %s", ErrCorrupt, result)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// markMalformed marks an SQL error as ErrCorrupt: a table or column is missing, or exists already.
func markMalformed(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_ERROR {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}
