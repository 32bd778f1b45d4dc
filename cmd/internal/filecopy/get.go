//go:build unix

package filecopy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Get holds where a file of a session's host is written.
type Get struct {
	Out    string // file or directory; - means Stdout; by default the file's name in the current directory
	Force  bool   // replace a file
	Stdout io.Writer
}

// Got is a copied file.
type Got struct {
	Path   string `json:"path"` // here
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// chunk is the size of reads and writes.
const chunk = 256 << 10

// Run copies a file of the session's host. A file that exists is replaced only with Force, and no incomplete file stays.
func (g *Get) Run(ctx context.Context, s *client.Session, path string) (got Got, err error) {
	if g.Out != "-" {
		if got.Path, err = g.target(path); err != nil {
			return got, err
		}
	}
	f, err := s.GetFile(ctx, path)
	if err != nil {
		return got, err
	}
	defer f.Close()
	if g.Out == "-" {
		_, err = io.CopyBuffer(onlyWriter{g.Stdout}, f, make([]byte, chunk))
	} else {
		err = g.save(f, got.Path)
	}
	got.Size, got.SHA256 = f.Size(), f.SHA256()
	return got, err
}

// target returns the path to write, unless a file is there.
func (g *Get) target(path string) (string, error) {
	to, name := g.Out, filepath.Base(path)
	st, err := os.Stat(to)
	switch {
	case to == "":
		to = name
	case err == nil && st.IsDir():
		to = filepath.Join(to, name)
	case os.IsPathSeparator(to[len(to)-1]):
		return "", fmt.Errorf("directory %q not found", to)
	}
	if base := filepath.Base(to); base == "." || base == ".." || base == "/" {
		return "", fmt.Errorf("%q has no file name; name it (-o FILE)", path)
	}
	st, err = os.Lstat(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return to, nil
	case err != nil:
		return "", err
	case st.IsDir():
		return "", fmt.Errorf("%q is a directory; choose another name (-o FILE)", to)
	case !g.Force:
		return "", exists(to)
	case st.Mode().Type()&^fs.ModeSymlink != 0: // a device or pipe is no file to replace
		return "", fmt.Errorf("%q is no regular file; write to it with `-o - >FILE`", to)
	}
	return to, nil
}

func exists(path string) error {
	return fmt.Errorf("%q exists; choose another name (-o FILE), or use --force", path)
}

// save writes the file beside its path, and names it once it is complete.
func (g *Get) save(f *client.File, path string) error {
	p, err := atomicfile.Create(filepath.Dir(path), f.Mode|0o600)
	if err != nil {
		return err
	}
	if _, err := io.CopyBuffer(onlyWriter{p}, f, make([]byte, chunk)); err != nil {
		return errors.Join(err, p.Drop())
	}
	err = p.Keep(path, g.Force)
	if errors.Is(err, fs.ErrExist) {
		err = exists(path)
	}
	return errors.Join(err, p.Drop())
}

// onlyWriter hides other methods of a writer, which would not use the buffer.
type onlyWriter struct{ io.Writer }
