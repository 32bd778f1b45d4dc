package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func openTest(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// full is a session with every field set.
func full(id string) Session {
	code := 3
	at := time.Unix(1_700_000_000, 123_456_789)
	return Session{
		ID: id, Name: "name of " + id, Argv: []string{"make", "-C", "a b", "ü\n\""}, Shell: true, Cwd: "/srv/ü",
		Env: []string{"A=1", "B="}, Labels: map[string]string{"team": "red"}, Cols: 132, Rows: 43,
		Engine: "vt10x", Keeper: "main", Pipe: true, Temporary: true, Restore: "shell",
		Policy: "readonly", Agent: "claude", Call: "c1", RequestDigest: "5e11",
		PID: 4711, State: "exited", ExitCode: &code, Signal: "SIGKILL", Stopped: true, Title: "make: done",
		Created: at, Started: at.Add(1), Ended: at.Add(time.Hour),
		User: time.Second, System: 2 * time.Second, MaxRSS: 1 << 33, ProgramFrom: 1 << 40,
	}
}

// TestFullIsFull checks that every field is set here, so that no new field is missing in the columns.
func TestFullIsFull(t *testing.T) {
	v := reflect.ValueOf(full("x"))
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s is not set", v.Type().Field(i).Name)
		}
	}
	if v.NumField() != len(sessionColumns) {
		t.Errorf("%d fields, %d columns", v.NumField(), len(sessionColumns))
	}
}

// FEATURES: R90
func TestSessions(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "a?b#c%20 ü", "longterm.db")
	must(t, os.Mkdir(filepath.Dir(path), 0o700))
	s := openTest(t, path)
	one, two := full("1"), Session{ID: "2", Name: "two", State: "running", Created: time.Unix(5, 0)}
	must(t, s.CreateSession(ctx, one))
	must(t, s.CreateSession(ctx, two))
	must(t, s.Close())

	s = openTest(t, path)
	if s.RecoveredFrom() != "" {
		t.Errorf("recovered %s", s.RecoveredFrom())
	}
	got, err := s.Sessions(ctx)
	must(t, err)
	if want := []Session{two, one}; !reflect.DeepEqual(got, want) {
		t.Errorf("sessions\n%+v\nwant\n%+v", got, want)
	}
	one.ExitCode, one.Ended, one.Name = nil, time.Time{}, "renamed"
	must(t, s.UpdateSession(ctx, one))
	again, err := s.Session(ctx, "1")
	must(t, err)
	if !reflect.DeepEqual(again, one) {
		t.Errorf("session\n%+v\nwant\n%+v", again, one)
	}
	must(t, s.DeleteSession(ctx, "1"))
	if left, err := s.Sessions(ctx); len(left) != 1 || err != nil {
		t.Errorf("left %v %v", left, err)
	}
}

func TestTypedErrors(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, filepath.Join(t.TempDir(), "longterm.db"))
	must(t, s.CreateSession(ctx, Session{ID: "1", Name: "a"}))
	must(t, s.CreateSession(ctx, Session{ID: "2", Name: "b"}))
	_, missing := s.Session(ctx, "9")
	for name, c := range map[string]struct{ got, want error }{
		"create with a name taken": {s.CreateSession(ctx, Session{ID: "3", Name: "a"}), ErrNameTaken},
		"create with an id taken":  {s.CreateSession(ctx, Session{ID: "1", Name: "c"}), ErrExists},
		"rename to a name taken":   {s.UpdateSession(ctx, Session{ID: "2", Name: "a"}), ErrNameTaken},
		"update none":              {s.UpdateSession(ctx, Session{ID: "9", Name: "x"}), ErrNotFound},
		"delete none":              {s.DeleteSession(ctx, "9"), ErrNotFound},
		"read none":                {missing, ErrNotFound},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on Windows")
	}
	dir := t.TempDir()
	s := openTest(t, filepath.Join(dir, "longterm.db"))
	must(t, s.CreateSession(context.Background(), full("1")))
	must(t, WriteManifest(dir, full("1")))
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 4 {
		t.Errorf("%v", entries)
	}
	for _, e := range entries {
		if st, err := e.Info(); err != nil || st.Mode() != 0o600 {
			t.Errorf("%s: %v %v", e.Name(), st.Mode(), err)
		}
	}
}

