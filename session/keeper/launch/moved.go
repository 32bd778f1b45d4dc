//go:build unix

package launch

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// movedBack is for how long a directory that was moved elsewhere may come back before it is made anew in its old
// place: what is moved back then would end up inside the new one.
const movedBack = 10 * time.Second

// Moved tells of a directory with a lock of ours whether it was moved elsewhere, and may be on its way back. One that
// was removed is to be made anew at once, or clients would find no session and begin anew themselves.
type Moved struct{ since time.Time }

// Waits says that nothing is to be made in the directory's old place yet. lock is the open file of one below it; nil:
// there is none.
func (m *Moved) Waits(dir string, lock *os.File, now time.Time) bool {
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) || !linked(lock) {
		m.since = time.Time{}
		return false
	}
	if m.since.IsZero() {
		m.since = now
	}
	return now.Sub(m.since) < movedBack
}

// linked says that an open file still has a name somewhere.
func linked(f *os.File) bool {
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
