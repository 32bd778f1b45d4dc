package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// tables are all there are, with the columns that are used.
func tables() map[string]string {
	return map[string]string{
		"sessions": sessionColumns.names(", "),
		"commands": commandColumns.names(", "),
		"jobs":     jobColumns.names(", "),
	}
}

// wholeCheck is how large a database may be to be read as a whole when it is opened, in
// bytes. Of a larger one, which would hold the start up, what the start needs is checked;
// damage elsewhere is found in use (see damagedSuffix).
const wholeCheck = 16 << 20

// check finds damage: in pages, and in tables that are not what they should be.
func (s *Store) check(ctx context.Context) error {
	for table, columns := range tables() {
		rows, err := s.db.QueryContext(ctx, "SELECT "+columns+" FROM "+table+" LIMIT 1")
		if err != nil {
			return malformed(err)
		}
		for rows.Next() {
			// its first page can be read
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
	}
	checks := []string{"quick_check(1)"}
	if st, err := os.Stat(s.path); err == nil && st.Size() > wholeCheck {
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

// malformed says of a statement that SQLite does not understand that the schema is not
// what this program made: a table or a column is missing, or there already.
func malformed(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_ERROR {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}
