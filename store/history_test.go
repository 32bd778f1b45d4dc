package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// FEATURES: R108
func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	for p, err := range History(t.Context(), path) {
		t.Fatal("no database, and a history: ", p, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Fatal("reading created a database")
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	for i, r := range []Session{
		{ID: "a", Name: "one", Argv: []string{"bash"}, Shell: true, Cwd: "/w", Labels: map[string]string{"env": "prod"}, Agent: "claude"},
		{ID: "b", Name: "two", Argv: []string{"make", "-j"}, Cwd: "/x"},
	} {
		if err := s.CreateSession(ctx, r); err != nil {
			t.Fatal(i, err)
		}
	}
	for _, c := range []Command{{Session: "a", Text: "ls", Cwd: "/w"}, {Session: "a", Text: "git push", Cwd: "/w/sub"}} {
		if _, err := s.AddCommand(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	// The database is open, as a daemon's is, and the written data is not in its main file yet.
	var got []string
	for p, err := range History(ctx, path) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(p.Name, p.Argv, p.Shell, p.Labels, p.Agent, p.N, p.Text, p.Cwd))
	}
	want := []string{
		"one[bash] true map[env:prod]claude0/w", "one[bash] true map[env:prod]claude1ls/w",
		"one[bash] true map[env:prod]claude2git push/w/sub", "two[make -j] false map[]0/x",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	for range History(ctx, path) {
		break // stop early
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("this is no database, but it has a length of some bytes at least"), 0o600); err != nil {
		t.Fatal(err)
	}
	var failed error
	for _, err := range History(ctx, path) {
		failed = err
	}
	if failed == nil {
		t.Error("a damaged database is read")
	}
}
