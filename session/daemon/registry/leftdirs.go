//go:build unix

package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/journal"
)

// removedSuffix marks directories of sessions that are being removed: a daemon that is killed
// meanwhile leaves one that is not taken for a session.
const removedSuffix = ".removed"

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
		id, removed := strings.CutSuffix(dir.Name(), removedSuffix)
		if !removed && !a.isHalfMade(dir.Name(), path) || removed && a.reg.unforgotten.has(id) {
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

// A session that is removed stays so on a disk that is full:
//
//	its directory gets the name of a removed one → its record → what is in the directory → [its record] → the directory
//
// The new name needs no room and is what counts from then on. What was in the directory makes the room that the database needs
// for taking a record out. Where that is refused all the same, the empty directory stays, and the record goes later: when
// the next session is made, with maintenance, or when a daemon starts.

// unforgotten are sessions that were removed and whose records could not be.
type unforgotten struct {
	mu  sync.Mutex
	ids map[string]bool
}

func (u *unforgotten) has(id string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ids[id]
}

func (u *unforgotten) note(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ids == nil {
		u.ids = map[string]bool{}
	}
	u.ids[id] = true
}

func (u *unforgotten) drop(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.ids, id)
}

func (u *unforgotten) all() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Collect(maps.Keys(u.ids))
}

// erase removes a session's directory and its record.
func (h *Registry) erase(ctx context.Context, id string) error {
	dir := h.dirs.Session(id)
	gone := dir + removedSuffix
	err := os.Rename(dir, gone)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err != nil { // it would be found again, by its manifest
		return errors.Join(err, h.forgetRecord(ctx, id))
	}
	kept := h.forgetRecord(ctx, id)
	if err = emptyDir(gone); kept != nil {
		kept = h.forgetRecord(ctx, id)
	}
	if kept != nil && os.MkdirAll(gone, 0o700) == nil {
		h.unforgotten.note(id)
		h.log.Warn("a removed session's record is removed later", "session", id, "err", kept)
		return err
	}
	return errors.Join(err, kept, os.RemoveAll(gone))
}

// forgetRecord takes a session's record out of the database; nil: there is none.
func (h *Registry) forgetRecord(ctx context.Context, id string) error {
	if err := h.store.DeleteSession(ctx, id); err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}

// emptyDir removes what is in a directory, if there is one.
func emptyDir(dir string) error {
	all, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range all {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// forgetAgain tries to remove the records that could not be when their sessions were, and is why they still cannot be.
func (h *Registry) forgetAgain(ctx context.Context) error {
	for _, id := range h.unforgotten.all() {
		if err := h.forgetRecord(ctx, id); err != nil {
			return err
		}
		if err := os.RemoveAll(h.dirs.Session(id) + removedSuffix); err != nil {
			h.log.Error("remove a directory left over", "session", id, "err", err)
		}
		h.unforgotten.drop(id)
	}
	return nil
}

// findRemoved notes the sessions whose removal a daemon before this one did not come to an end with.
func (h *Registry) findRemoved() error {
	dirs, err := os.ReadDir(h.dirs.Sessions())
	if err != nil {
		return fmt.Errorf("sessions' directories: %w", err)
	}
	for _, dir := range dirs {
		if id, ok := strings.CutSuffix(dir.Name(), removedSuffix); ok {
			h.unforgotten.note(id)
		}
	}
	return nil
}
