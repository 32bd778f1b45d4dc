//go:build unix

package main

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// viewLayouts keeps the viewer's layouts as files, state/layouts/NAME.json.
type viewLayouts struct{ dir string }

const layoutSuffix = ".json"

// path is a layout's file. Names may hold anything, so they are escaped.
func (l viewLayouts) path(name string) string {
	return filepath.Join(l.dir, strings.ReplaceAll(url.PathEscape(name), ".", "%2E")+layoutSuffix)
}

func (l viewLayouts) Names(context.Context) ([]string, error) {
	files, err := os.ReadDir(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, f := range files {
		if base, ok := strings.CutSuffix(f.Name(), layoutSuffix); ok {
			if name, err := url.PathUnescape(base); err == nil {
				names = append(names, name)
			}
		}
	}
	return names, err
}

func (l viewLayouts) Load(_ context.Context, name string) ([]byte, error) {
	b, err := os.ReadFile(l.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Save writes a file beside the old one and puts it in its place: a crash leaves one of
// them whole.
func (l viewLayouts) Save(_ context.Context, name string, layout []byte) error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(l.dir, ".saving-*")
	if err != nil {
		return err
	}
	_, err = f.Write(layout)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), l.path(name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// systemClipboard copies by the first program that is there.
type systemClipboard struct{ argv []string }

// clipboards are the programs that take text for the clipboard on standard input, and
// the variable without which they cannot.
var clipboards = []struct {
	env  string
	argv []string
}{
	{"WAYLAND_DISPLAY", []string{"wl-copy"}},
	{"DISPLAY", []string{"xclip", "-selection", "clipboard"}},
	{"DISPLAY", []string{"xsel", "--clipboard", "--input"}},
	{"", []string{"pbcopy"}},
}

// findClipboard is nil where there is none.
func findClipboard() *systemClipboard {
	for _, c := range clipboards {
		if c.env != "" && os.Getenv(c.env) == "" {
			continue
		}
		if path, err := exec.LookPath(c.argv[0]); err == nil {
			return &systemClipboard{append([]string{path}, c.argv[1:]...)}
		}
	}
	return nil
}

func (s *systemClipboard) Copy(ctx context.Context, text string) error {
	cmd := exec.CommandContext(ctx, s.argv[0], s.argv[1:]...)
	cmd.Stdin = strings.NewReader(text)
	return cmd.Run()
}
