package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestEveryTableIsChecked damages each table in turn. The database is quarantined and opened empty.
//
// FAULT: A19
func TestEveryTableIsChecked(t *testing.T) {
	tier.Full(t)
	ctx := context.Background()
	statement := func(text string) func(*testing.T, *Store, string) {
		return func(t *testing.T, s *Store, _ string) {
			_, err := s.db.ExecContext(ctx, text)
			must(t, err)
		}
	}
	damages := map[string]func(*testing.T, *Store, string){
		"version is lost": statement("PRAGMA user_version = 0"),
		"a page that no start reads": func(t *testing.T, s *Store, path string) {
			var pages, size int64
			must(t, s.db.QueryRow("SELECT (SELECT page_count FROM pragma_page_count), (SELECT page_size FROM pragma_page_size)").Scan(&pages, &size))
			overwrite(t, s, path, pages-1, size)
		},
	}
	for table := range tables() {
		damages["no "+table] = statement("DROP TABLE " + table)
		damages["other "+table] = statement("ALTER TABLE " + table + " RENAME COLUMN state TO condition")
		damages["bad pages of "+table] = func(t *testing.T, s *Store, path string) { spoil(t, s, path, table) }
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "longterm.db")
			s := openTest(t, path)
			for i := range 200 {
				id := fmt.Sprint(i)
				must(t, s.CreateSession(ctx, full(id)))
				must(t, s.AddJob(ctx, Job{ID: id, Session: id, State: JobWaiting, Request: []byte("{}"), Created: time.Now()}))
				_, err := s.AddCommand(ctx, Command{Session: id, Text: "true"})
				must(t, err)
			}
			damage(t, s, path)
			_ = s.Close() // which may find the damage
			s = openTest(t, path)
			if !strings.HasPrefix(s.RecoveredFrom(), path+".corrupt-") {
				t.Errorf("recovered %q", s.RecoveredFrom())
			}
			must(t, s.AddJob(ctx, Job{ID: "new", State: JobWaiting, Created: time.Now()}))
			if list, err := s.Jobs(ctx, JobQuery{}); len(list) != 1 || err != nil {
				t.Errorf("%d jobs, %v", len(list), err)
			}
		})
	}
}

// spoil overwrites the root of a table, once everything is in the file.
func spoil(t *testing.T, s *Store, path, table string) {
	t.Helper()
	var root, size int64
	row := s.db.QueryRow("SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_master WHERE name = ?", table)
	must(t, row.Scan(&root, &size))
	overwrite(t, s, path, root, size)
}

// overwrite makes a page none, once everything is in the file.
func overwrite(t *testing.T, s *Store, path string, page, size int64) {
	t.Helper()
	must(t, s.Close())
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte(strings.Repeat("\xff", int(size))), (page-1)*size)
	must(t, errors.Join(err, f.Close()))
}

// TestDamageFoundInUse follows the error's advice: damage found in use is repaired after the next start.
//
// FAULT: A19
func TestDamageFoundInUse(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "longterm.db")
	s := openTest(t, path)
	must(t, s.CreateSession(ctx, full("a")))
	_, err := s.db.ExecContext(ctx, "UPDATE sessions SET argv = '[' ") // no page is wrong
	must(t, err)
	if _, err := s.Sessions(ctx); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "restart") {
		t.Fatalf("read: %v", err)
	}
	must(t, s.Close())
	s = openTest(t, path)
	if list, err := s.Sessions(ctx); s.RecoveredFrom() == "" || len(list) != 0 || err != nil {
		t.Errorf("recovered %q, %d sessions, %v", s.RecoveredFrom(), len(list), err)
	}
	must(t, s.Close())
	if s = openTest(t, path); s.RecoveredFrom() != "" {
		t.Errorf("recovered again: %q", s.RecoveredFrom())
	}
}
