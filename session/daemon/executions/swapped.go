//go:build unix

package executions

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// A user may take hours to answer, and the kernel opens the file only afterwards. The approval holds only for the file
// that existed when it was requested.

// fileIdentity identifies a file that an execution runs.
type fileIdentity struct {
	path string
	id   contentID
}

// filesOf returns the executed file, and the interpreters and programs that it runs.
func filesOf(a *authorize.Request, file sys.ResolvedFile) []fileIdentity {
	at := file.LocalPath
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

// hashFiles returns a hash of files that stays the same in the next daemon.
func hashFiles(files []fileIdentity) uint64 {
	h := fnv.New64a()
	for _, f := range files {
		_, _ = fmt.Fprintln(h, f.path, f.id.dev, f.id.ino, f.id.size, f.id.changed.UnixNano(), f.id.inode.UnixNano()) // never fails
	}
	return h.Sum64()
}

// checkUnswapped refuses an allowed execution if its files are no longer those that were approved.
func (s *Set) checkUnswapped(ctx context.Context, m *wire.Execution, asked authorize.Request, files []fileIdentity) error {
	now, file, err := s.request(m)
	if missingErrno(err) != 0 {
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
	return s.Gate.Refuse(ctx, asked, authorize.ErrSwapped(path))
}
