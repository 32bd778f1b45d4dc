//go:build unix

package doctor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/paths"
)

func TestMain(m *testing.M) {
	confine.Enter() // runs as the probe of sandboxes
	os.Exit(m.Run())
}

// newDoctor returns a doctor of an instance without processes.
func newDoctor(t *testing.T) (*Doctor, *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	dirs := paths.Dirs{Run: filepath.Join(dir, "run"), State: filepath.Join(dir, "state"), Config: dir}
	build := func() string { return "v0" }
	c := client.New(client.Options{Dirs: dirs, Build: build})
	t.Cleanup(c.Close)
	var b bytes.Buffer
	return &Doctor{Printer: &output.Printer{Stdout: &b, Stderr: &b}, Dirs: dirs, Quiet: c, Version: build}, &b
}

// TestChecks checks that each check has a unique name, and a finding for a new instance.
func TestChecks(t *testing.T) {
	d, _ := newDoctor(t)
	names := map[string]bool{}
	for _, c := range checks {
		if names[c.name] {
			t.Errorf("%s is there twice", c.name)
		}
		names[c.name] = true
		if f := c.run(t.Context(), d); f.Text == "" || f.Level == "fail" {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

func TestCheckDir(t *testing.T) {
	dir := t.TempDir()
	for mode, want := range map[os.FileMode]string{0o700: "ok", 0o755: "fail"} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if f := checkDir(dir); f.Level != want {
			t.Errorf("mode %o: %+v", mode, f)
		}
	}
	if f := checkDir(filepath.Join(dir, "none")); f.Level != "ok" || !strings.Contains(f.Text, "not created yet") {
		t.Errorf("%+v", f)
	}
}

// TestLogout checks that the doctor reports if systemd ends a user's processes with the last login, with the remedy.
//
// FEATURES: R98
func TestLogout(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for _, c := range []struct{ booted, loginctl, level, text string }{
		{filepath.Join(dir, "none"), "", "ok", "no systemd"},
		{dir, "", "warn", "unknown"},
		{dir, "echo yes", "ok", "outlive a logout"},
		{dir, "echo no", "warn", "may end when you log out"},
		{dir, "exit 1", "warn", "unknown"},
	} {
		if c.loginctl != "" {
			if err := os.WriteFile(filepath.Join(dir, "loginctl"), []byte("#!/bin/sh\n"+c.loginctl+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if f := linger(t.Context(), c.booted); f.Level != c.level || !strings.Contains(f.Text, c.text) {
			t.Errorf("%q: %+v", c.loginctl, f)
		}
	}
}

// FAULT: J
func TestExamine(t *testing.T) {
	d, out := newDoctor(t)
	if err := os.MkdirAll(d.Dirs.State, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(d.Dirs.State, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := d.Examine(t.Context()); exit.Status(err) != 1 || !strings.Contains(out.String(), "✗ state directory") || !strings.Contains(out.String(), "    → chmod 700") {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(out.String(), "\nnot in order: 1 check failed") {
		t.Errorf("no summary:\n%s", out)
	}
	for want, levels := range map[string][]string{
		"in order: all 2 checks passed":                                    {"ok", "ok"},
		"in order, with 1 warning":                                         {"ok", "warn"},
		"not in order: 2 checks failed, 1 warning: c0, c2; next: `fix c0`": {"fail", "warn", "fail"},
		"not in order: 1 check failed, 0 warnings: c0; next: `fix c0`":     {"fail"},
	} {
		var found []finding
		for i, l := range levels {
			found = append(found, finding{Level: l, Check: fmt.Sprint("c", i), Remedy: fmt.Sprintf("`fix c%d`", i)})
		}
		if got := summarize(found); got != want {
			t.Errorf("%v: %q", levels, got)
		}
	}
	out.Reset()
	if err := d.Journals(t.Context(), false); err != nil || out.String() != "no history\n" {
		t.Errorf("%v %s", err, out)
	}
}

// TestChecksOfAgents checks that files that admit programs are checked: those that others can read, or that are
// damaged, are named with the remedy.
//
// FEATURES: R89
func TestChecksOfAgents(t *testing.T) {
	d, _ := newDoctor(t)
	t.Setenv("HOME", t.TempDir())
	if err := os.MkdirAll(d.Dirs.State, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := apitoken.Open(d.Dirs.Tokens()).Make(apitoken.Token{Name: "old", Level: "read", Expires: time.Now().Add(-time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if f := checkTokens(t.Context(), d); f.Level != "warn" || !strings.Contains(f.Remedy, "token revoke old") {
		t.Errorf("%+v", f)
	}
	write(d.Dirs.Tokens(), "{", 0o600)
	if f := checkTokens(t.Context(), d); f.Level != "fail" || !strings.Contains(f.Text, "longterm token new") {
		t.Errorf("%+v", f)
	}
	key := filepath.Join(d.Dirs.State, "mcp.key")
	write(key, "short", 0o600)
	if f := checkMCP(t.Context(), d); f.Level != "fail" || !strings.Contains(f.Text, "5 bytes") {
		t.Errorf("%+v", f)
	}
	write(key, strings.Repeat("k", 32), 0o600)
	write(filepath.Join(d.Dirs.State, "mcp.token"), "t", 0o644)
	if f := checkMCP(t.Context(), d); f.Level != "fail" || !strings.Contains(f.Remedy, "chmod 600") {
		t.Errorf("%+v", f)
	}
	if f := checkIntegrations(t.Context(), d); f.Level != "ok" || !strings.Contains(f.Text, "no agent") {
		t.Errorf("%+v", f)
	}
	write(filepath.Join(os.Getenv("HOME"), ".gemini", "settings.json"), "{ no JSON", 0o600)
	if f := checkIntegrations(t.Context(), d); f.Level != "warn" || !strings.Contains(f.Text, "gemini") {
		t.Errorf("%+v", f)
	}
}

// TestCheckAudit checks that the audit log is checked too: that it is intact, and that it was not removed.
//
// FEATURES: R89 R109
func TestCheckAudit(t *testing.T) {
	d, _ := newDoctor(t)
	check := func(level, text string) {
		t.Helper()
		if f := checkAudit(t.Context(), d); f.Level != level || !strings.Contains(f.Text, text) {
			t.Errorf("%+v, want %s: %s", f, level, text)
		}
	}
	check("ok", "no records yet")
	l, err := audit.Open(audit.Options{Dir: d.Dirs.Audit()})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := l.Append(audit.Record{Kind: audit.Line, Line: "make"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	check("ok", "3 records consistent")
	if err := os.WriteFile(d.Dirs.Database(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	segment := filepath.Join(d.Dirs.Audit(), "00000000000000000001.jsonl")
	b, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(segment, bytes.Replace(b, []byte("make"), []byte("fake"), 2), 0o600); err != nil {
		t.Fatal(err)
	}
	check("fail", "record 1: it does not match its hash: it was changed, and 1 more")
	if err := os.RemoveAll(d.Dirs.Audit()); err != nil {
		t.Fatal(err)
	}
	check("fail", "the log ends with record 0, but record 3 was written")
	if err := os.Remove(d.Dirs.Audit() + ".head"); err != nil {
		t.Fatal(err)
	}
	check("fail", "the audit log was removed")
}

// FEATURES: R97
func TestSessionsWithin(t *testing.T) {
	for files, want := range map[uint64]uint64{0: 0, 38: 0, 39: 1, 64: 9, 256: 73, 39 + 3*256: 257, 39 + 3*256 + 2: 258, 20000: 9853} {
		if got := sessionsWithin(files); got != want {
			t.Errorf("%d files: %d sessions, want %d", files, got, want)
		}
	}
}

// TestOlderThanTheDaemon checks that an older client is not advised to replace a newer daemon.
func TestOlderThanTheDaemon(t *testing.T) {
	for _, c := range []struct {
		ours, daemons string
		back          bool
	}{
		{"v1.2.3", "v1.10.0", true}, {"v1.10.0", "v1.2.3", false}, {"v1.2.3-rc1", "v2.0.0", true},
		{"devel", "v1.0.0", false}, {"v1.0.0", "devel-0123", false}, {"v0", "v1.0.0", false},
	} {
		f := differs(c.ours, c.daemons)
		if back := strings.Contains(f.Remedy, "this program is older"); f.Level != "warn" || back != c.back {
			t.Errorf("%s and a daemon of %s: %+v", c.ours, c.daemons, f)
		}
	}
}
