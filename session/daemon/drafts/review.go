package drafts

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// Bounds of a review: listed changes, and the entries and time of counting the files in deleted directories.
const (
	maxListed  = 200
	maxEntries = 20_000
	countTime  = 300 * time.Millisecond
	gitTime    = time.Second
)

// Review returns what a commit of the draft of an ended session would change, with the largest changes first. It removes a draft
// without changes, and returns nil then.
func (d Drafts) Review(ctx context.Context, id string) (*api.DraftReview, error) {
	found, err := d.Open(id, false)
	if err != nil {
		return nil, err
	}
	c, err := found.Changes(ctx)
	if err != nil {
		return nil, Error(id, err)
	}
	if len(c.Changes) == 0 {
		_, err := found.Discard(ctx)
		return nil, Error(id, err)
	}
	v := &api.DraftReview{Session: id, ID: c.ID, Roots: found.Info().Roots, State: "pending", Count: len(c.Changes)}
	counting := counter{left: maxEntries, until: time.Now().Add(countTime)}
	all := make([]api.ReviewedChange, len(c.Changes))
	for i := range c.Changes {
		r := api.ReviewedChange{Change: change(&c.Changes[i])}
		switch {
		case r.Type != "dir":
			r.Files, r.Bytes = 1, r.Size
		case r.Kind == "deleted":
			r.Files, r.Bytes = counting.count(filepath.Join(cmp.Or(r.Root, v.Roots[0]), c.Changes[i].Path))
		}
		if r.Type != "file" && r.Type != "dir" {
			r.Bytes = 0
		}
		if v.Bytes += r.Bytes; r.Kind == "deleted" {
			v.Deleted += r.Files
		} else {
			v.Written += r.Files
		}
		if r.Conflict != nil {
			v.Conflicts++
		}
		all[i] = r
	}
	v.AtLeast = counting.cut
	slices.SortStableFunc(all, func(a, b api.ReviewedChange) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Files, a.Files), strings.Compare(a.Path, b.Path))
	})
	v.Changes = all[:min(len(all), maxListed)]
	markGit(ctx, v.Roots[0], v.Changes)
	return v, nil
}

// counter counts files in directories within bounds.
type counter struct {
	left  int
	until time.Time
	cut   bool
}

// count returns the number and size of the files in a directory. It follows no links.
func (c *counter) count(dir string) (files int, size int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if c.left--; c.left < 0 || time.Now().After(c.until) {
			c.cut = true
			return fs.SkipAll
		}
		if err != nil || e.IsDir() {
			return nil // an unreadable directory counts as empty
		}
		files++
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return files, size
}

// markGit sets what the changed paths of a repository are to git, if git answers in time. No program of the repository runs:
// the file system monitor, which git starts for these commands, is switched off.
func markGit(ctx context.Context, root string, list []api.ReviewedChange) {
	if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	git := func(in string, args ...string) (string, bool) {
		c := exec.CommandContext(ctx, "git", append([]string{"-C", root, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)...)
		c.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0")
		c.Stdin, c.WaitDelay = strings.NewReader(in), gitTime
		var out bytes.Buffer
		c.Stdout = &out
		err := c.Run()
		return out.String(), err == nil || c.ProcessState != nil && c.ProcessState.ExitCode() == 1 // check-ignore found none
	}
	var paths []string
	for i := range list {
		if list[i].Root == "" && list[i].PathBytes == nil {
			paths = append(paths, list[i].Path)
		}
	}
	if len(paths) == 0 {
		return
	}
	ignored, ok := git(strings.Join(paths, "\x00")+"\x00", "check-ignore", "-z", "--stdin")
	tracked, isRepo := git("", append([]string{"--literal-pathspecs", "ls-files", "-z", "--"}, paths...)...)
	if !ok || !isRepo {
		return
	}
	isIgnored := map[string]bool{}
	for p := range strings.SplitSeq(ignored, "\x00") {
		isIgnored[p] = true
	}
	isTracked := map[string]bool{}
	for p := range strings.SplitSeq(tracked, "\x00") {
		for ; p != "" && p != "." && !isTracked[p]; p = filepath.Dir(p) {
			isTracked[p] = true // also directories with tracked files
		}
	}
	for i := range list {
		switch p := list[i].Path; {
		case list[i].Root != "" || list[i].PathBytes != nil || p == ".git" || strings.HasPrefix(p, ".git/"):
		case isTracked[p]:
			list[i].Git = "tracked"
		case isIgnored[p]:
			list[i].Git = "ignored"
		default:
			list[i].Git = "untracked"
		}
	}
}
