package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Errors. Their wrapping names the file and the remedy.
var (
	ErrNotFound  = errors.New("no such session")
	ErrExists    = errors.New("a session with this id exists")
	ErrNameTaken = errors.New("a session with this name exists")
	ErrNoCommand = errors.New("no such command")
	ErrNewer     = errors.New("made by a newer longterm; upgrade this one")
	ErrFull      = errors.New("the disk is full")
	ErrReadOnly  = errors.New("not writable")
	ErrCorrupt   = errors.New("the database is corrupt")

	ErrCommandExists = errors.New("the session has a command with this number")
	ErrJobExists     = errors.New("a job with this id exists")
	ErrNoJob         = errors.New("no such job")
	ErrNoApproval    = errors.New("no such approval")
	ErrNoGrant       = errors.New("no such grant")

	ErrSubscribed     = errors.New("a subscription with this name exists")
	ErrNoSubscription = errors.New("no such subscription")
)

// Remedies, as parts of messages.
const (
	makeRoom      = "make room on its file system"
	makeWritable  = "make the file and its directory writable for you"
	restartDaemon = "restart the daemon: the file is quarantined and rebuilt"
)

// Explain wraps an error of SQLite or the file system with what was being done to
// which file, and the remedy where there is one.
func Explain(op, path string, err error) error {
	if err == nil {
		return nil
	}
	remedy, kind := classify(err)
	if said := errors.Is(err, syscall.ENOSPC); kind == ErrFull && !said || mayBeFull(err) && isFull(path) {
		// the file next to the database could not be created or grow; SQLite reports it under various codes
		remedy, kind, err = makeRoom, ErrFull, fmt.Errorf("%w: %w", syscall.ENOSPC, err)
	}
	switch {
	case kind == nil:
		return fmt.Errorf("%s (%s): %w", op, path, err)
	case remedy == "":
		return fmt.Errorf("%s (%s): %w", op, path, kind)
	}
	return fmt.Errorf("%s: %s: %w (%w); %s", op, path, kind, err, remedy)
}

// mayBeFull reports whether a full disk can be the cause of an SQLite error.
func mayBeFull(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff
	return code == sqlite3.SQLITE_IOERR || code == sqlite3.SQLITE_CANTOPEN
}

// isFull reports whether the disk of a file is full.
func isFull(path string) bool {
	return errors.Is(atomicfile.CheckSpace(filepath.Dir(path)), syscall.ENOSPC)
}

// classify returns the remedy for an error and the error of this package that it corresponds to, or nil for other
// errors.
func classify(err error) (remedy string, kind error) {
	switch {
	case errors.Is(err, ErrCorrupt):
		return restartDaemon, ErrCorrupt
	case errors.Is(err, syscall.ENOSPC):
		return makeRoom, ErrFull
	case errors.Is(err, syscall.EROFS), errors.Is(err, os.ErrPermission):
		return makeWritable, ErrReadOnly
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return "", nil
	}
	switch code := e.Code(); {
	case code == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY && strings.Contains(e.Error(), "commands."):
		return "", ErrCommandExists
	case code == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return "", ErrNotFound // all refer to sessions
	case code == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return "", ErrExists
	case code == sqlite3.SQLITE_CONSTRAINT_UNIQUE && strings.Contains(e.Error(), "sessions.name"):
		return "", ErrNameTaken
	default:
		return classifyPrimary(code & 0xff)
	}
}

// classifyPrimary does the same for the primary part of an SQLite result code.
func classifyPrimary(code int) (remedy string, kind error) {
	switch code {
	case sqlite3.SQLITE_FULL:
		return makeRoom, ErrFull
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return makeWritable, ErrReadOnly
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return restartDaemon, ErrCorrupt
	}
	return "", nil
}
