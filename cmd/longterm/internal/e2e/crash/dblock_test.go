//go:build unix

package crash

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e"
)

// Another process that has the database locked holds no session up, and what happened meanwhile
// is recorded afterwards.
//
// FAULT: B13
// FEATURES: R93
func TestLockedDatabaseHoldsNoSessionUp(t *testing.T) {
	i := e2e.New(t)
	i.Run("new", "-n", "a", "--", "cat")
	i.Run("new", "-n", "b", "--", "cat")
	db, err := sql.Open("sqlite", filepath.Join(i.Dir, "state", "longterm.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	i.Run("resize", "a", "91x31")
	i.Run("send", "a", "still there", "--enter")
	i.Run("wait", "a", "--for", "text=still there", "--timeout", "20s")
	i.Run("kill", "b")
	if took := time.Since(began); took > 3*time.Second { // the database is waited for 5 seconds
		t.Errorf("resize, send, wait and kill took %v", took)
	}
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	i.Run("daemon", "restart")
	if a, b := i.Info("a"), i.Info("b"); a.Cols != 91 || a.Rows != 31 || b.State != "exited" {
		t.Errorf("after a restart: a is %d×%d, b is %s", a.Cols, a.Rows, b.State)
	}
}
