package drafts

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/draft"
)

// FEATURES: R124
func TestCounter_CountsAgain_AfterWrites(t *testing.T) {
	dir := t.TempDir()
	d, err := draft.Create(filepath.Join(dir, "s"), draft.Options{Roots: []string{t.TempDir()}, Session: "s", Command: "sh"})
	if errors.Is(err, draft.ErrUnsupported) || errors.Is(err, os.ErrPermission) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(d.Roots()[0].Upper, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	published := 0
	c := Counter{Drafts: func() Drafts { return Drafts{Dir: dir} }, Log: slog.New(slog.DiscardHandler), OnChange: func(string) { published++ }}
	check := func(live bool, written time.Time, recount bool, want, events int) {
		t.Helper()
		counting := c.Refresh("s", live, written)
		if (counting != nil) != recount {
			t.Fatalf("counted again: %v", counting != nil)
		}
		if recount {
			<-counting
		}
		if got := c.Get("s"); got == nil || *got != want {
			t.Fatalf("%v changes, want %d", got, want)
		}
		if published != events {
			t.Errorf("published %d times, want %d", published, events)
		}
	}
	if c.Get("s") != nil {
		t.Error("counted before")
	}
	write("a")
	check(true, time.Time{}, true, 1, 1)
	write("b")
	check(true, time.Now(), false, 1, 1) // counted within a second
	c.Invalidate("s")
	check(true, time.Time{}, true, 2, 2)
	check(false, time.Now().Add(-time.Hour), false, 2, 2)
	write("c")
	check(false, time.Now(), true, 3, 3)
	c.Set("s", 5, time.Now())
	check(true, time.Time{}, false, 5, 4)
	c.Set("s", 7, time.Now().Add(-time.Hour)) // an older scan
	check(true, time.Time{}, false, 5, 4)
	c.Forget("s")
	c.Invalidate("s") // makes no entry
	if c.Get("s") != nil {
		t.Error("not forgotten")
	}
	if n := c.Refresh("none", false, time.Time{}); n == nil {
		t.Error("no count")
	} else {
		<-n
	}
	if c.Get("none") != nil {
		t.Error("a count of no draft")
	}
	if c.Refresh("none", false, time.Now()) != nil {
		t.Error("a draft that cannot be counted is counted again at once")
	}
}
