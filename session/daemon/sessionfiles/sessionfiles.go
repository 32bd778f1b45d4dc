//go:build unix

// Package sessionfiles keeps copies of files with sessions: what clients put there for the session's programs to read.
//
//	name → SafeName → part of a file → within limits? → synced → free name → sessions/ID/files/NAME
//
// A stored file is complete and is never replaced. Its session's removal removes it, because it is in the session's
// directory. Any goroutine may use a Store. Its lock guards the count of bytes; nothing is read or written under it except
// the names of a session's directory.
package sessionfiles

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Limits bound stored files, in bytes. 0 is no limit.
type Limits struct{ File, Total int64 }

// maxFiles bounds the files of a session.
const maxFiles = 10_000

// chunk is the size of reads and writes.
const chunk = 256 << 10

// Store keeps the files of all sessions.
type Store struct {
	dirs paths.Dirs

	mu     sync.Mutex
	active map[string]*usage // by session: those that receive a file now
}

// usage counts the bytes of a session's files while some arrive.
type usage struct {
	puts  int
	bytes int64
	parts map[string]bool // paths of incomplete files
}

// New returns the store of the files below the state directory.
func New(dirs paths.Dirs) *Store { return &Store{dirs: dirs, active: map[string]*usage{}} }

// Dir returns the directory of a session's files. It exists once a file was put, or the session has a sandbox.
func (s *Store) Dir(id string) string { return s.dirs.SessionFiles(id) }

// Put stores a file with a session. size is that of the body, -1 if unknown.
func (s *Store) Put(id, name string, size int64, l Limits, body io.Reader) (api.StoredFile, error) {
	name, err := SafeName(name)
	if err != nil {
		return api.StoredFile{}, err
	}
	dir := s.Dir(id)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return api.StoredFile{}, storeError(err, dir)
	}
	u, err := s.register(id)
	if err != nil {
		return api.StoredFile{}, err
	}
	defer s.unregister(id, u)
	if err := s.fits(u, size, max(size, 0), l); err != nil {
		return api.StoredFile{}, err
	}
	p, err := s.part(u, dir)
	if err != nil {
		return api.StoredFile{}, storeError(err, dir)
	}
	sum, n, err := s.fill(p, u, body, l)
	if err == nil {
		name, err = moveToFreeName(p, dir, name)
	}
	if err != nil {
		s.add(u, -n)
		return api.StoredFile{}, errors.Join(err, p.Drop())
	}
	return api.StoredFile{Name: name, Path: filepath.Join(dir, name), Size: n, SHA256: hex.EncodeToString(sum), Stored: time.Now()}, nil
}

// register counts a session's files, unless others arrive already.
func (s *Store) register(id string) (*usage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.active[id]
	if u == nil {
		list, err := s.List(id)
		if err != nil {
			return nil, storeError(err, s.Dir(id))
		}
		if len(list) >= maxFiles {
			return nil, api.Errorf(api.CodeLimit, "not stored: the session has %d files", len(list)).
				WithHint("remove some from %s", s.Dir(id))
		}
		u = &usage{parts: map[string]bool{}}
		for i := range list {
			u.bytes += list[i].Size
		}
		s.active[id] = u
	}
	u.puts++
	return u, nil
}

// unregister forgets the count once no file arrives.
func (s *Store) unregister(id string, u *usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.puts--; u.puts == 0 {
		delete(s.active, id)
	}
}

// part creates the incomplete file, which clear does not remove.
func (s *Store) part(u *usage, dir string) (*atomicfile.Pending, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := atomicfile.Create(dir, 0o600)
	if err == nil {
		u.parts[p.Name()] = true
	}
	return p, err
}

func (s *Store) add(u *usage, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.bytes += n
}

// fits rejects a file of a size over the limits. more of its bytes are not counted yet.
func (s *Store) fits(u *usage, size, more int64, l Limits) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case l.File > 0 && size > l.File:
		return api.Errorf(api.CodeLimit, "not stored: file larger than %s (files.max_size)", bytesText(l.File)).
			WithHint("the user of that host raises it with `longterm config set files.max_size SIZE`")
	case l.Total > 0 && u.bytes+more > l.Total:
		return api.Errorf(api.CodeLimit, "not stored: files of the session larger than %s (files.max_total)", bytesText(l.Total)).
			WithHint("remove some (`longterm get S` lists them), or the user of that host raises it with `longterm config set files.max_total SIZE`")
	}
	return nil
}

