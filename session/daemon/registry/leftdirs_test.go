//go:build unix

package registry

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/google/uuid"
	_ "modernc.org/sqlite"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/store"
)

// refuses makes the database reject writes of sessions, as on a full disk, until the test calls the returned function.
func refuses(t *testing.T, r *Registry, what string) (room func()) {
	t.Helper()
	db, err := sql.Open("sqlite", r.dirs.Database()+"?_pragma=busy_timeout(10000)") // the registry may try again just then
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	run := func(text string) {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TRIGGER full BEFORE " + what + " ON sessions BEGIN SELECT RAISE(ABORT, 'no room'); END")
	return func() { run("DROP TRIGGER full") }
}

// TestRemovedOnAFullDisk checks that a session removed while the database accepts no writes is removed: it is in no
// list, also of the next daemon, its history is deleted, its name is free once there is space, and then its record is
// deleted too.
//
// FEATURES: R93
func TestRemovedOnAFullDisk(t *testing.T) {
	t.Parallel()
	id := uuid.NewString()
	r, _ := hosted(t, func(r *Registry) { record(t, r, store.Session{ID: id, Name: "n", State: string(session.Exited)}) })
	r.AdoptAll(t.Context(), nil, nil)
	room := refuses(t, r, "DELETE")
	if err := r.Remove(t.Context(), r.ByID(id), false); err != nil {
		t.Error(err)
	}
	if !r.undeleted.has(id) {
		t.Error("its record is forgotten about")
	}
	if all, err := os.ReadDir(r.dirs.Session(id) + removedSuffix); err != nil || len(all) != 0 {
		t.Errorf("its history still takes space: %v, %v", all, err)
	}
	next := New(Config{Dirs: r.dirs, Log: r.log, Store: r.store, Settings: r.conf, Host: r.host})
	if err := next.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	next.AdoptAll(t.Context(), nil, nil)
	if len(r.All()) != 0 || len(next.All()) != 0 {
		t.Errorf("it is listed: %d, and by the next daemon: %d", len(r.All()), len(next.All()))
	}
	e := NewHandle(store.Session{ID: uuid.NewString(), Name: "n", Argv: []string{"true"}, State: string(session.Running)})
	if err := next.reserve(t.Context(), e, false); err == nil || errors.Is(err, store.ErrNameTaken) {
		t.Errorf("without space: %v", err)
	}
	room()
	if err := next.reserve(t.Context(), e, false); err != nil {
		t.Error(err)
	}
	if _, err := r.store.Session(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("its record: %v", err)
	}
	if _, err := os.Lstat(r.dirs.Session(id) + removedSuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its directory: %v", err)
	}
}
