//go:build unix

package registry

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/journal"
)

// removedSuffix marks directories of sessions that are being removed: a daemon that is killed
// meanwhile leaves one that is not taken for a session.
const removedSuffix = ".removed"

// removeSessionDir removes a session's directory.
func removeSessionDir(dir string) error {
	if err := os.Rename(dir, dir+removedSuffix); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.RemoveAll(dir + removedSuffix)
}

// clearLeftovers removes the directories that killed daemons left: of sessions half removed,
// and of sessions half made, which have printed nothing. Called once it is known what keepers
// have; what a silent one may have stays.
func (a *adoption) clearLeftovers() {
	root := a.reg.dirs.Sessions()
	dirs, err := os.ReadDir(root)
	if err != nil {
		a.reg.log.Error("look for directories left over", "err", err)
		return
	}
	for _, silent := range a.silent {
		if silent {
			return
		}
	}
	for _, dir := range dirs {
		path := filepath.Join(root, dir.Name())
		if !strings.HasSuffix(dir.Name(), removedSuffix) && !a.isHalfMade(dir.Name(), path) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			a.reg.log.Error("remove a directory left over", "dir", path, "err", err)
			continue
		}
		a.reg.log.Info("removed a directory that a killed daemon left", "dir", path)
	}
}

func (a *adoption) isHalfMade(id, path string) bool {
	if a.reg.ByID(id) != nil || a.kept[id] {
		return false
	}
	if _, err := os.Lstat(filepath.Join(path, store.ManifestName)); !errors.Is(err, os.ErrNotExist) {
		return false
	}
	history := filepath.Join(path, "journal")
	if _, err := os.Lstat(history); errors.Is(err, os.ErrNotExist) {
		return uuid.Validate(id) == nil
	}
	j, _, err := journal.Open(history, journal.Options{})
	if err != nil {
		return false
	}
	return j.End() == 0 && j.Close() == nil
}
