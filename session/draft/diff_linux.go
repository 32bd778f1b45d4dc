package draft

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/sys/unix"
)

// Bounds of the files that a diff shows line by line.
const (
	maxDiffed   = 1 << 20 // bytes
	binaryProbe = 8000    // bytes in which a NUL makes a file binary, as git has it
)

// Diff writes the paths, or all changes, in the form of git's diffs. Binary and big files have one line.
func (d *Draft) Diff(ctx context.Context, w io.Writer, paths ...string) error {
	unlock, err := d.lock()
	if err != nil {
		return err
	}
	defer unlock()
	s, err := d.scan(ctx, nil)
	if err != nil {
		return err
	}
	if err := d.saveSeen(); err != nil {
		return err
	}
	chosen, err := d.choose(s.nodes, paths, false)
	if err != nil {
		return err
	}
	slices.SortStableFunc(chosen, func(a, b *node) int {
		if a.root != b.root {
			return a.root - b.root
		}
		return strings.Compare(a.rel, b.rel)
	})
	out := bufio.NewWriter(w)
	for _, n := range chosen {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := d.diffNode(out, n); err != nil {
			return fmt.Errorf("draft: diff %q: %w", n.rel, err)
		}
	}
	return out.Flush()
}

// side is a file on one side of a diff.
type side struct {
	stat
	name      string // "/dev/null" if it is missing
	content   []byte
	isOmitted bool // not shown: binary, or larger than maxDiffed
}

// gitMode returns a file's mode as git writes it.
func (s side) gitMode() string {
	switch s.format() {
	case unix.S_IFLNK:
		return "120000"
	case unix.S_IFREG:
		return fmt.Sprintf("100%03o", s.Mode&0o777)
	}
	return fmt.Sprintf("%06o", s.Mode)
}

// diffNode writes one change.
func (d *Draft) diffNode(w io.Writer, n *node) error {
	prefix := ""
	if n.root > 0 { // paths of the first root are relative
		prefix = strings.TrimPrefix(d.info.Roots[n.root], "/") + "/"
	}
	a, b := side{stat: n.low, name: "a/" + prefix + n.rel}, side{stat: n.up, name: "b/" + prefix + n.rel}
	if n.kind == Deleted {
		b.stat = stat{}
	}
	if a.isDir() || b.isDir() {
		d.diffDir(w, n, a, b)
		if a.exists() && !a.isDir() {
			return d.diffFile(w, n, a, side{name: b.name})
		}
		if b.exists() && !b.isDir() {
			return d.diffFile(w, n, side{name: a.name}, b)
		}
		return nil
	}
	if a.exists() && b.exists() && a.format() != b.format() { // as git does: one file goes, the other comes
		if err := d.diffFile(w, n, a, side{name: b.name}); err != nil {
			return err
		}
		return d.diffFile(w, n, side{name: a.name}, b)
	}
	return d.diffFile(w, n, a, b)
}

// diffDir writes a line for a directory, which a diff has no form for.
func (d *Draft) diffDir(w io.Writer, n *node, a, b side) {
	what := "Replaced directory"
	switch {
	case n.kind == Meta:
		what = fmt.Sprintf("Changed mode or attributes (%04o to %04o) of directory", a.permission(), b.permission())
	case !a.isDir():
		what = "New directory"
	case !b.isDir():
		what = "Deleted directory and all in it:"
	}
	fmt.Fprintf(w, "%s %s\n", what, quoteGit(b.name))
}

// diffFile writes the diff of two files. One of them may be missing.
func (d *Draft) diffFile(w io.Writer, n *node, a, b side) error {
	r := d.Roots()[n.root]
	if err := a.read(r.Lower, n.rel); err != nil {
		return err
	}
	if err := b.read(r.Upper, n.rel); err != nil {
		return err
	}
	fmt.Fprintf(w, "diff --git %s %s\n", quoteGit(a.name), quoteGit(b.name))
	switch {
	case !a.exists():
		fmt.Fprintf(w, "new file mode %s\n", b.gitMode())
		a.name = "/dev/null"
	case !b.exists():
		fmt.Fprintf(w, "deleted file mode %s\n", a.gitMode())
		b.name = "/dev/null"
	case a.gitMode() != b.gitMode():
		fmt.Fprintf(w, "old mode %s\nnew mode %s\n", a.gitMode(), b.gitMode())
	}
	if a.isOmitted || b.isOmitted {
		fmt.Fprintf(w, "Binary or big files %s and %s differ (%d to %d bytes)\n", quoteGit(a.name), quoteGit(b.name), a.Size, b.Size)
		return nil
	}
	text := diff.Diff("a", a.content, "b", b.content)
	if len(text) == 0 {
		return nil
	}
	text = text[bytes.Index(text, []byte("\n@@"))+1:] // behind the library's own header
	_, err := fmt.Fprintf(w, "--- %s\n+++ %s\n%s", quoteGit(a.name), quoteGit(b.name), text)
	return err
}

// read reads the content of a file that is neither binary nor big. The content of a symbolic link is its target.
func (s *side) read(root, rel string) error {
	dir, name := split(rel)
	switch {
	case !s.exists():
		return nil
	case s.isFile() && s.Size > maxDiffed, !s.isFile() && s.format() != unix.S_IFLNK:
		s.isOmitted = true
		return nil
	}
	at, err := openIn(root, dir)
	if err != nil {
		return err
	}
	defer closeFD(at)
	if s.format() == unix.S_IFLNK {
		to, err := readLink(at, name)
		s.content = []byte(to)
		return err
	}
	f, err := openFile(at, name)
	if errors.Is(err, fs.ErrPermission) {
		s.isOmitted = true
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if s.content, err = io.ReadAll(io.LimitReader(f, maxDiffed+1)); err != nil {
		return err
	}
	s.isOmitted = len(s.content) > maxDiffed || bytes.IndexByte(s.content[:min(len(s.content), binaryProbe)], 0) >= 0
	return nil
}

// quoteGit quotes a path as git does if it has characters that end it or are not ASCII.
func quoteGit(path string) string {
	plain := func(c byte) bool { return c >= ' ' && c < 0x7f && c != '"' && c != '\\' }
	quoted := false
	for i := range len(path) {
		quoted = quoted || !plain(path[i])
	}
	if !quoted {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case plain(c):
			b.WriteByte(c)
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		default:
			fmt.Fprintf(&b, `\%03o`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Size returns the disk space of the upper directories in bytes.
func (d *Draft) Size() (int64, error) {
	var total int64
	for _, r := range d.Roots() {
		fd, err := openRoot(r.Upper)
		if err != nil {
			return 0, fmt.Errorf("draft: %w", err)
		}
		n, err := diskUse(fd, map[uint64]bool{})
		closeFD(fd)
		if err != nil {
			return 0, fmt.Errorf("draft: %w", err)
		}
		total += n
	}
	return total, nil
}

// diskUse returns the disk space of a directory. It counts a file with several names once.
func diskUse(dir int, counted map[uint64]bool) (total int64, err error) {
	all, err := names(dir)
	if err != nil {
		return 0, err
	}
	for _, name := range all {
		s, err := statAt(dir, name)
		if err != nil {
			return 0, err
		}
		if s.Nlink > 1 && !s.isDir() {
			if counted[s.Ino] {
				continue
			}
			counted[s.Ino] = true
		}
		total += s.Blocks * 512
		if !s.isDir() {
			continue
		}
		fd, err := openDir(dir, name)
		if err != nil {
			return 0, err
		}
		n, err := diskUse(fd, counted)
		closeFD(fd)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}
