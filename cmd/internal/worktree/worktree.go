// Package worktree makes, inspects and removes git worktrees for sessions, by git's own commands.
//
// The worktree of session NAME of the repository ~/src/app is ~/src/app.worktrees/NAME. Labels of the session record it
// (Tree.Labels, FromLabels), so no state of longterm can contradict git. Nothing here removes uncommitted changes or
// unmerged commits, except with Discard.
package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
)

// Labels of a session with a worktree.
const (
	LabelDir    = "worktree"        // the worktree's directory
	LabelBranch = "worktree.branch" // its branch
	LabelBase   = "worktree.base"   // the branch or commit that it started from
	LabelMade   = "worktree.made"   // "branch" if the branch was created with it
)

// SessionBranch, passed as a branch, selects the session's name. Git has no branch with this name.
const SessionBranch = "@session"

// Suffix is the end of the names of the directories that hold worktrees.
const Suffix = ".worktrees"

// madeBranch is the value of LabelMade.
const madeBranch = "branch"

// Tree is a worktree.
type Tree struct {
	Dir    string // absolute
	Branch string
	Base   string // branch or commit that Branch started from
	Made   bool   // Branch was created with the worktree, and may be removed with it
	Cwd    string // the caller's directory in the worktree, after Add
}

// Labels returns the labels of the worktree's session.
func (t *Tree) Labels() map[string]string {
	labels := map[string]string{LabelDir: t.Dir, LabelBranch: t.Branch, LabelBase: t.Base}
	if t.Made {
		labels[LabelMade] = madeBranch
	}
	return labels
}

// FromLabels returns the worktree of a session with these labels. It returns false without one.
func FromLabels(labels map[string]string) (Tree, bool) {
	t := Tree{Dir: labels[LabelDir], Branch: labels[LabelBranch], Base: labels[LabelBase], Made: labels[LabelMade] == madeBranch}
	isOption := strings.HasPrefix(t.Branch, "-") || strings.HasPrefix(t.Base, "-")
	return t, filepath.IsAbs(t.Dir) && t.Branch != "" && t.Base != "" && !isOption
}

// ErrExists is returned for a worktree whose directory exists.
var ErrExists = errors.New("directory exists")

// Add makes a worktree for a session that starts in a directory of a repository. With SessionBranch or an empty branch,
// the branch is named after the session. A branch that does not exist is created from the commit that is checked out in cwd. A worktree that an
// interrupted call made is used if isUnused reports that no session has its directory.
func Add(ctx context.Context, cwd, session, branch string, isUnused func(dir string) bool) (*Tree, error) {
	top, err := run(ctx, cwd, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "worktree: %s is not in a git repository with a working tree", cwd).
			WithHint("start the session in one, or create one with `git init`")
	}
	commit, err := run(ctx, cwd, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "worktree: %s has no commits", top).WithHint("make one with `git commit`")
	}
	main, err := mainTree(ctx, cwd)
	if err != nil {
		return nil, err
	}
	if branch == "" || branch == SessionBranch {
		branch = session
	}
	if _, err := run(ctx, cwd, "check-ref-format", "--branch", branch); err != nil {
		return nil, api.Errorf(api.CodeInvalid, "worktree: branch name %q invalid", branch).WithHint("choose a valid name with --worktree=BRANCH")
	}
	t := &Tree{Dir: filepath.Join(main+Suffix, session), Branch: branch, Base: commit}
	if base, err := run(ctx, cwd, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
		t.Base = base
	}
	if _, err := os.Lstat(t.Dir); err == nil {
		if isUnused(t.Dir) && t.isFresh(ctx, main, commit) {
			t.Made = true
			t.setCwd(top, cwd)
			return t, nil
		}
		return nil, errors.Join(ErrExists, api.Errorf(api.CodeInvalid, "worktree: %s exists", t.Dir).
			WithHint("choose another session name, or remove it with `git worktree remove %s`", t.Dir))
	}
	args := []string{"worktree", "add", "--quiet", t.Dir, branch}
	if _, err := run(ctx, cwd, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch); err != nil {
		args, t.Made = []string{"worktree", "add", "--quiet", "-b", branch, t.Dir, commit}, true
	}
	if _, err := run(ctx, cwd, args...); err != nil {
		return nil, fmt.Errorf("worktree: %w", err)
	}
	t.setCwd(top, cwd)
	return t, nil
}

// setCwd sets t.Cwd to the directory that corresponds to cwd in the working tree at top, if the worktree has it.
func (t *Tree) setCwd(top, cwd string) {
	t.Cwd = t.Dir
	if below, err := filepath.Rel(resolvePath(top), resolvePath(cwd)); err == nil && filepath.IsLocal(below) {
		if info, err := os.Stat(filepath.Join(t.Dir, below)); err == nil && info.IsDir() {
			t.Cwd = filepath.Join(t.Dir, below)
		}
	}
}

