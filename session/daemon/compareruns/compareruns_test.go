//go:build unix

package compareruns

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// FEATURES: R127
func TestWords_SameCommand(t *testing.T) {
	for _, c := range []struct {
		a, b         string
		exact, loose bool
	}{
		{"make test", "make   test", true, true},
		{"make 'test'", `make "test"`, true, true},
		{"make test # again", "make test", true, true},
		{"cd x && make", "cd x && make", true, true},
		{"CC=clang make test", "make test", false, true},
		{"make -j4 test", "make test", false, true},
		{"make test", "make all", false, false},
		{"go test ./a", "go test ./b", false, false},
		{"echo 'a b'", "echo a b", false, false},
		{"if true", "if   true", true, true}, // cannot be parsed
	} {
		a, b := wordsOf(c.a), wordsOf(c.b)
		if (a.exact == b.exact) != c.exact || (a.loose == b.loose) != c.loose {
			t.Errorf("%q and %q: %+v, %+v", c.a, c.b, a, b)
		}
	}
}

func TestHeadsBetween(t *testing.T) {
	log := "ccc\x00HEAD@{300}\nbbb\x00HEAD@{200}\naaa\x00HEAD@{100}\n"
	for _, c := range []struct {
		since, until int64
		was, is      string
	}{
		{150, 250, "aaa", "bbb"},
		{150, 999, "aaa", "ccc"},
		{210, 290, "bbb", "bbb"},
		{200, 290, "aaa", "bbb"}, // the same second
		{50, 999, "aaa", "ccc"},
		{10, 20, "", ""},
	} {
		if was, is := headsBetween(log, time.Unix(c.since, 0), time.Unix(c.until, 0)); was != c.was || is != c.is {
			t.Errorf("%d to %d: %q, %q", c.since, c.until, was, is)
		}
	}
	if was, is := headsBetween("nonsense\n\x00\nx\x00HEAD@{0}\n", time.Time{}, time.Unix(1, 0)); was != "x" || is != "x" {
		t.Errorf("damaged lines: %q, %q", was, is)
	}
}

func write(t *testing.T, path, text string, at time.Time) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	if !at.IsZero() {
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

func runGit(t *testing.T, dir string, at time.Time, args ...string) {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=N", "-c", "user.email=n@example.org", "-c", "init.defaultBranch=main"}, args...)...)
	date := at.Format(time.RFC3339)
	c.Dir, c.Env = dir, append(os.Environ(), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// FEATURES: R127
func TestReadTree_CommitsAndFiles(t *testing.T) {
	tier.Need(t, "git")
	dir := t.TempDir()
	began := time.Now().Add(-time.Hour).Truncate(time.Second)
	at := func(minutes int) time.Time { return began.Add(time.Duration(minutes) * time.Minute) }
	write(t, dir+"/.gitignore", "*.o\n", at(0))
	write(t, dir+"/old.c", "old", at(0))
	write(t, dir+"/committed.c", "1", at(0))
	write(t, dir+"/go.sum", "1", at(0))
	runGit(t, dir, at(0), "init", "-q")
	runGit(t, dir, at(0), "add", "-A")
	runGit(t, dir, at(0), "commit", "-qm", "first")
	write(t, dir+"/committed.c", "2", at(20))
	runGit(t, dir, at(20), "commit", "-qam", "change committed.c")
	write(t, dir+"/edited.c", "new", at(21))
	write(t, dir+"/sub/made.o", "ignored", at(22))
	write(t, dir+"/go.sum", "2", at(23))
	write(t, dir+"/later.c", "x", at(50))
	// The repository names programs: none may run.
	ran := dir + "/.git/ran"
	program := dir + "/.git/program"
	write(t, program, "#!/bin/sh\necho ran >>"+ran+"\ncat\n", time.Time{})
	write(t, dir+"/.git/info/attributes", "* filter=f diff=d\n", time.Time{})
	for _, kv := range []string{"core.fsmonitor", "filter.f.clean", "filter.f.process", "diff.external", "diff.d.textconv", "core.pager", "gpg.program"} {
		runGit(t, dir, at(20), "config", kv, program)
	}
	runGit(t, dir, at(20), "config", "log.showSignature", "true")

	got := readTree(t.Context(), dir+"/sub", at(10), at(40))
	if len(got.commits) != 1 || got.commits[0].Subject != "change committed.c" || got.commits[0].Author != "N" || got.dropped != 0 {
		t.Errorf("commits: %+v, %d dropped", got.commits, got.dropped)
	}
	if want := []string{"go.sum", "edited.c"}; !reflect.DeepEqual(got.files, want) || got.count != 2 {
		t.Errorf("files: %q", got.files)
	}
	if !reflect.DeepEqual(got.committed, []string{"committed.c"}) || !reflect.DeepEqual(got.locks, []string{"go.sum"}) || got.notes != nil {
		t.Errorf("committed %q, locks %q, notes %q", got.committed, got.locks, got.notes)
	}
	if b, err := os.ReadFile(ran); err == nil {
		t.Errorf("git ran a program of the repository: %q", b)
	}
	if got := readTree(t.Context(), dir, at(24), at(40)); len(got.commits)+len(got.files) > 0 {
		t.Errorf("a quiet time: %+v", got)
	}
}

func TestReadTree_WithoutRepository(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	write(t, dir+"/a/edited.py", "x", now.Add(-30*time.Minute))
	write(t, dir+"/node_modules/x.js", "x", now.Add(-30*time.Minute))
	write(t, dir+"/old.py", "x", now.Add(-3*time.Hour))
	got := readTree(t.Context(), dir, now.Add(-time.Hour), now)
	if !slices.Contains(got.files, "a/edited.py") || got.count != 1 {
		t.Errorf("files: %q", got.files)
	}
	if got := readTree(t.Context(), dir+"/none", now, now); len(got.notes) != 1 || !strings.Contains(got.notes[0], "is not there") {
		t.Errorf("a missing directory: %q", got.notes)
	}
}

func TestProjectOf_SameForWorktrees(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/main/.git/HEAD", "x", time.Time{})
	write(t, dir+"/main/sub/x", "x", time.Time{})
	write(t, dir+"/tree/.git", "gitdir: "+dir+"/main/.git/worktrees/tree\n", time.Time{})
	write(t, dir+"/plain/go.mod", "module x", time.Time{})
	write(t, dir+"/plain/p/x", "x", time.Time{})
	for path, want := range map[string]string{"/main/sub": "/main", "/tree": "/main", "/plain/p": "/plain"} {
		if got := projectOf(dir + path); got != dir+want {
			t.Errorf("%s: %q", path, got)
		}
	}
	if got := projectOf("relative"); got != "" {
		t.Errorf("a relative directory: %q", got)
	}
}

func TestDiffVariables(t *testing.T) {
	v := func(s string) *string { return &s }
	got := diffVariables(map[string]*string{"A": v("1"), "B": v("x"), "LONGTERM_X": v("1"), "D": nil}, map[string]*string{"A": v("2"), "B": v("x"), "C": v(strings.Repeat("é", 200)), "D": nil})
	if len(got) != 2 || got[0].Name != "A" || *got[0].After != "2" || got[1].Before != nil || len(*got[1].After) > maxValue+4 {
		t.Errorf("%+v", got)
	}
}
