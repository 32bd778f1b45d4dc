package search

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"sync"

	"modernc.org/sqlite"

	"github.com/longterm-dev/longterm/store"
)

// Errors, besides those of package store (ErrFull, ErrReadOnly, ErrCorrupt, ErrNewer).
var (
	// ErrQuery is returned for an invalid query.
	ErrQuery = errors.New("bad query")
	// ErrLines is returned for lines that are not in ascending order.
	ErrLines = errors.New("lines out of order")
)

//go:embed schema.sql
var schema string

// schemaVersion is the version of the schema and of all blobs. An older index is rebuilt, not migrated.
const schemaVersion = 1

// limits bounds the stages of the index. Tests lower them.
type limits struct {
	// block is a block's size in bytes of text. Trigrams locate text more precisely in smaller blocks; larger ones need
	// less space.
	block     int
	tails     int // bytes of text in the tails of all sessions
	tailCount int // number of tails
	group     int // bytes of text in a group
	groupLen  int // number of blocks in a group; below 1<<16
}

var defaultLimits = limits{block: 20 << 10, tails: 4 << 20, tailCount: 1024, group: 4 << 20, groupLen: 4096}

// Index is the index. All methods may be called from any goroutine.
type Index struct {
	path   string
	write  *sql.DB // one connection
	read   *sql.DB
	limits limits

	mu      sync.Mutex // one writer at a time; guards what follows
	pending pending
	lines   block  // scratch
	raw     []byte // scratch

	rebuilt bool
}

// pending counts the text that searches must read without the help of trigrams.
type pending struct {
	tails, tailCount   int   // tails: bytes of text, and number of sessions
	blocks, blockCount int   // blocks that are in no group: bytes of text, and number
	clock              int64 // increasing number of the last change of a tail
}

// pragmas of the writing connection. The driver sets busy_timeout first and the others by name, so auto_vacuum comes
// before the file is created, as it must.
var pragmas = []string{
	"busy_timeout(5000)",
	"auto_vacuum(2)", // incremental
	"journal_mode(WAL)",
	"synchronous(NORMAL)",
	"foreign_keys(1)",
	"cache_size(-2048)", // KiB
	"journal_size_limit(4194304)",
}

// maxReaders limits concurrent reads.
const maxReaders = 4

// Open opens or creates the index at path. It replaces an index that is corrupt or of another format with an empty one. Then
// Rebuilt returns true, and the caller feeds sessions again from IndexedTo.
func Open(path string) (*Index, error) { return openWith(path, defaultLimits) }

func openWith(path string, l limits) (*Index, error) {
	rebuilt := isMarked(path)
	if rebuilt {
		if err := quarantine(path); err != nil {
			return nil, store.Explain("quarantine a corrupt index", path, err)
		}
	}
	x, err := open(path, l)
	if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrNewer) {
		if err := quarantine(path); err != nil {
			return nil, store.Explain("quarantine a corrupt index", path, err)
		}
		rebuilt = true
		x, err = open(path, l)
	}
	if err != nil {
		return nil, err
	}
	x.rebuilt = rebuilt
	return x, nil
}

// Rebuilt reports whether Open replaced an unusable index.
func (x *Index) Rebuilt() bool { return x.rebuilt }

// Close closes the index. Running searches fail.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return store.Explain("close the index", x.path, errors.Join(x.read.Close(), x.write.Close()))
}

func open(path string, l limits) (*Index, error) {
	const op = "open the index"
	// SQLite would create it readable for others; its companions take the file's mode.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return nil, store.Explain(op, path, err)
	}
	x := &Index{path: path, limits: l}
	if x.write, err = connect(path, 1, pragmas...); err != nil {
		return nil, store.Explain(op, path, err)
	}
	if err = x.prepare(context.Background()); err == nil {
		x.read, err = connect(path, maxReaders, append([]string{"query_only(1)"}, pragmas[0], "cache_size(-1024)")...)
	}
	if err != nil {
		return nil, store.Explain(op, path, errors.Join(err, x.write.Close()))
	}
	return x, nil
}

func connect(path string, conns int, pragmas ...string) (*sql.DB, error) {
	dsn, err := store.DSN(path, pragmas)
	if err != nil {
		return nil, err
	}
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// prepare creates a missing schema and loads pending text. It reads all small tables, which finds most damage quickly.
func (x *Index) prepare(ctx context.Context) error {
	var version int
	if err := x.write.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	switch version {
	case schemaVersion:
	case 0:
		if err := x.create(ctx); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%w (index %d, this one knows %d)", store.ErrNewer, version, schemaVersion)
	}
	var result string
	err := x.write.QueryRowContext(ctx, "PRAGMA quick_check(groups)").Scan(&result)
	if err == nil && result != "ok" {
		err = fmt.Errorf("%w: %s", store.ErrCorrupt, result)
	}
	if err != nil {
		return err
	}
	x.pending, err = countPending(ctx, x.write)
	return err
}

func (x *Index) create(ctx context.Context) error {
	tx, err := x.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // without effect after Commit
	if _, err := tx.ExecContext(ctx, schema+fmt.Sprintf("; PRAGMA user_version = %d", schemaVersion)); err != nil {
		return err
	}
	return tx.Commit()
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func countPending(ctx context.Context, q querier) (p pending, err error) {
	err = q.QueryRowContext(ctx, "SELECT coalesce(sum(size), 0), count(*), coalesce(max(touched), 0) FROM tails").
		Scan(&p.tails, &p.tailCount, &p.clock)
	if err != nil {
		return p, err
	}
	err = q.QueryRowContext(ctx, "SELECT coalesce(sum(size), 0), count(*) FROM blocks WHERE id > "+lastGrouped).
		Scan(&p.blocks, &p.blockCount)
	return p, err
}

// lastGrouped selects the last block whose trigrams are in pages. If a group is removed, the group before becomes the
// last: no block is between them.
const lastGrouped = "(SELECT coalesce(max(last), 0) FROM groups)"

// inTx runs f in a write transaction, which also covers pending. The caller holds mu.
func (x *Index) inTx(ctx context.Context, op string, f func(tx *sql.Tx) error) error {
	before := x.pending
	err := func() error {
		tx, err := x.write.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() // without effect after Commit
		if err := f(tx); err != nil {
			return err
		}
		return tx.Commit()
	}()
	if err != nil {
		x.pending = before
	}
	return x.explain(ctx, op, err)
}

// explain adds context to an error. On damage it marks the index, so that the next Open replaces it.
func (x *Index) explain(ctx context.Context, op string, err error) error {
	if err != nil && ctx.Err() != nil { // SQLite reports an interrupt
		return fmt.Errorf("%s: %w", op, ctx.Err())
	}
	if errors.Is(err, errBlock) || errors.Is(err, errPage) {
		err = fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	err = store.Explain(op, x.path, err)
	if errors.Is(err, store.ErrCorrupt) {
		err = errors.Join(err, mark(x.path))
	}
	return err
}
