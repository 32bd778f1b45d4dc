//go:build unix

package executions

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// A person may take hours to answer, and the kernel opens the file only then. What was allowed is the file that was there
// when the question was asked.

// fileIdentity is a file that an execution runs.
type fileIdentity struct {
	path string
	id   identity
}

// filesOf are the file that is executed, and the interpreters and programs that it is executed by or hands over to.
func filesOf(a *gateway.Ask, file sys.File) []fileIdentity {
	at := file.At
	if at == "" {
		at = a.Path
	}
	id, _ := identify(at)
	files := []fileIdentity{{a.Path, id}}
	for _, argv := range slices.Concat(a.Scripts, a.Also) {
		id, _ := identify(argv[0])
		files = append(files, fileIdentity{argv[0], id})
	}
	return files
}

// markOf tells files from others, over a restart of the daemon too.
func markOf(files []fileIdentity) uint64 {
	h := fnv.New64a()
	for _, f := range files {
		_, _ = fmt.Fprintln(h, f.path, f.id.dev, f.id.ino, f.id.size, f.id.changed.UnixNano(), f.id.inode.UnixNano()) // never fails
	}
	return h.Sum64()
}

// stillThat refuses an execution that was allowed when it would run other files now than those that were asked about.
func (s *Set) stillThat(ctx context.Context, m *wire.Execution, asked gateway.Ask, files []fileIdentity) error {
	now, file, err := s.ask(m)
	if missing(err) != 0 {
		return nil // the kernel finds nothing, either
	}
	found := filesOf(&now, file)
	if slices.Equal(found, files) {
		return nil
	}
	path := asked.Path
	for i, f := range files {
		if i >= len(found) || found[i] != f {
			path = f.path
			break
		}
	}
	return s.Gate.Refuse(ctx, asked, gateway.Swapped(path))
}
