//go:build unix

package viewsource

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/render/view"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// viewLayouts keeps the viewer's layouts as files, state/layouts/NAME.json.
type layouts struct {
	dir  string
	last string // what the viewer's own layout is called here; empty: as it calls it
}

const layoutSuffix = ".json"

// lastOfMany begins the name of the viewer's own layout where it shows several hosts: each set of hosts has its own, and
// that of one host stays as it was. The name alone is that of earlier versions, for all sets.
const lastOfMany = "last of several hosts"

// lastOf is what the viewer's own layout is called where these hosts are shown; empty: as it calls it.
func lastOf(hosts []Host) string {
	if len(hosts) < 2 {
		return ""
	}
	names := make([]string, len(hosts))
	for i := range hosts {
		names[i] = hosts[i].Name
	}
	slices.Sort(names)
	sum := sha256.Sum256([]byte(strings.Join(names, "\n"))) // there may be more hosts than a file's name has room for
	return lastOfMany + " " + hex.EncodeToString(sum[:8])
}

// path is a layout's file. Names may hold anything, so they are escaped.
func (l layouts) path(name string) string {
	if name == lastLayout && l.last != "" {
		name = l.last
	}
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
			if name, err := url.PathUnescape(base); err == nil && !strings.HasPrefix(name, lastOfMany) && name != view.LastOfNamed {
				names = append(names, name)
			}
		}
	}
	return names, err
}

func (l layouts) Load(_ context.Context, name string) ([]byte, error) {
	b, err := os.ReadFile(l.path(name))
	if errors.Is(err, fs.ErrNotExist) && name == lastLayout && l.last != "" {
		b, err = os.ReadFile(l.path(lastOfMany))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Save syncs it to the disk: a person gave it its name, and it is kept nowhere else.
func (l layouts) Save(_ context.Context, name string, layout []byte) error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	return atomicfile.Write(l.path(name), atomicfile.Options{Sync: atomicfile.Content, Shared: true}, layout)
}

// projectLayout is a layout that a project's file has, with the project's directory. A viewer that saves another under
// the name does not write that, and so it is known for a person's.
type projectLayout struct {
	*model.Layout
	Project string `json:"project"`
}

// SaveProjectLayout keeps the layout of the project at root under its name, for `view --layout NAME`. kept: it did, as no
// person has saved one there.
func SaveProjectLayout(ctx context.Context, dirs paths.Dirs, name, root string, l *model.Layout) (kept bool, err error) {
	there, err := layoutsOf(dirs).Load(ctx, name)
	if err != nil {
		return false, err
	}
	unmarked, err := json.MarshalIndent(l, "", "  ") // as earlier versions wrote it
	if err != nil {
		return false, err
	}
	var by projectLayout
	if there != nil && !bytes.Equal(there, unmarked) && (json.Unmarshal(there, &by) != nil || by.Project == "") {
		return false, nil
	}
	b, err := json.MarshalIndent(projectLayout{l, root}, "", "  ")
	if err != nil {
		return false, err
	}
	return true, layoutsOf(dirs).Save(ctx, name, b)
}

// LayoutKept says that a layout of this name was saved, or that none was and which were.
func LayoutKept(dirs paths.Dirs, name string) error {
	names, err := layoutsOf(dirs).Names(context.Background())
	switch {
	case err != nil || slices.Contains(names, name):
		return err
	case len(names) == 0:
		return fmt.Errorf("there is no layout %q: none was saved", name)
	}
	slices.Sort(names)
	return fmt.Errorf("there is no layout %q, but %s", name, strings.Join(names, ", "))
}

func layoutsOf(dirs paths.Dirs) layouts { return layouts{dir: filepath.Join(dirs.State, "layouts")} }

// LoadLayout returns the layout that was saved under a name, or nil if none was. "last" is the layout of the viewer that was
// used last, whichever sessions it shows.
func LoadLayout(ctx context.Context, dirs paths.Dirs, name string) ([]byte, error) {
	l := layoutsOf(dirs)
	if name == lastLayout {
		name = l.newestOwn()
	}
	return l.Load(ctx, name)
}

// newestOwn returns the name of the newest layout that a viewer keeps by itself.
func (l layouts) newestOwn() string {
	newest, at := lastLayout, time.Time{}
	files, _ := os.ReadDir(l.dir) // an unreadable directory has no layouts
	for _, f := range files {
		base, ok := strings.CutSuffix(f.Name(), layoutSuffix)
		name, err := url.PathUnescape(base)
		if !ok || err != nil || name != lastLayout && name != view.LastOfNamed && !strings.HasPrefix(name, lastOfMany) {
			continue
		}
		if info, err := f.Info(); err == nil && info.ModTime().After(at) {
			newest, at = name, info.ModTime()
		}
	}
	return newest
}

// LayoutNames are the names of layouts.
func LayoutNames(ctx context.Context, dirs paths.Dirs) ([]string, error) {
	return layoutsOf(dirs).Names(ctx)
}

// RemoveLayout forgets one; false: there was none.
func RemoveLayout(dirs paths.Dirs, name string) (bool, error) {
	err := os.Remove(layoutsOf(dirs).path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// order hands on how somebody wants sessions to stand. A viewer that is behind with those misses it.
func (v source) order(a *api.Arrange) {
	o := model.Order{Do: a.Do, Session: v.there(a.Session), Beside: v.there(a.Beside), Below: a.Below, Tab: a.Tab}
	o.Float, o.Pinned, o.Stacked = a.Float, a.Pinned, a.Stacked
	if r := a.Area; r != nil {
		const percent = 100.0
		o.Area = &layout.Float{X: float64(r.X) / percent, Y: float64(r.Y) / percent, W: float64(r.W) / percent, H: float64(r.H) / percent}
	}
	if a.Do == "apply" {
		l, err := model.ParseLayout(a.Layout)
		if err != nil {
			v.answer(a, err.Error())
			return
		}
		l.Call(v.there)
		o.Layout = l
	}
	o.Answer = func(why string) { v.answer(a, why) }
	select {
	case v.orders <- o:
	default:
		o.Answer("the viewer is behind with what it was told before")
	}
}

// answerTime bounds telling the daemon what came of an order.
const answerTime = 2 * time.Second

// answer tells who sent an order what came of it, beside the viewer's loop. An older daemon does not ask.
func (v source) answer(a *api.Arrange, why string) {
	if a.Order == "" {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), answerTime)
		defer cancel()
		_ = v.c.AnswerOrder(ctx, a.Order, why) // it is waited for no longer, then
	}()
}
