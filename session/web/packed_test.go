package web

import (
	"bytes"
	"testing"

	sources "github.com/longterm-dev/longterm/session/web/pack"
)

// What browsers are sent is what the sources of the page make.
func TestPackedIsCurrent(t *testing.T) {
	made, err := sources.Page("page")
	if err != nil {
		t.Fatal(err)
	}
	had, err := embedded.ReadDir("packed")
	if err != nil || len(had) != len(made) {
		t.Errorf("%d files are packed, %d are made: %v", len(had), len(made), err)
	}
	for name, b := range made {
		z, err := embedded.ReadFile("packed/" + name + ".gz")
		if err != nil {
			t.Error(err)
			continue
		}
		if is, err := unpack(z); err != nil || !bytes.Equal(is, b) {
			t.Errorf("%s is out of date: go generate ./session/web (%v)", name, err)
		}
	}
}

// All that the page is made of is small, packed, with what only some are sent: for a fleet and a relay.
//
// FEATURES: R112
func TestPageIsSmall(t *testing.T) {
	first, all := 0, 0
	for name, a := range Embedded().all {
		n := len(a.plain)
		if a.packed != nil {
			n = len(a.packed)
		}
		t.Logf("%s: %d", name, n)
		if all += n; name != "rare.js" {
			first += n
		}
	}
	t.Logf("%d bytes, %d of them for everybody", all, first)
	if all > 44<<10 {
		t.Errorf("%d bytes", all)
	}
}