// isFresh reports whether the worktree is as Add makes it: its branch is checked out at the commit, without changes.
func (t *Tree) isFresh(ctx context.Context, main, commit string) bool {
	if known, err := t.repository(ctx); err != nil || known != main {
		return false
	}
	st, err := t.Status(ctx)
	if err != nil || st.Missing || st.Branch != t.Branch || st.Changed > 0 {
		return false
	}
	head, err := run(ctx, t.Dir, "rev-parse", "HEAD")
	return err == nil && head == commit
}

// resolvePath returns a path without symbolic links, or the path itself if that fails.
func resolvePath(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

// mainTree returns the directory of a repository's main worktree, or of a bare repository itself.
func mainTree(ctx context.Context, dir string) (string, error) {
	list, err := run(ctx, dir, "worktree", "list", "--porcelain")
	if err != nil {
		return "", fmt.Errorf("worktree: %w", err)
	}
	first, _, _ := strings.Cut(list, "\n")
	path, ok := strings.CutPrefix(first, "worktree ")
	if !ok {
		return "", fmt.Errorf("worktree: git listed %q", first)
	}
	return path, nil
}

// Status is the state of a worktree.
type Status struct {
	Branch  string `json:"branch"`            // that is checked out, or ""
	Ahead   int    `json:"ahead"`             // commits that the base does not have
	Behind  int    `json:"behind"`            // commits of the base that the branch does not have
	Changed int    `json:"changed"`           // files with uncommitted changes, untracked ones included
	Missing bool   `json:"missing,omitempty"` // the directory does not exist
}

// Status returns the state of the worktree. A missing worktree is no error.
func (t *Tree) Status(ctx context.Context) (Status, error) {
	st := Status{Branch: t.Branch}
	if _, err := os.Stat(t.Dir); errors.Is(err, os.ErrNotExist) {
		st.Missing = true
		return st, nil
	}
	out, err := run(ctx, t.Dir, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all")
	if err != nil {
		return st, fmt.Errorf("worktree: %w", err)
	}
	renamed := false // the next field is the old name of a renamed file
	for field := range strings.SplitSeq(out, "\x00") {
		head, isHead := strings.CutPrefix(field, "# branch.head ")
		switch {
		case renamed:
			renamed = false
		case isHead:
			if st.Branch = head; head == "(detached)" {
				st.Branch = ""
			}
		case field != "" && field[0] != '#':
			st.Changed++
			renamed = field[0] == '2'
		}
	}
	counts, err := run(ctx, t.Dir, "rev-list", "--left-right", "--count", t.Base+"...HEAD", "--")
	if err != nil {
		return st, fmt.Errorf("worktree: %w", err)
	}
	if _, err := fmt.Sscan(counts, &st.Behind, &st.Ahead); err != nil {
		return st, fmt.Errorf("worktree: git counted %q", counts)
	}
	return st, nil
}

// Lines holds the lines and files that differ from the base, uncommitted changes of tracked files included.
type Lines struct {
	Files   int `json:"files"`
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// Lines counts the lines that differ from the commit at which the branch left its base. Untracked files count as files only.
func (t *Tree) Lines(ctx context.Context) (l Lines, err error) {
	fork, err := run(ctx, t.Dir, "merge-base", t.Base, "HEAD")
	if err != nil {
		return l, fmt.Errorf("worktree: %w", err)
	}
	out, err := run(ctx, t.Dir, "diff", "--numstat", "--no-ext-diff", "--no-textconv", "--no-renames", "-z", fork, "--")
	if err != nil {
		return l, fmt.Errorf("worktree: %w", err)
	}
	for row := range strings.SplitSeq(out, "\x00") {
		if added, rest, ok := strings.Cut(row, "\t"); ok {
			removed, _, _ := strings.Cut(rest, "\t")
			a, _ := strconv.Atoi(added) // "-" for binary files
			r, _ := strconv.Atoi(removed)
			l.Files, l.Added, l.Removed = l.Files+1, l.Added+a, l.Removed+r
		}
	}
	out, err = run(ctx, t.Dir, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return l, fmt.Errorf("worktree: %w", err)
	}
	l.Files += strings.Count(out, "\x00")
	return l, nil
}

// Commit commits all changes of the worktree, untracked files included. It does nothing without changes.
func (t *Tree) Commit(ctx context.Context, message string) error {
	if _, err := run(ctx, t.Dir, "add", "--all"); err != nil {
		return fmt.Errorf("worktree: %w", err)
	}
	if _, err := run(ctx, t.Dir, "diff", "--cached", "--quiet"); err == nil {
		return nil
	}
	if _, err := run(ctx, t.Dir, "commit", "--quiet", "-m", message); err != nil {
		return fmt.Errorf("worktree: %w", err)
	}
	return nil
}

// Merge merges what is checked out in the worktree into the branch that is checked out in dir, and reports whether dir did not have
// it before. After a conflict dir is as before.
func (t *Tree) Merge(ctx context.Context, dir string) (merged bool, err error) {
	commit, err := run(ctx, t.Dir, "rev-parse", "HEAD")
	if err != nil {
		return false, fmt.Errorf("worktree: %w", err)
	}
	if _, err := run(ctx, dir, "merge-base", "--is-ancestor", commit, "HEAD"); err == nil {
		return false, nil
	}
	what := commit
	if head, err := run(ctx, t.Dir, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
		what = head
	}
	_, err = run(ctx, dir, "merge", "--no-edit", what)
	if err == nil {
		return true, nil
	}
	if _, merging := run(ctx, dir, "rev-parse", "--verify", "--quiet", "MERGE_HEAD"); merging == nil {
		if _, abort := run(ctx, dir, "merge", "--abort"); abort != nil {
			err = errors.Join(err, abort)
		}
	}
	return false, fmt.Errorf("merge %s into %s: %w", what, dir, err)
}

// CurrentBranch returns the branch that is checked out in a directory, or "".
func CurrentBranch(ctx context.Context, dir string) string {
	branch, _ := run(ctx, dir, "symbolic-ref", "--quiet", "--short", "HEAD") // fails without a branch
	return branch
}

// Errors of worktrees that are not removed.
var (
	// ErrChanged is returned for a worktree with uncommitted changes.
	ErrChanged = errors.New("uncommitted changes")
	// ErrUnreachableCommits is returned for a worktree with commits that no branch or tag has.
	ErrUnreachableCommits = errors.New("commits that no branch has")
)

// Remove removes a worktree without uncommitted changes, and its branch if that was created with it and the base has all its
// commits. A missing worktree is no error. With discard, changes and commits are removed too, but no branch that existed before.
func (t *Tree) Remove(ctx context.Context, discard bool) error {
	repo, err := t.repository(ctx)
	if err != nil || repo == "" {
		return err
	}
	st, err := t.Status(ctx)
	if err != nil && !discard {
		return err
	}
	args, remove := []string{"worktree", "remove", t.Dir}, "-d"
	switch {
	case discard:
		args, remove = []string{"worktree", "remove", "--force", t.Dir}, "-D"
	case st.Changed > 0:
		return ErrChanged
	case st.Branch == "" && st.Ahead > 0:
		if refs, err := run(ctx, t.Dir, "for-each-ref", "--contains", "HEAD", "--count=1"); err != nil || refs == "" {
			return ErrUnreachableCommits
		}
	}
	if st.Missing {
		args = []string{"worktree", "prune"}
	}
	if _, err := run(ctx, repo, args...); err != nil {
		return fmt.Errorf("worktree: %w", err)
	}
	_ = os.Remove(filepath.Dir(t.Dir)) // of the last worktree; fails if it has others
	if t.Made && (st.Ahead == 0 || discard) {
		_, _ = run(ctx, repo, "branch", remove, t.Branch) // git keeps a branch that is not merged
	}
	return nil
}

// repository returns the directory of the main worktree, or "" if git does not know the worktree any longer. A label may name
// any directory, so only a linked worktree below a directory of ours counts.
func (t *Tree) repository(ctx context.Context) (string, error) {
	main, ok := strings.CutSuffix(filepath.Dir(t.Dir), Suffix)
	if !ok {
		return "", fmt.Errorf("worktree %s: not below a directory with the name REPOSITORY%s; remove it with `git worktree remove`", t.Dir, Suffix)
	}
	if _, err := os.Stat(main); err != nil { // the repository was removed or moved
		return "", nil
	}
	list, err := run(ctx, main, "worktree", "list", "--porcelain")
	if err != nil {
		return "", fmt.Errorf("worktree: %w", err)
	}
	for line := range strings.SplitSeq(list, "\n") {
		if path, ok := strings.CutPrefix(line, "worktree "); ok && path == t.Dir {
			return main, nil
		}
	}
	return "", nil
}

// maxErrorText bounds the output of git in an error, in bytes.
const maxErrorText = 1000

// run runs git in a directory and returns its standard output without the last newline. The error has git's own message.
func run(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { // set while git runs a hook: they name another repository
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"}, name)
	})
	cmd.Env = append(cmd.Env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")
	var out, message bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &message
	err := cmd.Run()
	if err == nil {
		return strings.TrimSuffix(out.String(), "\n"), nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("git is not installed")
	}
	text := strings.TrimSpace(message.String())
	if text == "" { // merge prints conflicts on standard output
		text = strings.TrimSpace(out.String())
	}
	return "", fmt.Errorf("git %s: %s", args[0], text[:min(len(text), maxErrorText)])
}
