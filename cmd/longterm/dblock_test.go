//go:build unix

package main

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// Another process that has the database locked holds no session up, and what happened meanwhile
// is recorded afterwards.
//
// FAULT: B13
// FEATURES: R93
func TestLockedDatabaseHoldsNoSessionUp(t *testing.T) {
	i := newInstance(t)
	i.run("new", "-n", "a", "--", "cat")
	i.run("new", "-n", "b", "--", "cat")
	db, err := sql.Open("sqlite", filepath.Join(i.dir, "state", "longterm.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	i.run("resize", "a", "91x31")
	i.run("send", "a", "still there", "--enter")
	i.run("wait", "a", "--for", "text=still there", "--timeout", "20s")
	i.run("kill", "b")
	if took := time.Since(began); took > 3*time.Second { // the database is waited for 5 seconds
		t.Errorf("resize, send, wait and kill took %v", took)
	}
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	i.run("daemon", "restart")
	if a, b := i.info("a"), i.info("b"); a.Cols != 91 || a.Rows != 31 || b.State != "exited" {
		t.Errorf("after a restart: a is %d×%d, b is %s", a.Cols, a.Rows, b.State)
	}
}
