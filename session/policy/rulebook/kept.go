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

// maxCopies bounds the copies of projects' files; the oldest go first.
const maxCopies = maxProjects

// copyPath returns where the last valid content of a file is stored, or "".
func (b *Book) copyPath(k *fileState) string {
	if b.o.LastGoodCopy == "" || !k.project {
		return b.o.LastGoodCopy
	}
	return filepath.Join(b.o.LastGoodCopy+".projects", HashOf([]byte(k.path))+".toml")
}

// lastGood returns the last valid version of a file that this or another process read, or nil.
func (b *Book) lastGood(k *fileState) *File {
	path := b.copyPath(k)
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

// saveCopy stores a copy of a file for times with errors, so that every process uses the same rules, also after a
// restart. src nil removes it.
func (b *Book) saveCopy(k *fileState, src []byte) {
	path := b.copyPath(k)
	if path == "" || src == nil && !b.o.MayDeleteCopy && time.Since(missingSinceAtLatest(k.path, time.Now())) < missingTime {
		return // a new process does not know how long it is missing: an editor may be writing it
	}
	if err := writeCopy(path, src, k.project); err != nil {
		b.o.Log.Warn("keep the rules", "err", err)
		return
	}
	k.hasCopy = src != nil
}

// forget drops the last valid version if another process saw that the file was deleted.
func (b *Book) forget(k *fileState) {
	if path := b.copyPath(k); k.hasCopy && path != "" && isMissing(lstat(path)) {
		k.file, k.hasCopy = nil, false
	}
}

// ProjectProblems returns the current state of known project files with errors.
func (b *Book) ProjectProblems() (all []FileStatus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(b.projects)) {
		k := b.projects[path]
		b.reloadIfChanged(k, false)
		if len(k.problems) > 0 {
			all = append(all, k.status())
		}
	}
	return all
}

// writeCopy writes a copy of a rule file, or removes it if src is nil.
func writeCopy(path string, src []byte, project bool) error {
	if src == nil {
		if err := os.Remove(path); !isMissing(err) {
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

// makeRoom removes the oldest copies in a directory until one more fits.
func makeRoom(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < maxCopies {
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

// missingSinceAtLatest returns a time before which a missing file must have been removed: its directory has not changed
// since.
func missingSinceAtLatest(path string, now time.Time) time.Time {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		st, err := os.Stat(dir)
		if isMissing(err) && dir != filepath.Dir(dir) {
			continue // it went with the file
		}
		if err == nil && st.ModTime().Before(now) {
			return st.ModTime()
		}
		return now
	}
}

// missingProjects returns project files of a subject that existed at the last check and are missing now. They count until they
// are missing for a while, and are then forgotten. A later file starts fresh.
func (b *Book) missingProjects(s *Subject) (lost []string) {
	cwd := ""
	for p, k := range b.projects {
		if !k.existed || slices.Contains(s.Cache.projects, p) {
			continue
		}
		if cwd == "" {
			if cwd = s.Cwd; !s.IsCwdResolved && filepath.IsAbs(cwd) {
				cwd = resolve(clampDepth(cwd))
			}
		}
		root := strings.TrimSuffix(p, string(filepath.Separator)+projectPolicy)
		if policy.InRoots(cwd, []string{root}) || policy.InRoots(s.StartDir, []string{root}) {
			lost = append(lost, p)
		}
	}
	slices.Sort(lost)
	return lost
}
