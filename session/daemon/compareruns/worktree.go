//go:build unix

package compareruns

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// Bounds of reading a working tree.
const (
	treeTime     = 3 * time.Second
	maxTreeFiles = 100_000
	maxWalked    = 20_000  // of a directory without git
	maxGitOutput = 8 << 20 // bytes
	maxReflog    = 500     // entries
	maxCommits   = 20
	maxFiles     = 30
	// mtimeSlack is how much earlier than the clock the kernel's time of a change may be.
	mtimeSlack = 10 * time.Millisecond
)

// treeChanges is what happened in a working tree between two times.
type treeChanges struct {
	commits   []api.WhyCommit
	dropped   int
	committed []string
	files     []string // by time, newest first
	locks     []string
	count     int // number of changed files, including those not in files
	notes     []string
}

// readTree returns the changes below the project of dir between two times. It ends within treeTime, even if the file system does
// not answer.
func readTree(ctx context.Context, dir string, since, until time.Time) treeChanges {
	ctx, cancel := context.WithTimeout(ctx, treeTime)
	defer cancel()
	done := make(chan treeChanges, 1)
	go func() { done <- scanTree(ctx, dir, since, until) }()
	select {
	case t := <-done:
		return t
	case <-ctx.Done():
		return treeChanges{notes: []string{"changed files unknown: " + dir + " was not read within 3s"}}
	}
}

// scanTree works like readTree without the time limit.
func scanTree(ctx context.Context, dir string, since, until time.Time) (t treeChanges) {
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		t.notes = append(t.notes, "changed files unknown: the directory "+dir+" is not there any longer")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.notes[0] = "changed files unknown: " + err.Error()
		}
		return t
	}
	g := git{dir: dir}
	top, err := g.run(ctx, "rev-parse", "--show-toplevel")
	if root := strings.TrimRight(string(top), "\n"); err == nil && root != "" {
		g.dir = root
		t.readCommits(ctx, g, since, until)
		t.readFiles(ctx, g, since, until)
	} else {
		t.walk(ctx, dir, since, until)
	}
	if ctx.Err() != nil {
		t.notes = append(t.notes, "changed files may be incomplete: the time limit of 3s was reached")
	}
	return t
}

// git runs git's reading commands in a directory.
type git struct{ dir string }

// gitSettings keep git from running programs that the repository's configuration names, and from writing.
var gitSettings = []string{
	"--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.untrackedCache=false",
	"-c", "log.showSignature=false", "-c", "core.quotePath=false",
}

// run runs a git command and returns its output.
func (g git) run(ctx context.Context, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, "git", append(slices.Clip(gitSettings), args...)...)
	c.Dir = g.dir
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_ALLOW_PROTOCOL=",
	}
	out := &limitedBuffer{max: maxGitOutput}
	c.Stdout = out
	c.WaitDelay = time.Second
	err := c.Run()
	return out.Bytes(), err
}

// limitedBuffer keeps the first max bytes.
type limitedBuffer struct {
	bytes.Buffer
	max int
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), b.max-b.Len())])
	return len(p), nil
}

// readCommits finds the commits that HEAD gained in between, by its reflog.
func (t *treeChanges) readCommits(ctx context.Context, g git, since, until time.Time) {
	log, err := g.run(ctx, "log", "-g", "--date=unix", "--format=%H%x00%gd", "-n", strconv.Itoa(maxReflog), "HEAD", "--")
	if err != nil {
		return // no commit yet
	}
	was, is := headsBetween(string(log), since, until)
	if was == is || was == "" || is == "" {
		return
	}
	list, err := g.run(ctx, "log", "--no-show-signature", "--no-notes", "--format=%h%x00%an%x00%s", "-n", strconv.Itoa(maxCommits), was+".."+is, "--")
	if err == nil {
		for line := range strings.Lines(string(list)) {
			if f := strings.SplitN(strings.TrimSpace(line), "\x00", 3); len(f) == 3 {
				t.commits = append(t.commits, api.WhyCommit{ID: f[0], Author: clipText(f[1]), Subject: clipText(f[2])})
			}
		}
	}
	if n, err := g.run(ctx, "rev-list", "--count", is+".."+was, "--"); err == nil {
		t.dropped, _ = strconv.Atoi(strings.TrimSpace(string(n)))
	}
	if files, err := g.run(ctx, "diff-tree", "-r", "--name-only", "--no-ext-diff", "-z", was, is, "--"); err == nil {
		t.committed = splitNUL(files)
	}
}

// headsBetween returns the commits that HEAD named at two times, by the lines of its reflog, newest first. Entries have seconds:
// one within the second in which the good run ended counts as a change.
func headsBetween(log string, since, until time.Time) (was, is string) {
	for line := range strings.Lines(log) {
		hash, at, ok := strings.Cut(strings.TrimSpace(line), "\x00")
		_, at, ok2 := strings.Cut(at, "@{")
		sec, err := strconv.ParseInt(strings.TrimSuffix(at, "}"), 10, 64)
		if !ok || !ok2 || err != nil || sec > until.Unix() {
			continue
		}
		if is == "" {
			is = hash
		}
		if was = hash; sec < since.Unix() {
			return was, is
		}
	}
	return was, is // the oldest entry: the repository is newer than the good run
}

