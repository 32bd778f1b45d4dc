//go:build unix

package viewsource

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/render/view"
	"github.com/longterm-dev/longterm/session/paths"
)

// FEATURES: R76
func TestViewLayouts(t *testing.T) {
	ctx := t.Context()
	l := layouts{dir: filepath.Join(t.TempDir(), "layouts")}
	if names, err := l.Names(ctx); err != nil || len(names) != 0 {
		t.Errorf("before there is one: %q %v", names, err)
	}
	names := []string{"..", ".hidden", "a/b", "last", "über ☂"}
	for _, n := range names {
		if b, err := l.Load(ctx, n); b != nil || err != nil {
			t.Errorf("%s before it was saved: %q %v", n, b, err)
		}
		for _, text := range []string{"old and longer", n} {
			if err := l.Save(ctx, n, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := l.Names(ctx)
	slices.Sort(got)
	if err != nil || !slices.Equal(got, names) {
		t.Errorf("%q %v", got, err)
	}
	for _, n := range names {
		if b, err := l.Load(ctx, n); string(b) != n || err != nil {
			t.Errorf("%s: %q %v", n, b, err)
		}
	}
	files, _ := os.ReadDir(l.dir)
	if outside, _ := os.ReadDir(filepath.Dir(l.dir)); len(files) != len(names) || len(outside) != 1 {
		t.Errorf("%d files in the directory, %d outside of it", len(files), len(outside))
	}
	l = layouts{dir: filepath.Join("/dev/null", "layouts")}
	if err := l.Save(ctx, "x", nil); err == nil {
		t.Error("saved without a directory")
	}
}

// TestLastLayoutOfSeveralHosts checks that each set of hosts has its own last layout, in whatever order they were
// named. The single one of an earlier version is used at first.
//
// FEATURES: R76
func TestLastLayoutOfSeveralHosts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "layouts")
	of := func(names ...string) layouts {
		var hosts []Host
		for _, n := range names {
			hosts = append(hosts, Host{Name: n})
		}
		return layouts{dir: dir, last: lastOf(hosts)}
	}
	save := func(l layouts, name, text string) {
		t.Helper()
		if err := l.Save(t.Context(), name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	save(of(), lastOfMany, "earlier")
	save(of(""), lastLayout, "here")
	save(of("", "a"), lastLayout, "here and a")
	save(of("a", "b"), lastLayout, "a and b")
	save(of("a", "b"), "mine", "named")
	for _, c := range []struct {
		l          layouts
		name, want string
	}{
		{of(""), lastLayout, "here"}, {of("c"), lastLayout, "here"}, {of("a", ""), lastLayout, "here and a"}, {of("b", "a"), lastLayout, "a and b"},
		{of("a", "b", "c"), lastLayout, "earlier"}, {of("ab", ""), lastLayout, "earlier"}, {of(""), "mine", "named"}, {of("", "a"), "other", ""},
	} {
		if b, err := c.l.Load(t.Context(), c.name); string(b) != c.want || err != nil {
			t.Errorf("%s of %q: %q %v, want %q", c.name, c.l.last, b, err, c.want)
		}
	}
	if names, err := of("a", "b").Names(t.Context()); err != nil || !slices.Equal(names, []string{lastLayout, "mine"}) {
		t.Errorf("%q %v", names, err)
	}
}

// TestLoadLayout_LastIsTheNewest checks that the last layout is that of the last used viewer, whichever sessions it
// shows.
//
// FAULT: H23
func TestLoadLayout_LastIsTheNewest(t *testing.T) {
	dirs := paths.Dirs{State: t.TempDir()}
	l := layoutsOf(dirs)
	several := layouts{dir: l.dir, last: lastOf([]Host{{Name: "a"}, {Name: "b"}})}
	for i, s := range []struct {
		l    layouts
		name string
	}{{l, view.LastOfNamed}, {several, lastLayout}, {l, lastLayout}, {l, view.LastOfNamed}, {l, "mine"}} {
		want := strings.Repeat("x", i+1)
		if err := s.l.Save(t.Context(), s.name, []byte(want)); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000*i), 0)
		if err := os.Chtimes(s.l.path(s.name), at, at); err != nil {
			t.Fatal(err)
		}
		if s.name == "mine" {
			want = want[1:]
		}
		if got, err := LoadLayout(t.Context(), dirs, lastLayout); string(got) != want || err != nil {
			t.Errorf("after %s: %q, %v", s.name, got, err)
		}
	}
	if names, err := l.Names(t.Context()); err != nil || !slices.Equal(names, []string{lastLayout, "mine"}) {
		t.Errorf("%q, %v", names, err)
	}
}

// TestUnknownLayout_RejectedBeforeDrawing checks that a layout that was never saved is rejected before anything is
// drawn, with the names of the saved ones.
func TestUnknownLayout_RejectedBeforeDrawing(t *testing.T) {
	dirs := paths.Dirs{State: t.TempDir()}
	if err := CheckLayoutExists(dirs, "x"); err == nil || !strings.Contains(err.Error(), "no layouts are saved") {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"two", "one"} {
		if err := layoutsOf(dirs).Save(t.Context(), name, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	if err := CheckLayoutExists(dirs, "x"); err == nil || !strings.HasSuffix(err.Error(), "saved layouts: one, two") {
		t.Errorf("%v", err)
	}
	if err := CheckLayoutExists(dirs, "two"); err != nil {
		t.Error(err)
	}
}
