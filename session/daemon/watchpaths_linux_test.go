package daemon

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/internal/idlepoll"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// problems is a log that passes on problems of the user's rules. A check of the daemon's files reads them after it has
// followed their directories and before it makes any of them again.
type problems chan string

func (problems) Enabled(context.Context, slog.Level) bool { return true }
func (p problems) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "problem" {
			p <- a.Value.String()
		}
		return true
	})
	return nil
}
func (p problems) WithAttrs([]slog.Attr) slog.Handler { return p }
func (p problems) WithGroup(string) slog.Handler      { return p }

// looked waits until rules were read that contain a word which is no key.
func (p problems) looked(t *testing.T, word string) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case said := <-p:
			if strings.Contains(said, word) {
				return
			}
		case <-late:
			t.Fatalf("the rules with %q are not read", word)
		}
	}
}

func writeRules(t *testing.T, dir, word string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "policy.toml"), []byte(word+" = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestNothingIsMadeInThePlaceOfAMovedDirectory checks that while a state directory is moved away, nothing is created in
// its place, so it can be moved back.
//
// FEATURES: R93
func TestNothingIsMadeInThePlaceOfAMovedDirectory(t *testing.T) {
	t.Parallel()
	dirs, log := testDirs(t), make(problems, 100)
	if err := os.MkdirAll(dirs.Config, 0o700); err != nil {
		t.Fatal(err)
	}
	r := startDaemon(t, dirs, func(c *Config) { c.Log = slog.New(log) })
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "runs", Argv: []string{"cat"}})
	if err := os.Rename(dirs.State, dirs.State+".away"); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"first", "second"} { // the next check starts after the one before
		writeRules(t, dirs.Config, word)
		log.looked(t, word)
	}
	if _, err := os.Lstat(dirs.State); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a directory in the place of the one that was moved, %v", err)
	}
	if err := errors.Join(os.RemoveAll(dirs.State), os.Rename(dirs.State+".away", dirs.State)); err != nil {
		t.Fatal(err)
	}
	r.ask("DELETE", "/sessions/runs?force=true", nil)
}

// TestReplacedDirectory_IsWatched checks that an idle daemon is notified of changes in the directories that exist now,
// not in those that existed at its start.
//
// FEATURES: R90 R93
func TestReplacedDirectory_IsWatched(t *testing.T) {
	t.Parallel()
	tier.Full(t)
	dirs, log := testDirs(t), make(problems, 100)
	other := dirs.Config + ".other"
	if err := errors.Join(os.MkdirAll(dirs.Config, 0o700), os.MkdirAll(other, 0o700)); err != nil {
		t.Fatal(err)
	}
	writeRules(t, other, "moved")
	p := &idlepoll.Poller{IdleAfter: time.Millisecond, IdleInterval: time.Hour}
	r := startDaemon(t, dirs, func(c *Config) { c.Poller, c.Log = p, slog.New(log) })
	events := r.events(t)
	rests := func() {
		t.Helper()
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for still, n := 0, 0; still < 300; n++ { // longer than a poll interval
			if <-look.C; !p.IsIdle() {
				still = -1
			}
			if still++; n > 12_000 {
				t.Fatal("it does not become idle")
			}
		}
	}
	rests()
	if err := unix.Renameat2(unix.AT_FDCWD, dirs.Config, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE); err != nil {
		t.Skip("two directories cannot be exchanged here: ", err)
	}
	log.looked(t, "moved")
	rests()
	if err := os.WriteFile(dirs.ConfigFile(), []byte("[limits]\nframe_rate = 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	late := time.After(time.Minute)
	for {
		select {
		case e := <-events:
			if e.Kind == "config" {
				return
			}
		case <-late:
			t.Fatal("a file of the existing directory is not read")
		}
	}
}
