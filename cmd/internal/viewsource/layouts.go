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

// layouts stores the viewer's layouts as files, state/layouts/NAME.json.
type layouts struct {
	dir  string
	last string // name of this viewer's automatic layout; empty means the default
}

const layoutSuffix = ".json"

// lastOfMany is the prefix of names of automatic layouts for several hosts. Each set of hosts has its own layout.
// Without a suffix it is the name that earlier versions used for all sets.
const lastOfMany = "last of several hosts"

// lastOf returns the name of the automatic layout for these hosts, or "" for the default.
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

// path returns the file of a layout. Names may contain any characters, so they are escaped.
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

// Save writes a layout and syncs it to the disk: it is stored nowhere else.
func (l layouts) Save(_ context.Context, name string, layout []byte) error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	return atomicfile.Write(l.path(name), atomicfile.Options{Sync: atomicfile.Content, Shared: true}, layout)
}

// projectLayout is a layout from a project file, with the project's directory. If a viewer saves another layout under
// its name, Project is absent, so it counts as the user's.
type projectLayout struct {
	*model.Layout
	Project string `json:"project"`
}

// SaveProjectLayout stores the layout of the project at root under its name, for `view --layout NAME`. It returns false
// if a user has saved a layout under that name.
func SaveProjectLayout(ctx context.Context, dirs paths.Dirs, name, root string, l *model.Layout) (saved bool, err error) {
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

// CheckLayoutExists returns an error that lists the saved layouts, unless a layout of this name is saved.
func CheckLayoutExists(dirs paths.Dirs, name string) error {
	names, err := layoutsOf(dirs).Names(context.Background())
	switch {
	case err != nil || slices.Contains(names, name):
		return err
	case len(names) == 0:
		return fmt.Errorf("layout %q not found (no layouts are saved)", name)
	}
	slices.Sort(names)
	return fmt.Errorf("layout %q not found; saved layouts: %s", name, strings.Join(names, ", "))
}

func layoutsOf(dirs paths.Dirs) layouts { return layouts{dir: filepath.Join(dirs.State, "layouts")} }

// LoadLayout returns a saved layout, or nil if none has this name. "last" is the layout of the viewer that was used
// last, whichever sessions it shows.
func LoadLayout(ctx context.Context, dirs paths.Dirs, name string) ([]byte, error) {
	l := layoutsOf(dirs)
	if name == lastLayout {
		name = l.newestAutomatic()
	}
	return l.Load(ctx, name)
}

// newestAutomatic returns the name of the newest automatic layout.
func (l layouts) newestAutomatic() string {
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

// LayoutNames returns the names of saved layouts.
func LayoutNames(ctx context.Context, dirs paths.Dirs) ([]string, error) {
	return layoutsOf(dirs).Names(ctx)
}

// RemoveLayout removes a saved layout. It returns false if there was none.
func RemoveLayout(dirs paths.Dirs, name string) (bool, error) {
	err := os.Remove(layoutsOf(dirs).path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// order passes a request to arrange sessions to the viewer. A viewer that is behind with earlier orders misses it.
func (v source) order(a *api.Arrange) {
	o := model.Order{Do: a.Do, Session: v.qualify(a.Session), Beside: v.qualify(a.Beside), Below: a.Below, Tab: a.Tab}
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
		l.RenameSessions(v.qualify)
		o.Layout = l
	}
	o.Answer = func(why string) { v.answer(a, why) }
	select {
	case v.orders <- o:
	default:
		o.Answer("viewer busy with earlier orders")
	}
}

// answerTime limits the request that reports an order's result.
const answerTime = 2 * time.Second

// answer reports the result of an order to the daemon, outside of the viewer's loop. An older daemon sends orders
// without an id and needs no result.
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
