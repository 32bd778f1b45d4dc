package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) { os.Exit(isolate.Run(m)) }

// repository makes a repository with one commit, and returns its directory.
func repository(t *testing.T) string {
	t.Helper()
	home := resolvePath(t.TempDir())
	t.Setenv("HOME", home)
	dir := filepath.Join(home, "src", "app")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "f"), "one\n")
	write(t, filepath.Join(dir, "sub", "g"), "one\n")
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	git(t, dir, "config", "user.name", "n")
	git(t, dir, "config", "user.email", "n@example.com")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "-m", "first")
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := run(t.Context(), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func unused(string) bool { return true }

func add(t *testing.T, cwd, session, branch string) *Tree {
	t.Helper()
	w, err := Add(t.Context(), cwd, session, branch, unused)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// FEATURES: R129
func TestAdd(t *testing.T) {
	dir := repository(t)
	w := add(t, filepath.Join(dir, "sub"), "fix", SessionBranch)
	want := Tree{Dir: dir + ".worktrees/fix", Branch: "fix", Base: "main", Made: true, Cwd: dir + ".worktrees/fix/sub"}
	if *w != want {
		t.Errorf("%+v", *w)
	}
	if labelled, ok := FromLabels(w.Labels()); !ok || labelled.Dir != w.Dir || labelled.Branch != "fix" || labelled.Base != "main" || !labelled.Made {
		t.Errorf("%+v", labelled)
	}
	if st, err := w.Status(t.Context()); err != nil || st != (Status{Branch: "fix"}) {
		t.Errorf("%+v, %v", st, err)
	}

	again := add(t, filepath.Join(dir, "sub"), "fix", "") // as after an interrupted call
	if *again != want {
		t.Errorf("again: %+v", *again)
	}
	if _, err := Add(t.Context(), dir, "fix", "", func(string) bool { return false }); !errors.Is(err, ErrExists) {
		t.Errorf("of another session: %v", err)
	}
	write(t, filepath.Join(w.Dir, "new"), "x")
	if _, err := Add(t.Context(), dir, "fix", "", unused); !errors.Is(err, ErrExists) {
		t.Errorf("with changes: %v", err)
	}

	from := add(t, w.Dir, "deeper", "topic/a") // beside the repository, not beside the worktree
	if from.Dir != dir+".worktrees/deeper" || from.Base != "fix" || from.Branch != "topic/a" {
		t.Errorf("%+v", *from)
	}
	git(t, dir, "branch", "ready")
	if ready := add(t, dir, "ready", "ready"); git(t, ready.Dir, "symbolic-ref", "--short", "HEAD") != "ready" {
		t.Error("the branch that exists is not checked out")
	}
}

// TestFromLabels ignores labels that are incomplete or that git would read as options: any client can set them.
//
// FEATURES: R129
func TestFromLabels(t *testing.T) {
	made := Tree{Dir: "/r/x", Branch: "x", Base: "main", Made: true}
	if got, ok := FromLabels(made.Labels()); !ok || got.Dir != made.Dir || got.Branch != "x" || got.Base != "main" || !got.Made {
		t.Errorf("%+v, %v", got, ok)
	}
	for what, labels := range map[string]map[string]string{
		"no labels":        {},
		"branch -x":        {LabelDir: "/r/x", LabelBranch: "--upload-pack=x", LabelBase: "main"},
		"base -x":          {LabelDir: "/r/x", LabelBranch: "x", LabelBase: "-x"},
		"relative":         {LabelDir: "r/x", LabelBranch: "x", LabelBase: "main"},
		"without a base":   {LabelDir: "/r/x", LabelBranch: "x"},
		"without a branch": {LabelDir: "/r/x", LabelBase: "main"},
	} {
		if got, ok := FromLabels(labels); ok {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// TestSessions_Of ignores the worktrees of agents' sessions for users, and those of other hosts.
//
// FEATURES: R129
func TestSessions_Of(t *testing.T) {
	made := Tree{Dir: "/r/x", Branch: "x", Base: "main"}
	for _, tt := range []struct {
		host, caller, starter string
		want                  bool
	}{{want: true}, {starter: "claude"}, {caller: "claude", starter: "claude", want: true}, {caller: "claude", want: true}, {host: "far"}} {
		w := Sessions{Host: tt.host, Agent: tt.caller}
		if _, ok := w.Of(&api.Session{Labels: made.Labels(), Agent: tt.starter}); ok != tt.want {
			t.Errorf("%+v: %v", tt, ok)
		}
	}
}

// FEATURES: R129
func TestAdd_Rejects(t *testing.T) {
	dir := repository(t)
	empty := filepath.Join(t.TempDir(), "empty")
	bare := filepath.Join(t.TempDir(), "bare")
	none := t.TempDir()
	git(t, none, "init", "--quiet", empty)
	git(t, none, "clone", "--quiet", "--bare", dir, bare)
	for _, c := range []struct{ cwd, branch, want string }{
		{none, "", "not in a git repository"},
		{empty, "", "has no commits"},
		{bare, "", "not in a git repository with a working tree"},
		{dir, "a..b", `branch name "a..b" invalid`},
		{dir, "-d", `branch name "-d" invalid`},
		{dir, "main", "already checked out"},
	} {
		if _, err := Add(t.Context(), c.cwd, "s", c.branch, unused); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.cwd, c.branch, err)
		}
	}
	if list := git(t, dir, "worktree", "list"); strings.Count(list, "\n") != 0 {
		t.Error(list)
	}
}

// FEATURES: R129
func TestStatusAndLines(t *testing.T) {
	dir := repository(t)
	w := add(t, dir, "fix", "")
	write(t, filepath.Join(w.Dir, "f"), "one\ntwo\n")
	if err := w.Commit(t.Context(), "second"); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(t.Context(), "nothing"); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "commit", "--quiet", "--allow-empty", "-m", "of main")
	git(t, w.Dir, "mv", "sub/g", "sub/h")
	write(t, filepath.Join(w.Dir, "odd \t\nname"), "x")
	if st, err := w.Status(t.Context()); err != nil || st != (Status{Branch: "fix", Ahead: 1, Behind: 1, Changed: 2}) {
		t.Errorf("%+v, %v", st, err)
	}
	if l, err := w.Lines(t.Context()); err != nil || l != (Lines{Files: 4, Added: 2, Removed: 1}) {
		t.Errorf("%+v, %v", l, err)
	}
	git(t, w.Dir, "checkout", "--quiet", "--detach")
	if st, err := w.Status(t.Context()); err != nil || st.Branch != "" {
		t.Errorf("detached: %+v, %v", st, err)
	}
	if err := os.RemoveAll(w.Dir); err != nil {
		t.Fatal(err)
	}
	if st, err := w.Status(t.Context()); err != nil || !st.Missing {
		t.Errorf("removed: %+v, %v", st, err)
	}
}

// FEATURES: R129
func TestRemove(t *testing.T) {
	dir := repository(t)
	changed := add(t, dir, "changed", "")
	write(t, filepath.Join(changed.Dir, "new"), "x")
	if err := changed.Remove(t.Context(), false); !errors.Is(err, ErrChanged) {
		t.Errorf("with changes: %v", err)
	}
	ahead := add(t, dir, "ahead", "")
	git(t, ahead.Dir, "commit", "--quiet", "--allow-empty", "-m", "work")
	missing := add(t, dir, "missing", "")
	if err := os.RemoveAll(missing.Dir); err != nil {
		t.Fatal(err)
	}
	clean := add(t, dir, "clean", "")
	for _, w := range []*Tree{ahead, missing, clean, clean} { // removed twice: no error
		if err := w.Remove(t.Context(), false); err != nil {
			t.Errorf("%s: %v", w.Dir, err)
		}
	}
	if got := git(t, dir, "branch", "--format=%(refname:short)"); got != "ahead\nchanged\nmain" {
		t.Errorf("branches %q: those with changes or commits stay", got)
	}
	if err := changed.Remove(t.Context(), true); err != nil {
		t.Error(err)
	}
	git(t, dir, "branch", "precious")
	own := add(t, dir, "own", "precious")
	git(t, own.Dir, "commit", "--quiet", "--allow-empty", "-m", "work")
	if err := own.Remove(t.Context(), true); err != nil || git(t, dir, "branch", "--list", "precious") == "" {
		t.Errorf("a branch that existed before: %v", err)
	}
	git(t, dir, "branch", "-D", "precious")
	if _, err := os.Stat(dir + Suffix); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty directory stays: %v", err)
	}
	if got := git(t, dir, "branch", "--format=%(refname:short)"); got != "ahead\nmain" {
		t.Errorf("branches %q", got)
	}
}

// TestRemove_OnlyWorktrees checks that only linked worktrees below a directory of ours are removed, although a label
// can name any directory.
//
// FEATURES: R129
func TestRemove_OnlyWorktrees(t *testing.T) {
	dir := repository(t)
	git(t, dir, "worktree", "add", "--quiet", filepath.Join(filepath.Dir(dir), "own"))
	decoy := dir + ".worktrees/decoy"
	if err := os.MkdirAll(decoy, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, rejected := range map[string]bool{dir: true, filepath.Join(filepath.Dir(dir), "own"): true, "/": true, decoy: false} {
		w := Tree{Dir: path, Branch: "main", Base: "main"}
		if err := w.Remove(context.Background(), true); (err != nil) != rejected {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// FEATURES: R129
func TestMerge(t *testing.T) {
	dir := repository(t)
	good, bad := add(t, dir, "good", ""), add(t, dir, "bad", "")
	for _, w := range []*Tree{good, bad} {
		write(t, filepath.Join(w.Dir, "f"), w.Branch+"\n")
		if err := w.Commit(t.Context(), w.Branch); err != nil {
			t.Fatal(err)
		}
	}
	if merged, err := good.Merge(t.Context(), dir); err != nil || !merged {
		t.Fatal(merged, err)
	}
	if merged, err := good.Merge(t.Context(), dir); err != nil || merged {
		t.Errorf("again: %t, %v", merged, err)
	}
	if _, err := bad.Merge(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "CONFLICT") {
		t.Errorf("a conflict: %v", err)
	}
	if out := git(t, dir, "status", "--porcelain"); out != "" {
		t.Errorf("after a conflict: %q", out)
	}
	detached := add(t, dir, "detached", "")
	git(t, detached.Dir, "checkout", "--quiet", "--detach")
	git(t, detached.Dir, "commit", "--quiet", "--allow-empty", "-m", "without a branch")
	if err := detached.Remove(t.Context(), false); !errors.Is(err, ErrUnreachableCommits) {
		t.Errorf("commits that no branch has: %v", err)
	}
	if merged, err := detached.Merge(t.Context(), dir); err != nil || !merged || git(t, dir, "log", "-1", "--format=%s") == "good" {
		t.Errorf("checkout: %t, %v", merged, err)
	}
}
