package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// What a session was given for its environment is in no file of the database once it was
// removed: not in free pages, not in the log.
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
	if err := s.ForgetRemoved(ctx); err != nil {
		t.Fatal(err)
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
