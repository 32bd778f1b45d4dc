package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/confine"
)

// TestDraftCaches checks that programs in a draft write caches of builds privately: existing ones that the profile can
// read, outside of writable and hidden directories.
//
// FEATURES: R124
func TestDraftCaches(t *testing.T) {
	at := testPlace(t)
	for _, d := range []string{".cache/go-build", ".npm", "go/pkg", ".cargo/registry", ".m2"} {
		if err := os.MkdirAll(filepath.Join(at.Home, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/", filepath.Join(at.Home, ".gradle")); err != nil {
		t.Fatal(err)
	}
	caches := func(src string, drafts ...string) (all []string, r *Rules) {
		t.Helper()
		at.Draft = drafts
		r, err := profileFor(t, src).Resolve(at)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Caches {
			rel, _ := filepath.Rel(at.Home, c.Path)
			all = append(all, rel)
		}
		return all, r
	}
	const open = "[p]\nextends = \"workspace\"\nprivate_tmp = false\n"
	got, r := caches(open+"write = [\"~/.m2\"]\nhide = [\"~/.npm\"]\n", at.Cwd)
	if want := ".cache go/pkg .cargo/registry"; strings.Join(got, " ") != want {
		t.Errorf("caches %q, want %q", got, want)
	}
	r.Caches[0].Upper = "/upper"
	found := false
	for _, m := range r.mounts() {
		if m.Path == filepath.Join(at.Home, ".cache") {
			found = m.Kind == confine.MountDraft && m.Optional && m.Upper == "/upper"
		}
	}
	if !found {
		t.Errorf("no mount of a cache in %+v", r.mounts())
	}
	if text := strings.Join(r.DraftLimits(), "; "); !strings.Contains(text, "lost at the end: "+filepath.Join(at.Home, ".cache")) {
		t.Error(text)
	}
	if got, _ := caches(open); got != nil {
		t.Errorf("caches %q without a draft", got)
	}
	if got, _ := caches(open, at.Home); got != nil {
		t.Errorf("caches %q in a draft of the home directory", got)
	}
	if got, _ := caches("[p]\nread = [\"/usr\"]\nprivate_tmp = false\n", at.Cwd); got != nil {
		t.Errorf("caches %q that the profile does not read", got)
	}
}