// fill writes the body within the limits. It returns the number of counted bytes also with an error.
func (s *Store) fill(p *atomicfile.Pending, u *usage, body io.Reader, l Limits) (sum []byte, total int64, err error) {
	h, buf := sha256.New(), make([]byte, chunk)
	for {
		n, readErr := body.Read(buf)
		if n > 0 {
			if err := s.fits(u, total+int64(n), int64(n), l); err != nil {
				return nil, total, err
			}
			s.add(u, int64(n))
			total += int64(n)
			h.Write(buf[:n])
			if _, err := p.Write(buf[:n]); err != nil {
				return nil, total, storeError(err, filepath.Dir(p.Name()))
			}
		}
		switch {
		case errors.Is(readErr, io.EOF):
			return h.Sum(nil), total, nil
		case readErr != nil:
			return nil, total, api.Errorf(api.CodeUnavailable, "not stored: interrupted after %d bytes (%v)", total, readErr).WithHint("repeat it")
		}
	}
}

// moveToFreeName gives a complete file its name, or a numbered one if that name is taken. It returns the name.
func moveToFreeName(p *atomicfile.Pending, dir, name string) (string, error) {
	for n := 1; n <= maxFiles; n++ {
		try := addNumber(name, n)
		err := p.Keep(filepath.Join(dir, try), false)
		if err == nil {
			return try, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", storeError(err, dir)
		}
	}
	return "", api.Errorf(api.CodeLimit, "not stored: %d files are named like %s", maxFiles, name).WithHint("choose another name (--as)")
}

// List returns the complete files of a session, by name. A session without any has an empty list.
func (s *Store) List(id string) ([]api.StoredFile, error) {
	dir := s.Dir(id)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	list := []api.StoredFile{}
	for _, e := range entries {
		st, err := e.Info()
		if err != nil || !st.Mode().IsRegular() || atomicfile.IsPending(e.Name()) {
			continue // removed in the meantime, or not ours
		}
		list = append(list, api.StoredFile{Name: e.Name(), Path: filepath.Join(dir, e.Name()), Size: st.Size(), Stored: st.ModTime()})
	}
	return list, nil
}

// Clear removes incomplete files that a killed daemon left.
func (s *Store) Clear(log *slog.Logger) {
	all, err := filepath.Glob(filepath.Join(escapeGlob(s.dirs.Sessions()), "*", filepath.Base(s.Dir("")), ".*"))
	if err != nil {
		log.Error("look for incomplete files", "err", err)
	}
	for _, path := range all {
		if atomicfile.IsPending(filepath.Base(path)) && !s.isArriving(path) {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				log.Error("remove an incomplete file", "path", path, "err", err)
			}
		}
	}
}

func (s *Store) isArriving(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.active {
		if u.parts[path] {
			return true
		}
	}
	return false
}

// escapeGlob quotes the characters of a directory that have a meaning in patterns.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// storeError describes a failed write to a session's directory.
func storeError(err error, dir string) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) { // the path is of a part, which is removed
		err = at.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return api.Errorf(api.CodeNotFound, "not stored: the session was removed").WithHint("`longterm ls` lists the sessions")
	case slices.ContainsFunc([]error{syscall.ENOSPC, syscall.EDQUOT}, func(full error) bool { return errors.Is(err, full) }):
		return api.Errorf(api.CodeStorage, "not stored: disk full (%v)", err).
			WithHint("%s is on that disk; free space with `longterm rm` and `longterm prune`", dir)
	}
	return api.Errorf(api.CodeStorage, "not stored: %v", err).WithHint("see whether %s can be written", dir)
}

// bytesText returns a limit as the configuration takes it.
func bytesText(n int64) string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		if size := int64(1) << (30 - 10*i); n >= size && n%size == 0 {
			return fmt.Sprintf("%d%s", n/size, unit)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
