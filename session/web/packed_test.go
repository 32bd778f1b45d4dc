package web

import (
	"bytes"
	"testing"

	sources "github.com/longterm-dev/longterm/session/web/pack"
)

// TestPacked_IsCurrent checks that the packed files equal a build of the page's sources.
func TestPacked_IsCurrent(t *testing.T) {
	made, err := sources.BuildPage("page")
	if err != nil {
		t.Fatal(err)
	}
	had, err := embedded.ReadDir("packed")
	if err != nil || len(had) != len(made) {
		t.Errorf("got %d packed files, want %d: %v", len(had), len(made), err)
	}
	for name, b := range made {
		z, err := embedded.ReadFile("packed/" + name + ".gz")
		if err != nil {
			t.Error(err)
			continue
		}
		if is, err := gunzip(z); err != nil || !bytes.Equal(is, b) {
			t.Errorf("%s is out of date: go generate ./session/web (%v)", name, err)
		}
	}
}

// TestPageIsSmall checks that the compressed page is small, including the parts for fleets and relays.
//
// FEATURES: R112
func TestPageIsSmall(t *testing.T) {
	first, all := 0, 0
	for name, a := range Embedded().byName {
		n := len(a.plain)
		if a.gzipped != nil {
			n = len(a.gzipped)
		}
		t.Logf("%s: %d", name, n)
		if all += n; name != "rare.js" {
			first += n
		}
	}
	t.Logf("%d bytes, %d of them initial", all, first)
	if all > 50<<10 {
		t.Errorf("got %d bytes", all)
	}
}
