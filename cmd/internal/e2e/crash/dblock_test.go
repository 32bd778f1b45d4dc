//go:build unix

package crash

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestLockedDatabaseHoldsNoSessionUp locks the database from another process. Sessions continue, and their changes are
// recorded afterwards.
//
// FAULT: B13
// FEATURES: R93
func TestLockedDatabaseHoldsNoSessionUp(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "a", "--", "cat")
	i.Run("new", "-n", "b", "--", "cat")
	i.Run("new", "-n", "c", "--", "cat")
	use := func(size, text, other string) time.Duration {
		began := time.Now()
		i.Run("resize", "a", size)
		i.Run("send", "a", text, "--enter")
		i.Run("wait", "a", "--for", "text="+text, "--timeout", "20s")
		i.Run("kill", other)
		return time.Since(began)
	}
	usual := use("90x30", "there", "c")
	db, err := sql.Open("sqlite", filepath.Join(i.Dir, "state", "longterm.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	locked := use("91x31", "still there", "b")
	if locked > usual/2+5*time.Second { // for which the database is waited for
		t.Errorf("resize, send, wait and kill took %v, and %v before", locked, usual)
	}
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	i.Run("daemon", "restart")
	if a, b := i.Info("a"), i.Info("b"); a.Cols != 91 || a.Rows != 31 || b.State != "exited" {
		t.Errorf("after a restart: a is %d×%d, b is %s", a.Cols, a.Rows, b.State)
	}
}
