//go:build unix

package viewsource

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// viewLayouts keeps the viewer's layouts as files, state/layouts/NAME.json.
type layouts struct{ dir string }

const layoutSuffix = ".json"

// path is a layout's file. Names may hold anything, so they are escaped.
func (l layouts) path(name string) string {
	return filepath.Join(l.dir, strings.ReplaceAll(url.PathEscape(name), ".", "%2E")+layoutSuffix)
}

func (l layouts) Names(context.Context) ([]string, error) {
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

func (l layouts) Load(_ context.Context, name string) ([]byte, error) {
	b, err := os.ReadFile(l.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Save writes a file beside the old one and puts it in its place: a crash leaves one of
// them whole.
func (l layouts) Save(_ context.Context, name string, layout []byte) error {
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
