package authorize

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/listing"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/effects"
)

// Bounds of measuring the files that a request would delete or overwrite. A file system that hangs delays the approval by measureTime only.
const (
	measureTime    = 100 * time.Millisecond
	measureEntries = 10_000
	maxEffects     = 8
)

// measureSlots bounds the goroutines that a file system which hangs may block.
var measureSlots = make(chan struct{}, 4)

// effectsOf returns in words what a request would do, with the number and size of the files that it would delete or overwrite. Only
// files at or below its directory are measured, without following links out of it: a sandboxed caller learns nothing of other files.
func effectsOf(a *Request, j *policy.Judgement) []string {
	found := effects.Of(j.Commands)
	ctx, cancel := context.WithTimeout(context.Background(), measureTime)
	defer cancel()
	var out []string
	for i, e := range found {
		if i == maxEffects {
			out = append(out, fmt.Sprintf("and %d more effects", len(found)-i))
			break
		}
		if extent := measureWithin(ctx, a.Cwd, e.Files); extent != "" {
			e.Text += ": " + extent
		}
		out = append(out, oneLine(e.Text))
	}
	return out
}

// measureWithin returns what files hold in words, or "" if that is unknown when ctx ends.
func measureWithin(ctx context.Context, cwd string, files []string) string {
	var names []string
	for _, f := range files {
		if rel, err := filepath.Rel(cwd, f); err == nil && filepath.IsLocal(rel) {
			names = append(names, rel)
		}
	}
	if !filepath.IsAbs(cwd) || len(names) == 0 || len(names) < len(files) {
		return ""
	}
	select {
	case measureSlots <- struct{}{}:
	default:
		return "" // others hang
	}
	done := make(chan string, 1)
	go func() {
		defer func() { <-measureSlots }()
		done <- measure(ctx, cwd, names)
	}()
	select {
	case text := <-done:
		return text
	case <-ctx.Done():
		return ""
	}
}

// extent is the number and size of files.
type extent struct {
	files, dirs, links int
	bytes              int64
	isCut              bool // counting stopped early: the files are more
}

// measure returns what names in cwd hold, in words.
func measure(ctx context.Context, cwd string, names []string) string {
	root, err := os.OpenRoot(cwd)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }() // it was only read
	var x extent
	for _, name := range names {
		matches := []string{name}
		if strings.ContainsAny(filepath.Base(name), "*?[") {
			if matches, err = fs.Glob(root.FS(), name); err != nil {
				return ""
			}
		}
		for _, m := range matches {
			x.add(ctx, root, m)
		}
	}
	return x.String()
}

// add counts a file, or all in a directory.
func (x *extent) add(ctx context.Context, root *os.Root, name string) {
	info, err := root.Lstat(name)
	if err != nil {
		return
	}
	if !info.IsDir() {
		x.count(info)
		return
	}
	_ = fs.WalkDir(root.FS(), name, func(_ string, d fs.DirEntry, err error) error {
		if x.files+x.dirs+x.links >= measureEntries || ctx.Err() != nil {
			x.isCut = true
			return fs.SkipAll
		}
		if err != nil {
			return nil // an unreadable directory counts as one
		}
		if info, err := d.Info(); err == nil {
			x.count(info)
		}
		return nil
	})
}

// count adds one file or directory.
func (x *extent) count(info fs.FileInfo) {
	switch {
	case info.IsDir():
		x.dirs++
	case info.Mode()&fs.ModeSymlink != 0:
		x.links++
	default:
		x.files++
		x.bytes += info.Size()
	}
}

// String returns the extent in words, such as "214 files, 31 MB".
func (x *extent) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{x.files, "file"}, {x.links, "link"}} {
		if p.n > 0 {
			parts = append(parts, countOf(p.n, p.what))
		}
	}
	switch {
	case len(parts) > 0 || x.dirs == 0:
	case x.dirs == 1:
		return "an empty directory"
	default:
		return fmt.Sprintf("%d empty directories", x.dirs)
	}
	if x.bytes > 0 {
		parts = append(parts, listing.Size(x.bytes))
	}
	switch {
	case len(parts) == 0:
		return "nothing is there now"
	case x.isCut:
		return "more than " + strings.Join(parts, ", ")
	}
	return strings.Join(parts, ", ")
}

// countOf returns a number with its noun, in the singular or plural.
func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
