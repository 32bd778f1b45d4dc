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
	"github.com/longterm-dev/longterm/session/internal/pace"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// problems is a log that hands on what is wrong with the person's rules, which a look at the daemon's files reads after it has
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

// looked waits for a look that reads rules with a word in them that is no key.
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

// In the place of a state directory that was moved away for a while nothing is made: it comes back there.
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
	for _, word := range []string{"first", "second"} { // when another look begins the one before is over
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

// A daemon at rest is told of what changes in the directories that are there now, not in those that were there when it began.
//
// FEATURES: R90 R93
func TestAnotherDirectoryIsWatched(t *testing.T) {
	t.Parallel()
	tier.Full(t)
	dirs, log := testDirs(t), make(problems, 100)
	other := dirs.Config + ".other"
	if err := errors.Join(os.MkdirAll(dirs.Config, 0o700), os.MkdirAll(other, 0o700)); err != nil {
		t.Fatal(err)
	}
	writeRules(t, other, "moved")
	p := &pace.Pace{After: time.Millisecond, Beat: time.Hour}
	r := startDaemon(t, dirs, func(c *Config) { c.Pace, c.Log = p, slog.New(log) })
	events := r.events(t)
	rests := func() {
		t.Helper()
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for still, n := 0, 0; still < 300; n++ { // longer than from one look to the next
			if <-look.C; !p.Resting() {
				still = -1
			}
			if still++; n > 12_000 {
				t.Fatal("it does not come to rest")
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
			t.Fatal("a file of the directory that is there now is not read")
		}
	}
}
