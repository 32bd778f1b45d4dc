package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRemovedValuesAreInNoFile checks that values of a removed session's environment are in no file of the database:
// not in free pages, not in the log.
//
// FAULT: A27
func TestRemovedValuesAreInNoFile(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s, err := Open(filepath.Join(dir, "longterm.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const secret = "value-that-must-go"
	for i := range 20 {
		id := fmt.Sprintf("id%d", i)
		r := Session{ID: id, Name: id, Argv: []string{"true"}, Env: []string{"TOKEN=" + secret, "MORE=" + string(bytes.Repeat([]byte("x"), 3000))}, State: "exited"}
		if err := s.CreateSession(ctx, r); err != nil {
			t.Fatal(err)
		}
		r.Env = append(r.Env, "AGAIN="+secret)
		if err := s.UpdateSession(ctx, r); err != nil {
			t.Fatal(err)
		}
		j := Job{ID: id, Session: id, Kind: JobLine, State: "done", Request: []byte(`{"argv":["true"],"set_env":["TOKEN=` + secret + `"]}`)}
		if err := s.AddJob(ctx, j); err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteSession(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	const lives = `{"argv":["true"],"set_env":["MORE=1"]}` // a job of a session that is there is started again with all it had
	if err := errors.Join(s.CreateSession(ctx, Session{ID: "lives", Name: "lives", Argv: []string{"true"}, State: "running"}),
		s.AddJob(ctx, Job{ID: "lives", Session: "lives", Kind: JobLine, State: "done", Request: []byte(lives)})); err != nil {
		t.Fatal(err)
	}
	reader := openTest(t, filepath.Join(dir, "longterm.db"))
	tx, err := reader.db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, "BEGIN"); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM jobs").Scan(&n); err != nil || n != 21 {
		t.Fatal(n, err)
	}
	if err := s.ForgetRemoved(ctx); err == nil || !strings.Contains(err.Error(), "in use by a reader") {
		t.Errorf("while a reader has it open: %v", err)
	}
	if _, err := tx.ExecContext(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := s.db.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&n); err != nil || n != 5000 {
		t.Errorf("from then on others are waited for %d ms, %v", n, err)
	}
	if err := s.ForgetRemoved(ctx); err != nil {
		t.Fatal(err)
	}
	if j, err := s.Job(ctx, "lives"); err != nil || string(j.Request) != lives {
		t.Errorf("the request of an existing session is %s, %v", j.Request, err)
	}
	if j, err := s.Job(ctx, "id7"); err != nil || string(j.Request) != `{"argv":["true"]}` {
		t.Errorf("the job's request is %s, %v", j.Request, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(filepath.Join(dir, f.Name())); err != nil || bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s still has it (%v)", f.Name(), err)
		}
	}
}
