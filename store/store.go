package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
)

// Store is the database.
type Store struct {
	db            *sql.DB
	path          string
	recoveredFrom string // path of the quarantined corrupt database, or ""

	mu             sync.Mutex
	insert, update *sql.Stmt // statements for a session; nil: not prepared yet

	// OnChange is called after a write that may have created a completion. It must not block. Set it before use.
	OnChange func()
}

// notifyChange calls OnChange if err is nil, and returns err.
func (s *Store) notifyChange(err error) error {
	if err == nil && s.OnChange != nil {
		s.OnChange()
	}
	return err
}

// pragmas are set on every connection, busy_timeout first. The page cache is small to save memory; sessions and the
// last commands fit into it.
var pragmas = []string{
	"busy_timeout(5000)",
	"journal_mode(WAL)",
	"synchronous(NORMAL)",
	"foreign_keys(1)",
	"cache_size(-512)", // KiB
	"journal_size_limit(1048576)",
	"secure_delete(1)", // what was removed may have been secret
}

// Open opens the database at path, creating or migrating it. It replaces a corrupt one with an empty one; see
// RecoveredFrom.
func Open(path string) (*Store, error) {
	if _, err := os.Lstat(path + damagedSuffix); err == nil {
		return Replace(path)
	}
	s, err := open(path)
	if !errors.Is(err, ErrCorrupt) {
		return s, err
	}
	return Replace(path)
}

// Replace quarantines a corrupt database and opens an empty one. No process may have it open.
func Replace(path string) (*Store, error) {
	quarantined, err := quarantineDB(path, time.Now())
	if err != nil {
		return nil, Explain("quarantine a corrupt database", path, err)
	}
	s, err := open(path)
	if err != nil {
		return nil, err
	}
	s.recoveredFrom = quarantined
	return s, nil
}

// damagedSuffix names the marker of a database that was found damaged in use. The next Open replaces it, even without
// noticing the damage.
const damagedSuffix = ".damaged"

// explain adds the operation and the file to an error, and marks a damaged database.
func (s *Store) explain(op string, err error) error {
	err = Explain(op, s.path, err)
	if errors.Is(err, ErrCorrupt) {
		if werr := os.WriteFile(s.path+damagedSuffix, []byte(err.Error()+"\n"), 0o600); werr != nil {
			err = errors.Join(err, werr)
		}
	}
	return err
}

// RecoveredFrom returns the quarantined file if Open replaced a corrupt database, or "". The caller recovers its
// sessions from their manifests.
func (s *Store) RecoveredFrom() string { return s.recoveredFrom }

// Close closes the database.
func (s *Store) Close() error { return s.explain("close the database", s.db.Close()) }

func open(path string) (*Store, error) {
	const op = "open the database"
	// SQLite would create it readable for others; its companions take the file's mode.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, Explain(op, path, err)
	}
	if err := f.Close(); err != nil {
		return nil, Explain(op, path, err)
	}
	dsn, err := DSN(path, pragmas)
	if err != nil {
		return nil, Explain(op, path, err)
	}
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, Explain(op, path, err)
	}
	s := &Store{db: sql.OpenDB(connector), path: path}
	s.db.SetMaxOpenConns(1)
	ctx := context.Background()
	if err = s.migrate(ctx); err == nil {
		err = s.check(ctx)
	}
	if err != nil {
		return nil, Explain(op, path, errors.Join(err, s.db.Close()))
	}
	return s, nil
}

// DSN returns the driver's name for a database file, with the pragmas of each connection.
func DSN(path string, pragmas []string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // C:/…
	}
	q := url.Values{"_pragma": pragmas, "_txlock": {"immediate"}}
	u := url.URL{Scheme: "file", OmitHost: true, Path: abs, RawQuery: q.Encode()}
	return u.String(), nil
}

// quarantineDB renames a database and its side files.
func quarantineDB(path string, now time.Time) (aside string, err error) {
	aside = path + ".corrupt-" + now.UTC().Format("20060102T150405.000Z")
	for _, suffix := range []string{"-wal", "-shm", "", damagedSuffix} { // the word of it last
		err := os.Rename(path+suffix, aside+suffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}
