package draft

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Names of files in a draft's directory that other packages look for; draft_linux.go has the others.
const (
	infoName    = "draft.json"
	mountedName = "mounted"
)

// Exists reports whether a directory is a draft that was neither committed as a whole nor discarded.
func Exists(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, infoName))
	return err == nil
}

// MountLockPath returns the file that is locked while the overlays of the draft in a directory are mounted.
func MountLockPath(dir string) string { return filepath.Join(dir, mountedName) }

// Options describe a new draft.
type Options struct {
	Roots   []string // absolute paths of directories; none within another
	Session string
	Command string
	Started time.Time
}

// Root is a directory whose changes a draft holds, and the directories of the overlay over it.
type Root struct {
	Lower, Upper, Work string
}

// CommitOptions select what is committed, and how.
type CommitOptions struct {
	// Paths are absolute, or relative to the first root; a directory includes all beneath. If empty, all changes are
	// committed. Parents that the draft made, and other files of a changed SQLite database, are included.
	Paths []string
	// Expect is the ID of the Changes that the caller has seen. Others are rejected with ErrChanged. If empty, any are accepted.
	Expect string
	DryRun bool // checks everything and writes nothing
	// Overwrite commits changes that conflict. The changes of the other processes are lost.
	Overwrite bool
	// AllowSetID allows files with setuid or setgid bits or file capabilities.
	AllowSetID bool
}

// Result holds what a commit or a discard did, or, in a dry run, would do.
type Result struct {
	ID      string          `json:"id"`      // of the Changes before
	Paths   []AppliedChange `json:"paths"`   // in the order of the changes
	Files   int             `json:"files"`   // added, modified, of other type, or with other metadata
	Deleted int             `json:"deleted"` // paths; a directory counts once
	Bytes   int64           `json:"bytes"`   // of the files written
	Resumed bool            `json:"resumed"` // completed a commit that had started before
	Empty   bool            `json:"empty"`   // the draft holds no changes afterwards
}

// AppliedChange is a change that was applied or discarded.
type AppliedChange struct {
	Change
	Copied bool `json:"copied"` // copied, not renamed
}

var (
	// ErrUnsupported rejects drafts on systems without overlays.
	ErrUnsupported = errors.New("draft: not supported on this system (needs Linux with overlayfs in user namespaces)")
	// ErrMounted rejects what needs an ended session.
	ErrMounted = errors.New("draft: in use (its session is running); end the session first")
	// ErrChanged rejects a commit of other changes than the caller has seen.
	ErrChanged = errors.New("draft: changed since they were listed; list the changes again")
	// ErrNoView is returned for a directory that is not a root as the running session sees it.
	ErrNoView   = errors.New("draft: not mounted (the session is starting or ending); retry in a moment")
	ErrNoChange = errors.New("draft: no change at this path")
)

// ConflictError rejects a commit. Nothing was written, unless Applied is set.
type ConflictError struct {
	Changes []Change // each with its Conflict
	Applied int      // changes committed before an outside process changed one of the others; the next commit resumes
}

// conflictsShown bounds the paths in the text of a ConflictError.
const conflictsShown = 5

func (e *ConflictError) Error() string {
	var b strings.Builder
	if e.Applied > 0 {
		fmt.Fprintf(&b, "draft: stopped after %d changes: ", e.Applied)
	} else {
		b.WriteString("draft: nothing committed: ")
	}
	for i, c := range e.Changes {
		if i == conflictsShown {
			fmt.Fprintf(&b, " and %d more", len(e.Changes)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q %s", c.Path, *c.Conflict)
	}
	return b.String()
}