// TestCorrupt opens a corrupt database. It is quarantined, and only its content is lost.
//
// FEATURES: R93
func TestCorrupt(t *testing.T) {
	ctx := context.Background()
	for name, damage := range map[string]func(b []byte) []byte{
		"no database":  func([]byte) []byte { return []byte(strings.Repeat("not a database ", 100)) },
		"bad header":   func(b []byte) []byte { copy(b, "SQLite format 9"); return b },
		"bad schema":   func(b []byte) []byte { clear(b[100:4096]); return b },
		"bad pages":    func(b []byte) []byte { fill(b[4096:], 0xff); return b },
		"half is gone": func(b []byte) []byte { return b[:len(b)/2] },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "longterm.db")
			s := openTest(t, path)
			for i := range 100 {
				must(t, s.CreateSession(ctx, full(fmt.Sprint(i))))
			}
			must(t, s.Close())
			b, err := os.ReadFile(path)
			must(t, err)
			bad := damage(b)
			must(t, os.WriteFile(path, bad, 0o600))

			s = openTest(t, path)
			if all, err := s.Sessions(ctx); len(all) != 0 || err != nil {
				t.Errorf("%d sessions, %v", len(all), err)
			}
			if !strings.HasPrefix(s.RecoveredFrom(), path+".corrupt-") {
				t.Errorf("recovered %q", s.RecoveredFrom())
			}
			if kept, err := os.ReadFile(s.RecoveredFrom()); err != nil || !bytes.Equal(kept, bad) {
				t.Errorf("the corrupt database is not kept: %v", err)
			}
			must(t, s.CreateSession(ctx, full("new")))
		})
	}
}

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

func TestNewerSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "longterm.db")
	s := openTest(t, path)
	_, err := s.db.Exec("PRAGMA user_version = 999")
	must(t, errors.Join(err, s.Close()))
	if _, err = Open(path); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
}

// FEATURES: R93
func TestFullDisk(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "longterm.db")
	s := openTest(t, path)
	must(t, s.CreateSession(ctx, full("kept")))
	_, err := s.db.Exec("PRAGMA max_page_count = 8")
	must(t, err)
	big := full("big")
	big.Title = strings.Repeat("x", 1<<20)
	err = s.CreateSession(ctx, big)
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "make room") ||
		!errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("error %v", err)
	}
	if all, err := s.Sessions(ctx); len(all) != 1 || err != nil {
		t.Errorf("%d sessions, %v", len(all), err)
	}
	_, err = s.db.Exec("PRAGMA max_page_count = 100000")
	must(t, err)
	must(t, s.CreateSession(ctx, big))
}

func TestReadOnly(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "longterm.db")
	s := openTest(t, path)
	_, err := s.db.Exec("PRAGMA query_only = 1") // as SQLite answers on a read-only disk
	must(t, err)
	err = s.CreateSession(ctx, full("1"))
	if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "writable") {
		t.Errorf("error %v", err)
	}
	if os.Getuid() == 0 {
		t.Log("permissions do not bind root: not tried")
		return
	}
	must(t, os.Chmod(filepath.Dir(path), 0o500))
	if _, err := Open(filepath.Join(filepath.Dir(path), "other.db")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("error %v", err)
	}
	must(t, os.Chmod(filepath.Dir(path), 0o700))
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		err, want error
		remedy    string
	}{
		{&os.PathError{Op: "open", Path: "/x", Err: syscall.EROFS}, ErrReadOnly, "writable"},
		{&os.PathError{Op: "open", Path: "/x", Err: syscall.EACCES}, ErrReadOnly, "writable"},
		{&os.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}, ErrFull, "make room"},
		{ErrCorrupt, ErrCorrupt, "restart"},
		{errors.New("else"), nil, "else"},
	} {
		got := Explain("do", "/x", c.err)
		if c.want != nil && !errors.Is(got, c.want) || !strings.Contains(got.Error(), c.remedy) {
			t.Errorf("%v becomes %v", c.err, got)
		}
	}
	if Explain("do", "/x", nil) != nil {
		t.Error("no error becomes one")
	}
}

func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "missing", "longterm.db"), dir} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v", err)
		}
	}
}

func TestConcurrent(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, filepath.Join(t.TempDir(), "longterm.db"))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 20 {
				r := full(fmt.Sprintf("%d.%d", g, i))
				_, err := s.Sessions(ctx)
				err = errors.Join(err, s.CreateSession(ctx, r), s.UpdateSession(ctx, r))
				if i%2 == 0 {
					err = errors.Join(err, s.DeleteSession(ctx, r.ID))
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if all, err := s.Sessions(ctx); len(all) != 80 || err != nil {
		t.Errorf("%d sessions, %v", len(all), err)
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "longterm.db")
	s := openTest(b, path)
	for i := range 1000 {
		must(b, s.CreateSession(context.Background(), full(fmt.Sprint(i))))
	}
	must(b, s.Close())
	for b.Loop() {
		s, err := Open(path)
		must(b, err)
		_, err = s.Sessions(context.Background())
		must(b, errors.Join(err, s.Close()))
	}
}

func BenchmarkUpdate(b *testing.B) {
	s := openTest(b, filepath.Join(b.TempDir(), "longterm.db"))
	r := full("1")
	must(b, s.CreateSession(context.Background(), r))
	for b.Loop() {
		must(b, s.UpdateSession(context.Background(), r))
	}
}
