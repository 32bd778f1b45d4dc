package rulebook

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// maxKept bounds the copies of projects' files; the oldest go first.
const maxKept = maxProjects

// keptPath is where the last content of a file that was in order is kept; "" where none is.
func (b *Book) keptPath(k *known) string {
	if b.o.Kept == "" || !k.project {
		return b.o.Kept
	}
	return filepath.Join(b.o.Kept+".projects", HashOf([]byte(k.path))+".toml")
}

// kept is the last one of a file that was in order, as this or another process has read it; nil: none.
func (b *Book) kept(k *known) *File {
	path := b.keptPath(k)
	if path == "" {
		return nil
	}
	last, err := read(path)
	if err != nil {
		return nil
	}
	f, err := Decode(k.path, last.src, k.project)
	if err != nil {
		return nil
	}
	return f
}

// keep has a copy of a file for the time that it has mistakes: every process is to judge by the same, and after a restart too.
// src nil takes it away.
func (b *Book) keep(k *known, src []byte) {
	path := b.keptPath(k)
	if path == "" || src == nil && !b.o.Keep && time.Since(goneSince(k.path, time.Now())) < goneTime {
		return // a process that has just begun has not seen for how long it is gone: an editor may be writing it
	}
	if err := keepAt(path, src, k.project); err != nil {
		b.o.Log.Warn("keep the rules", "err", err)
		return
	}
	k.isKept = src != nil
}

// forget has the last one that was in order forgotten where another process has seen that the file was deleted since.
func (b *Book) forget(k *known) {
	if path := b.keptPath(k); k.isKept && path != "" && missing(lstat(path)) {
		k.file, k.isKept = nil, false
	}
}

// ProjectProblems are the files of projects that were looked at and have mistakes, as they are now.
func (b *Book) ProjectProblems() (all []FileStatus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(b.projects)) {
		k := b.projects[path]
		b.look(k, false)
		if len(k.problems) > 0 {
			all = append(all, k.status())
		}
	}
	return all
}

func keepAt(path string, src []byte, project bool) error {
	if src == nil {
		if err := os.Remove(path); !missing(err) {
			return err
		}
		return nil
	}
	if old, err := read(path); err == nil && bytes.Equal(old.src, src) {
		return nil
	}
	if project {
		if err := makeRoom(filepath.Dir(path)); err != nil {
			return err
		}
	}
	return atomicfile.Write(path, atomicfile.Options{Sync: atomicfile.Content}, src)
}

// makeRoom makes a directory for one more copy.
func makeRoom(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < maxKept {
		return err
	}
	age := func(e fs.DirEntry) time.Time {
		st, err := e.Info()
		if err != nil {
			return time.Time{}
		}
		return st.ModTime()
	}
	oldest := slices.MinFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(age(a).UnixNano(), age(b).UnixNano()) })
	if err := os.Remove(filepath.Join(dir, oldest.Name())); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// goneSince is since when at least a file that is not there is gone: nothing in its directory has changed since.
func goneSince(path string, now time.Time) time.Time {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		st, err := os.Stat(dir)
		if missing(err) && dir != filepath.Dir(dir) {
			continue // it went with the file
		}
		if err == nil && st.ModTime().Before(now) {
			return st.ModTime()
		}
		return now
	}
}

// goneFrom are files of projects that a subject is in which were there when they were last looked at, and are not any more: they
// count until they have been gone for a while, and are forgotten then. What stands there next begins anew.
func (b *Book) goneFrom(s *Subject) (gone []string) {
	cwd := ""
	for p, k := range b.projects {
		if !k.there || slices.Contains(s.Seen.projects, p) {
			continue
		}
		if cwd == "" {
			if cwd = s.Cwd; !s.Real && filepath.IsAbs(cwd) {
				cwd = resolved(reachable(cwd))
			}
		}
		root := strings.TrimSuffix(p, string(filepath.Separator)+place)
		if policy.InRoots(cwd, []string{root}) || policy.InRoots(s.Start, []string{root}) {
			gone = append(gone, p)
		}
	}
	slices.Sort(gone)
	return gone
}
