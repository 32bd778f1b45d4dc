package filewatch

import (
	"bytes"
	"io"
	"os"
	"time"
)

// stamp is what tells a file from what it was.
type stamp struct {
	exists bool
	size   int64
	mod    time.Time
	object bool // it is a program or an object file; known of files written while the command runs
}

// ledger knows the files and tells a person's changes from what the command itself
// writes. It is a pure machine.
//
// What appears while the command runs is its product. So is an object file that changes
// then, and any file that changes in three runs one after the other: their changes start
// no run.
type ledger struct {
	known    map[string]stamp
	products map[string]bool
	during   map[string]int // runs in succession in which a file changed
}

// maxDuring is in how many runs one after the other a source may change.
const maxDuring = 3

func newLedger() ledger {
	return ledger{known: map[string]stamp{}, products: map[string]bool{}, during: map[string]int{}}
}

func (l *ledger) know(path string, s stamp) { l.known[path] = s }

// judge reports if a path that was touched is a change that matters.
func (l *ledger) judge(path string, now stamp, running bool) bool {
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
	if l.during[path]++; l.during[path] >= maxDuring {
		l.products[path] = true
		return false
	}
	return true
}

// objectMagic begins programs, object files, archives and class files.
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
