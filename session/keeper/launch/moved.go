//go:build unix

package launch

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// moveBackTimeout is how long a moved directory may take to return before it is recreated: a later return would put it
// inside the new one.
const moveBackTimeout = 10 * time.Second

// MoveTracker tracks whether a directory with a lock was moved and may return. A removed directory must be recreated at once,
// or clients find no session and start over.
type MoveTracker struct{ since time.Time }

// ShouldWait reports whether to delay recreating the directory. lock is the open file of a lock below it, or nil.
func (m *MoveTracker) ShouldWait(dir string, lock *os.File, now time.Time) bool {
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) || !isLinked(lock) {
		m.since = time.Time{}
		return false
	}
	if m.since.IsZero() {
		m.since = now
	}
	return now.Sub(m.since) < moveBackTimeout
}

// isLinked reports whether an open file still has a name.
func isLinked(f *os.File) bool {
	if f == nil {
		return false
	}
	st, err := f.Stat()
	if err != nil {
		return false
	}
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 0
}
