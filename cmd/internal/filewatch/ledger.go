package filewatch

import (
	"bytes"
	"io"
	"os"
	"time"
)

// stamp identifies a version of a file.
type stamp struct {
	exists bool
	size   int64
	mod    time.Time
	object bool // the file is a program or an object file; set only for files written while the command runs
}

// ledger records the known files, and separates the user's changes from those of the command. It does no I/O. Files
// that appear while the command runs are its products. So are object files that change then, and any file that changes
// in three consecutive runs. Changes of products start no run.
type ledger struct {
	known    map[string]stamp
	products map[string]bool
	during   map[string]int // number of consecutive runs during which a file changed
}

// maxRunsChanged is the number of consecutive runs in which a file may change before it counts as a product.
const maxRunsChanged = 3

func newLedger() ledger {
	return ledger{known: map[string]stamp{}, products: map[string]bool{}, during: map[string]int{}}
}

// addKnown records a file that exists when the watch starts.
func (l *ledger) addKnown(path string, s stamp) { l.known[path] = s }

// isUserChange records the new version of a file and reports whether the change starts a run.
func (l *ledger) isUserChange(path string, now stamp, running bool) bool {
	old, had := l.known[path]
	same := had && now.exists && old.size == now.size && old.mod.Equal(now.mod)
	if now.exists {
		l.known[path] = stamp{exists: true, size: now.size, mod: now.mod}
	} else {
		delete(l.known, path)
	}
	switch {
	case l.products[path], same, !had && !now.exists:
		return false
	case !running:
		delete(l.during, path)
		return true
	case !had || now.object:
		l.products[path] = true
		return false
	case !now.exists:
		return false // the command cleans up
	}
	if l.during[path]++; l.during[path] >= maxRunsChanged {
		l.products[path] = true
		return false
	}
	return true
}

// objectMagic holds the first bytes of programs, object files, archives and class files.
var objectMagic = [][]byte{
	[]byte("\x7fELF"), []byte("!<arch>\n"), {0xcf, 0xfa, 0xed, 0xfe}, {0xca, 0xfe, 0xba, 0xbe}, {'M', 'Z'},
}

func isObject(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 8)
	n, _ := io.ReadFull(f, head)
	for _, m := range objectMagic {
		if bytes.HasPrefix(head[:n], m) {
			return true
		}
	}
	return false
}
