//go:build unix

package registry

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/store/search"
)

// An index that could not be opened, as on a full disk, is opened when it can be, without a restart. What was removed meanwhile
// is not found in it.
//
// FEATURES: R92
func TestIndexIsOpenedWhenItCanBe(t *testing.T) {
	r := testRegistry(t)
	h := &host{}
	r.host = h
	r.OpenIndex()
	for id, text := range map[string]string{"gone": "needle one", "kept": "needle two"} {
		line := search.Line{To: uint64(len(text)), Time: time.Unix(1, 0), Text: text}
		if err := r.Index.opened.Load().Add(t.Context(), search.Batch{Session: id, To: line.To, Lines: []search.Line{line}}); err != nil {
			t.Fatal(err)
		}
	}
	path := r.Index.path
	r.Index.close()
	aside := path + ".aside"
	for _, err := range []error{os.Rename(path, aside), os.Mkdir(path, 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r.OpenIndex()
	r.Index.openAgain(t.Context())
	if p := r.Index.Problem(); r.Index.Usable() || !strings.Contains(p, "goes on by itself") {
		t.Fatalf("usable %v, problem %q", r.Index.Usable(), p)
	}
	if err := r.Index.forget(t.Context(), "gone"); err != nil || r.Index.Usable() {
		t.Fatal("usable, or ", err)
	}
	for _, err := range []error{os.Remove(path), os.Rename(aside, path)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r.Index.openAgain(t.Context())
	if p := r.Index.Problem(); !r.Index.Usable() || p != "" || len(h.notices) != 0 {
		t.Fatalf("once it can be opened: usable %v, problem %q, and notices, which stay: %q", r.Index.Usable(), p, h.notices)
	}
	defer r.Index.close()
	var found []string
	for hit, err := range r.Index.Search(t.Context(), search.Query{Text: "needle", Limit: 10}) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, hit.Session)
	}
	if strings.Join(found, " ") != "kept" {
		t.Errorf("found in %q", found)
	}
}
