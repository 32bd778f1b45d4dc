// Package filewatch reports which files of a directory tree changed, for commands that run again after changes.
//
//	fsnotify, a watch for each directory ──→ paths ── Filter ──→ ledger ── debounce ──→ Changes
//
// One goroutine reads events and owns the ledger; Close waits for it. Paths are relative to the root, with slashes.
package filewatch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Options configure a watch.
type Options struct {
	Root     string
	Filter   *Filter
	Debounce time.Duration // time without changes before they are reported
	Except   []os.FileInfo // files to ignore: those that the watcher's own output goes to
}

// Tree watches a directory tree.
type Tree struct {
	o       Options
	w       *fsnotify.Watcher
	ledger  ledger
	running atomic.Bool
	changes chan []string
	failed  chan error
	stop    chan struct{}
	stopped chan struct{}
	touched map[string]bool // changed paths since the last batch; true: changed while the command ran
}

// Open starts a watch. Changes after it returns are reported.
func Open(o Options) (*Tree, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	t := &Tree{
		o: o, w: w, ledger: newLedger(), changes: make(chan []string), failed: make(chan error, 1),
		stop: make(chan struct{}), stopped: make(chan struct{}), touched: map[string]bool{},
	}
	if err := t.add(o.Root, func(rel string) { t.ledger.addKnown(rel, t.stamp(rel)) }); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	go t.run()
	return t, nil
}

// Changes yields the paths that changed, a batch at a time. While a batch is not received,
// later changes join it.
func (t *Tree) Changes() <-chan []string { return t.changes }

// Errors yields an error that ends the watch.
func (t *Tree) Errors() <-chan error { return t.failed }

// SetRunning records whether the command runs: its own writes are not changes of the user.
func (t *Tree) SetRunning(on bool) { t.running.Store(on) }

// Close ends the watch.
func (t *Tree) Close() error {
	close(t.stop)
	<-t.stopped
	return t.w.Close()
}

// add watches a directory and all below it, and calls file with each file in them.
func (t *Tree) add(dir string, file func(rel string)) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if path == t.o.Root {
				return fmt.Errorf("watch files: %w", err)
			}
			return nil // removed, or not readable
		}
		rel := t.rel(path)
		if !d.IsDir() {
			if t.o.Filter.Wants(rel) {
				file(rel)
			}
			return nil
		}
		if rel != "." && t.o.Filter.Prunes(rel) {
			return filepath.SkipDir
		}
		switch err := t.w.Add(path); {
		case err == nil, errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission) && path != t.o.Root:
			return nil
		case errors.Is(err, syscall.ENOSPC):
			return fmt.Errorf("watch %s: system limit of watched directories reached; exclude some with --ignore, or raise fs.inotify.max_user_watches", path)
		default:
			return fmt.Errorf("watch %s: %w", path, err)
		}
	})
}

func (t *Tree) rel(path string) string {
	rel, err := filepath.Rel(t.o.Root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// stamp returns the current version of a file.
func (t *Tree) stamp(rel string) stamp {
	info, err := os.Stat(filepath.Join(t.o.Root, filepath.FromSlash(rel)))
	if err != nil || info.IsDir() || slices.ContainsFunc(t.o.Except, func(e os.FileInfo) bool { return os.SameFile(e, info) }) {
		return stamp{}
	}
	return stamp{exists: true, size: info.Size(), mod: info.ModTime()}
}

// run is the goroutine that reads events.
func (t *Tree) run() {
	defer close(t.stopped)
	quiet := time.NewTimer(0)
	<-quiet.C
	var batch []string
	for {
		out := t.changes
		if len(batch) == 0 {
			out = nil
		}
		select {
		case <-t.stop:
			return
		case e, ok := <-t.w.Events:
			if !ok {
				return
			}
			if t.event(e) {
				quiet.Reset(t.o.Debounce)
			}
		case err := <-t.w.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				t.failed <- fmt.Errorf("watch files: %w", err)
				return
			}
			t.rescan()
			quiet.Reset(t.o.Debounce)
		case <-quiet.C:
			batch = merge(batch, t.takeChanges())
		case out <- batch:
			batch = nil
		}
	}
}

// event records a changed path and reports whether it matters.
func (t *Tree) event(e fsnotify.Event) bool {
	rel := t.rel(e.Name)
	if e.Op == fsnotify.Chmod || t.o.Filter.Prunes(rel) {
		return false
	}
	if info, err := os.Lstat(e.Name); err == nil && info.IsDir() {
		if e.Op.Has(fsnotify.Create) {
			_ = t.add(e.Name, t.touch) // removed again, or too many: keep watching the rest
		}
		return len(t.touched) > 0
	}
	if !t.o.Filter.Wants(rel) {
		return false
	}
	t.touch(rel)
	return true
}

// touch records that a path changed.
func (t *Tree) touch(rel string) { t.touched[rel] = t.touched[rel] || t.running.Load() }

// rescan checks all files after the watcher has lost events.
func (t *Tree) rescan() {
	for rel := range t.ledger.known {
		t.touch(rel)
	}
	_ = t.add(t.o.Root, t.touch)
}

// takeChanges returns the user's changes among the touched paths.
func (t *Tree) takeChanges() []string {
	var changed []string
	for rel, running := range t.touched {
		s := t.stamp(rel)
		if running && s.exists {
			s.object = isObject(filepath.Join(t.o.Root, filepath.FromSlash(rel)))
		}
		if t.ledger.isUserChange(rel, s, running) {
			changed = append(changed, rel)
		}
	}
	clear(t.touched)
	slices.Sort(changed)
	return changed
}

func merge(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
