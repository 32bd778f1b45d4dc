//go:build unix

package liveconfig

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys"
)

// changing holds settings whose file a test changes.
type changing struct {
	*Settings
	t   *testing.T
	age time.Duration // each content gets a separate time, long ago
}

func newChanging(t *testing.T, content string) *changing {
	dir := t.TempDir()
	c := &changing{t: t, age: 1000 * time.Hour}
	dirs := paths.Dirs{State: filepath.Join(dir, "state"), Config: filepath.Join(dir, "config")}
	c.Settings = &Settings{dirs: dirs}
	if content != "" {
		c.write(content)
	}
	c.open()
	return c
}

// open is a daemon's start.
func (c *changing) open() { c.Settings = Open(c.dirs, slog.New(slog.DiscardHandler)) }

func (c *changing) write(content string) {
	c.t.Helper()
	if err := config.WriteFile(c.dirs.ConfigFile(), []byte(content)); err != nil {
		c.t.Fatal(err)
	}
	c.age -= time.Hour
	at := time.Now().Add(-c.age)
	if err := os.Chtimes(c.dirs.ConfigFile(), at, at); err != nil {
		c.t.Fatal(err)
	}
}

func (c *changing) want(sessions int, using, problem string) {
	c.t.Helper()
	st := c.Status()
	if got := c.Get().Limits.Sessions; got != sessions || st.Using != using || !strings.Contains(strings.Join(st.Problems, "\n"), problem) || problem == "" && len(st.Problems) > 0 {
		c.t.Errorf("limit %d, want %d; %+v, want %s %q", got, sessions, st, using, problem)
	}
}

// TestSettingsFollowTheFile checks that a changed file is applied and an invalid one is not, and that the last valid
// settings survive a restart.
func TestSettingsFollowTheFile(t *testing.T) {
	c := newChanging(t, "")
	c.want(2000, "defaults", "")
	if c.ReloadIfChanged(time.Now()) {
		t.Error("no change was applied")
	}
	c.write("[limits]\nsessions = 5\n")
	if !c.ReloadIfChanged(time.Now()) || c.ReloadIfChanged(time.Now()) {
		t.Error("a change is seen once")
	}
	c.want(5, "file", "")
	c.write("[limits]\nsessions = 0\n")
	c.ReloadIfChanged(time.Now())
	c.want(5, "kept", "2:12: limits.sessions: 0 is out of bounds")
	c.open()
	c.want(5, "kept", "limits.sessions")
	c.write("[limits]\nsessions = 6\n")
	c.ReloadIfChanged(time.Now())
	c.want(6, "file", "")
}

// TestSettingsWrittenInPlace checks that a file that is overwritten in place is applied even if its size and time stay
// the same.
func TestSettingsWrittenInPlace(t *testing.T) {
	c := newChanging(t, "[limits]\nsessions = 5\n")
	path := c.dirs.ConfigFile()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for before := sys.FileID(path); sys.FileID(path) == before; { // the clock of inodes ticks some hundred times a second
		if err := os.WriteFile(path, []byte("[limits]\nsessions = 7\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, st.ModTime(), st.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	if !c.ReloadIfChanged(time.Now()) || c.ReloadIfChanged(time.Now()) {
		t.Error("it is not seen once")
	}
	c.want(7, "file", "")
}

// TestSettingsWhileAnEditorWrites checks that editors that rename files, which leave moments without a file or with
// half of one, cause no error.
func TestSettingsWhileAnEditorWrites(t *testing.T) {
	c := newChanging(t, "[limits]\nsessions = 5\n")
	path := c.dirs.ConfigFile()
	if err := os.Rename(path, path+"~"); err != nil {
		t.Fatal(err)
	}
	if c.ReloadIfChanged(time.Now()) {
		t.Error("a briefly missing file counts as removed")
	}
	c.write("[limits]\nsessions = 7\n")
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.ReloadIfChanged(st.ModTime().Add(settleTime / 2)) {
		t.Error("a file just written is read")
	}
	if !c.ReloadIfChanged(st.ModTime().Add(2 * settleTime)) {
		t.Error("an unchanged file is not read")
	}
	c.want(7, "file", "")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if c.ReloadIfChanged(time.Now()) || !c.ReloadIfChanged(time.Now()) {
		t.Error("a file that stays away is not noticed")
	}
	c.want(2000, "defaults", "")
	c.open()
	c.want(2000, "defaults", "")
}

// TestSettingsBrokenFromTheStart checks that a file that is invalid at the very first start gives the defaults.
func TestSettingsBrokenFromTheStart(t *testing.T) {
	c := newChanging(t, "[limits\n")
	c.want(2000, "defaults", "1:")
	if c.Parser() == nil {
		t.Error("no parser")
	}
}

// TestParserIsMadeWhenItIsUsed checks that the matchers are compiled when they first read output: an idle daemon does
// without.
func TestParserIsMadeWhenItIsUsed(t *testing.T) {
	c := newChanging(t, "")
	took := testing.AllocsPerRun(1, func() { c.apply(config.Empty(""), "") })
	e := c.apply(config.Empty(""), "")
	first := e.parser()
	made := testing.AllocsPerRun(1, func() { c.apply(config.Empty(""), "").parser() })
	if e.parser() != first || made < 10*took {
		t.Errorf("%g allocations without it, %g with it", took, made)
	}
}

// TestEnginesOfTheConfiguration checks that sessions use the emulator that the configuration chooses.
func TestEnginesOfTheConfiguration(t *testing.T) {
	for _, row := range config.KeySpecs() {
		if row.Key == "shells.engine" {
			if !slices.Equal(row.Values, session.EngineNames()) || row.Default != session.DefaultEngine {
				t.Errorf("%v, %s; sessions know %v, %s", row.Values, row.Default, session.EngineNames(), session.DefaultEngine)
			}
			return
		}
	}
	t.Error("no key shells.engine")
}

// FAULT: B24
// FEATURES: R35
func TestFrameRateIsASetting(t *testing.T) {
	c := newChanging(t, "")
	if d := c.FrameInterval(); d != time.Second/60 {
		t.Errorf("without a file %v", d)
	}
	c.write("[limits]\nframe_rate = 4\n")
	if !c.ReloadIfChanged(time.Now()) || c.FrameInterval() != 250*time.Millisecond {
		t.Errorf("at 4 a second %v", c.FrameInterval())
	}
}

// TestHooks_SendWhatAlertsSend checks that hooks send a webhook no more than alerts do.
//
// FEATURES: R119
func TestHooks_SendWhatAlertsSend(t *testing.T) {
	hook := "[[hooks]]\nname = \"a\"\non = \"exit\"\nwebhook = \"https://host/topic\"\n"
	c := newChanging(t, hook)
	for _, details := range []bool{true, false} {
		c.write("[notify]\ndetails = " + map[bool]string{true: "true", false: "false"}[details] + "\n" + hook)
		c.ReloadIfChanged(time.Now())
		if hooks, known := c.Hooks(); !known || len(hooks) != 1 || hooks[0].Brief == details {
			t.Errorf("details %v: %+v", details, hooks)
		}
	}
}
