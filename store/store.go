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
	db        *sql.DB
	path      string
	recovered string

	mu             sync.Mutex
	insert, update *sql.Stmt // of a session; nil: not prepared yet

	// Changed is called after a record was written of which there may be a completion. It must not wait. Set before use.
	Changed func()
}

// wrote tells of a record that was written, and is err.
func (s *Store) wrote(err error) error {
	if err == nil && s.Changed != nil {
		s.Changed()
	}
	return err
}

// pragmas are set on every connection, busy_timeout first. The page cache is small: the
// sessions and the last commands fit into it, and memory counts.
var pragmas = []string{
	"busy_timeout(5000)",
	"journal_mode(WAL)",
	"synchronous(NORMAL)",
	"foreign_keys(1)",
	"cache_size(-512)", // KiB
	"journal_size_limit(1048576)",
	"secure_delete(1)", // what was removed may have been secret
}

// Open opens the database at path, making or migrating it. A corrupt one is moved
// aside and replaced by an empty one: Recovered tells.
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

// Replace moves a corrupt database aside and opens an empty one in its place. No process may
// have it open.
func Replace(path string) (*Store, error) {
	aside, err := moveAside(path, time.Now())
	if err != nil {
		return nil, Explain("move a corrupt database aside", path, err)
	}
	s, err := open(path)
	if err != nil {
		return nil, err
	}
	s.recovered = aside
	return s, nil
}

// damagedSuffix names the file that says of a database that damage was found in it while it
// was in use: the next Open replaces it, whether or not it comes upon the damage.
const damagedSuffix = ".damaged"

// explain is Explain for this database, and leaves word when it is damaged.
func (s *Store) explain(op string, err error) error {
	err = Explain(op, s.path, err)
	if errors.Is(err, ErrCorrupt) {
		if werr := os.WriteFile(s.path+damagedSuffix, []byte(err.Error()+"\n"), 0o600); werr != nil {
			err = errors.Join(err, werr)
		}
	}
	return err
}

// Recovered is where a corrupt database was moved by Open; empty: there was none. The
// sessions it knew are to be found again by their manifests.
func (s *Store) Recovered() string { return s.recovered }

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

// DSN names a database file to its driver, with the pragmas of each connection.
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

// moveAside renames the database and what belongs to it.
func moveAside(path string, now time.Time) (aside string, err error) {
	aside = path + ".corrupt-" + now.UTC().Format("20060102T150405.000Z")
	for _, suffix := range []string{"-wal", "-shm", "", damagedSuffix} { // the word of it last
		err := os.Rename(path+suffix, aside+suffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}
