//go:build unix

// Package filecopy copies files into sessions and from their hosts: `longterm put` and `longterm get`.
//
// put.go sends local files, one after the other. get.go writes a file under a name that is free, once it is complete.
package filecopy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// Put holds how files are stored.
type Put struct {
	As    string // name of the only file, if it is not its own
	Type  bool   // paste the paths into the session
	Stdin *os.File
}

// Run stores files with a session, in order, and returns those that were stored also with an error.
func (p *Put) Run(ctx context.Context, s *client.Session, paths []string) ([]api.StoredFile, error) {
	done := []api.StoredFile{}
	if p.As != "" && len(paths) > 1 {
		return done, exit.Usagef("--as NAME requires a single file")
	}
	for _, path := range paths {
		if path == "-" && p.As == "" {
			return done, exit.Usagef("standard input has no name; use --as NAME")
		}
	}
	for _, path := range paths {
		f, err := p.one(ctx, s, path)
		if err != nil {
			return done, err
		}
		done = append(done, f)
	}
	if !p.Type {
		return done, nil
	}
	words := make([]string, len(done))
	for i := range done {
		words[i] = done[i].Path
	}
	line := shellquote.Line(words)
	if _, err := s.Type(ctx, api.Input{Paste: &line}); err != nil {
		return done, fmt.Errorf("stored, but not typed: %w", err)
	}
	return done, nil
}

func (p *Put) one(ctx context.Context, s *client.Session, path string) (api.StoredFile, error) {
	name := p.As
	if path == "-" {
		return s.PutFile(ctx, name, -1, p.Stdin)
	}
	f, st, err := openLocal(path)
	if err != nil {
		return api.StoredFile{}, err
	}
	defer f.Close()
	if name == "" {
		if name = filepath.Base(path); name == ".." || name == "." {
			return api.StoredFile{}, exit.Usagef("%q has no name; use --as NAME", path)
		}
	}
	return s.PutFile(ctx, strings.ToValidUTF8(name, "_"), st.Size(), f)
}

// openLocal opens a regular file. Pipes and devices are rejected before they are opened.
func openLocal(path string) (*os.File, fs.FileInfo, error) {
	st, err := os.Stat(path)
	if err == nil {
		err = checkKind(path, st)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	if st, err = f.Stat(); err == nil { // another file may have the name now
		err = checkKind(path, st)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, st, nil
}

func checkKind(path string, st fs.FileInfo) error {
	switch {
	case st.IsDir():
		return fmt.Errorf("%q is a directory; pack it: `%s | longterm put S - --as NAME.tar`", path,
			shellquote.Line([]string{"tar", "-C", filepath.Dir(path), "-cf", "-", filepath.Base(path)}))
	case !st.Mode().IsRegular():
		return fmt.Errorf("%q is no regular file; read it from standard input: `longterm put S - --as NAME <%s`", path, shellquote.Line([]string{path}))
	}
	return nil
}

// WritePaths prints the paths of stored files, each in a line.
func WritePaths(w io.Writer, files []api.StoredFile, printable func(string) string) {
	for i := range files {
		fmt.Fprintln(w, printable(files[i].Path))
	}
}