// readFiles finds the files that were changed in between and are in no commit since. It compares times only: comparing contents
// could run filters of the repository.
func (t *treeChanges) readFiles(ctx context.Context, g git, since, until time.Time) {
	out, err := g.run(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	if err != nil && len(out) == 0 {
		return
	}
	names := splitNUL(out)
	if len(names) > maxTreeFiles {
		t.notes = append(t.notes, "changed files may be incomplete: the working tree has more than 100000 files")
		names = names[:maxTreeFiles]
	}
	committed := map[string]bool{}
	for _, name := range t.committed {
		committed[name] = true
	}
	var found []changedFile
	for i, name := range names {
		if i%256 == 0 && ctx.Err() != nil {
			break
		}
		st, err := os.Lstat(filepath.Join(g.dir, name))
		switch {
		case committed[name]:
		case errors.Is(err, fs.ErrNotExist) && removedAfter(filepath.Join(g.dir, name), since):
			found = append(found, changedFile{name + " (removed)", until})
		case err == nil && !st.IsDir() && isBetween(st.ModTime(), since, until):
			found = append(found, changedFile{name, st.ModTime()})
		}
	}
	t.keepFiles(found)
	for _, name := range t.committed {
		if isLockFile(name) {
			t.locks = append(t.locks, name)
		}
	}
}

// removedAfter reports whether a file that does not exist may have been removed after a time, by its directory's time.
func removedAfter(path string, since time.Time) bool {
	st, err := os.Lstat(filepath.Dir(path))
	return err != nil || st.ModTime().After(since.Add(-mtimeSlack))
}

// notSources are directories whose files are made by programs.
var notSources = map[string]bool{".git": true, "node_modules": true, "__pycache__": true, "target": true, ".venv": true, "venv": true, ".cache": true, ".tox": true}

// walk finds the changed files of a directory that is in no repository.
func (t *treeChanges) walk(ctx context.Context, dir string, since, until time.Time) {
	n := 0
	var found []changedFile
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if n++; n > maxWalked || ctx.Err() != nil {
			t.notes = append(t.notes, "changed files may be incomplete: the directory has more than 20000 files")
			return filepath.SkipAll
		}
		if err != nil {
			return nil
		}
		if d.IsDir() {
			if path != dir && notSources[d.Name()] {
				return filepath.SkipDir
			}
			return nil
		}
		if st, err := d.Info(); err == nil && isBetween(st.ModTime(), since, until) {
			if rel, err := filepath.Rel(dir, path); err == nil {
				found = append(found, changedFile{rel, st.ModTime()})
			}
		}
		return nil
	})
	t.keepFiles(found)
}

// changedFile is a file and the time of its change.
type changedFile struct {
	name string
	at   time.Time
}

// keepFiles stores the newest files, up to maxFiles.
func (t *treeChanges) keepFiles(found []changedFile) {
	slices.SortStableFunc(found, func(a, b changedFile) int { return cmp.Or(b.at.Compare(a.at), strings.Compare(a.name, b.name)) })
	t.count = len(found)
	for _, f := range found {
		if isLockFile(f.name) {
			t.locks = append(t.locks, f.name)
		}
		if len(t.files) < maxFiles {
			t.files = append(t.files, f.name)
		}
	}
}

// isBetween reports whether a time is in the range, with mtimeSlack.
func isBetween(at, since, until time.Time) bool {
	return at.After(since.Add(-mtimeSlack)) && !at.After(until)
}

// lockFiles are the files in which package managers record versions.
var lockFiles = map[string]bool{
	"go.sum": true, "go.work.sum": true, "package-lock.json": true, "npm-shrinkwrap.json": true, "yarn.lock": true, "pnpm-lock.yaml": true, "bun.lock": true, "bun.lockb": true,
	"Cargo.lock": true, "poetry.lock": true, "uv.lock": true, "Pipfile.lock": true, "pdm.lock": true, "requirements.txt": true, "Gemfile.lock": true, "composer.lock": true,
	"flake.lock": true, "mix.lock": true, "pubspec.lock": true, "gradle.lockfile": true, "packages.lock.json": true, "conan.lock": true, "deno.lock": true, ".tool-versions": true,
}

// isLockFile reports whether a path names a lock file.
func isLockFile(name string) bool {
	return lockFiles[filepath.Base(strings.TrimSuffix(name, " (removed)"))]
}

// splitNUL splits output at zero bytes.
func splitNUL(b []byte) []string {
	var list []string
	for name := range strings.SplitSeq(string(b), "\x00") {
		if name != "" {
			list = append(list, name)
		}
	}
	return list
}

// clipText shortens a commit's subject or author.
func clipText(s string) string {
	if len(s) > maxValue {
		s = strings.ToValidUTF8(s[:maxValue], "") + "…"
	}
	return s
}

// projectFiles mark the root of a project that is in no repository.
var projectFiles = []string{".longterm.toml", "go.mod", "package.json", "Cargo.toml", "pyproject.toml"}

// projectOf returns what identifies the project of a directory: the repository, the same for all its working trees, or the
// nearest directory with a project file. It returns "" without one.
func projectOf(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if st, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			if st.IsDir() {
				return at
			}
			return mainTree(at)
		}
		for _, name := range projectFiles {
			if _, err := os.Lstat(filepath.Join(at, name)); err == nil && !inRepository(at) {
				return at
			}
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// inRepository reports whether a directory is in a git repository.
func inRepository(dir string) bool {
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return true
		}
	}
	return false
}

// mainTree returns the main working tree of a repository, from the file .git of a linked working tree.
func mainTree(tree string) string {
	b := make([]byte, 4096)
	f, err := os.Open(filepath.Join(tree, ".git"))
	if err != nil {
		return tree
	}
	defer f.Close()
	n, _ := f.Read(b)
	at, ok := strings.CutPrefix(strings.TrimSpace(string(b[:n])), "gitdir: ")
	if main, _, found := strings.Cut(at, "/.git/worktrees/"); ok && found {
		return main
	}
	return tree
}
