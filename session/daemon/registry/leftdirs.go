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

// removedSuffix marks directories of sessions that are being removed, so that a killed daemon leaves none that looks
// like a session.
const removedSuffix = ".removed"

// clearLeftovers removes directories of half-removed sessions, and of half-created ones without output, that killed
// daemons left. Call it after the keepers were queried; it keeps what a silent keeper may have.
func (a *adoption) clearLeftovers() {
	root := a.reg.dirs.Sessions()
	dirs, err := os.ReadDir(root)
	if err != nil {
		a.reg.log.Error("look for directories left over", "err", err)
		return
	}
	for _, silent := range a.unanswered {
		if silent {
			return
		}
	}
	for _, dir := range dirs {
		path := filepath.Join(root, dir.Name())
		id, removed := strings.CutSuffix(dir.Name(), removedSuffix)
		if !removed && !a.isHalfCreated(dir.Name(), path) || removed && a.reg.undeleted.has(id) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			a.reg.log.Error("remove a directory left over", "dir", path, "err", err)
			continue
		}
		a.reg.log.Info("removed a directory that a killed daemon left", "dir", path)
	}
}

// isHalfCreated reports whether a directory is of a session that was recorded without output.
func (a *adoption) isHalfCreated(id, path string) bool {
	if a.reg.ByID(id) != nil || a.found[id] {
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

// Removing a session also works on a full disk:
//
//	rename its directory → delete its record → empty the directory → [delete the record] → delete the directory
//
// The rename needs no space and decides. Emptying the directory frees the space that the database needs to delete the
// record. If that still fails, the empty directory stays, and the record is deleted later: at the next start of a
// session, by maintenance, or by the next daemon.

// undeleted holds the IDs of removed sessions whose records could not be deleted.
type undeleted struct {
	mu  sync.Mutex
	ids map[string]bool
}

func (u *undeleted) has(id string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ids[id]
}

func (u *undeleted) note(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ids == nil {
		u.ids = map[string]bool{}
	}
	u.ids[id] = true
}

func (u *undeleted) drop(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.ids, id)
}

func (u *undeleted) all() []string {
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
		h.undeleted.note(id)
		h.log.Warn("a removed session's record is removed later", "session", id, "err", kept)
		return err
	}
	return errors.Join(err, kept, os.RemoveAll(gone))
}

// forgetRecord deletes a session's record, if it exists.
func (h *Registry) forgetRecord(ctx context.Context, id string) error {
	if err := h.store.DeleteSession(ctx, id); err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}

// emptyDir removes the contents of a directory, if it exists.
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

// retryDelete retries to delete the records of removed sessions, and returns the error of the first that fails.
func (h *Registry) retryDelete(ctx context.Context) error {
	for _, id := range h.undeleted.all() {
		if err := h.forgetRecord(ctx, id); err != nil {
			return err
		}
		if err := os.RemoveAll(h.dirs.Session(id) + removedSuffix); err != nil {
			h.log.Error("remove a directory left over", "session", id, "err", err)
		}
		h.undeleted.drop(id)
	}
	return nil
}

// findRemoved finds the sessions whose removal a previous daemon did not finish.
func (h *Registry) findRemoved() error {
	dirs, err := os.ReadDir(h.dirs.Sessions())
	if err != nil {
		return fmt.Errorf("sessions' directories: %w", err)
	}
	for _, dir := range dirs {
		if id, ok := strings.CutSuffix(dir.Name(), removedSuffix); ok {
			h.undeleted.note(id)
		}
	}
	return nil
}
