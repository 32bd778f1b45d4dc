package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestDraftSize_EndsSession checks that a session whose draft exceeds its size limit is ended, with a message. Its
// changes stay, and so does the limit when the session is restored. A profile's limit applies to drafts without their
// own.
//
// FEATURES: R124
func TestDraftSize_EndsSession(t *testing.T) {
	tier.Full(t)
	i := e2e.New(t)
	project := filepath.Join(t.TempDir(), "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	const flood = "echo kept > note; i=0; while :; do i=$((i+1)); head -c 100000 /dev/zero > f$i || exit 9; done"
	out, errOut, code := i.Try("run", "--draft", "--draft-size", "2M", "--cwd", project, "--", "sh", "-c", flood)
	if strings.Contains(errOut, "namespaces") {
		t.Skip(errOut)
	}
	if code != 128+25 && code != 128+9 || !strings.Contains(out, "its limit (--draft-size) is 2.0 MiB; ending its programs") {
		t.Fatalf("%d %q %q", code, out, errOut)
	}
	if !strings.Contains(errOut, "`longterm commit ") {
		t.Errorf("no next command in %q", errOut)
	}
	decode := func(to any, args ...string) {
		t.Helper()
		if err := json.Unmarshal([]byte(i.Run(args...)), to); err != nil {
			t.Fatal(err)
		}
	}
	var list []api.DraftSummary
	decode(&list, "changes", "--json")
	if len(list) != 1 || list[0].Limit != 2<<20 || list[0].Changes == nil || *list[0].Changes < 10 {
		t.Fatalf("drafts: %+v", list)
	}
	i.Run("commit", list[0].Session, "note")
	if b, err := os.ReadFile(filepath.Join(project, "note")); err != nil || string(b) != "kept\n" {
		t.Errorf("committed %q, %v", b, err)
	}
	i.Run("discard", list[0].Session)

	i.Run("new", "-n", "s", "--draft", "--draft-size", "1MiB", "--cwd", project, "--", "bash", "--norc", "--noprofile")
	i.Try("exec", "--wait", "s", flood)
	e2e.Eventually(t, "the session has ended", func() bool { return i.Info("s").State != "running" })
	i.Run("restore", "s")
	var changes api.Draft
	decode(&changes, "changes", "s", "--json")
	if changes.Limit != 1<<20 || !strings.Contains(strings.Join(changes.NotHeld, "\n"), "pass the limit") {
		t.Errorf("restored: limit %d, message %q", changes.Limit, changes.NotHeld)
	}
	i.Run("exec", "--wait", "s", "rm f*")
	i.Run("exec", "--wait", "s", "echo fits > g")
	i.Run("kill", "--grace", "100ms", "s")
	i.Run("discard", "s")

	if err := os.WriteFile(filepath.Join(i.Dir, "sandbox.toml"), []byte("[small]\nextends = \"workspace\"\ndraft_size = 3000000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	i.Run("new", "-n", "p", "--draft", "--sandbox", "small", "--cwd", project, "--", "sh")
	decode(&changes, "changes", "p", "--json")
	if changes.Limit != 3_000_000 {
		t.Errorf("limit %d, want the profile's", changes.Limit)
	}
	for _, c := range []struct{ args, want string }{
		{"--draft --draft-size 12x", "not a number of bytes"},
		{"--draft --draft-size 0", "not a number of bytes"},
		{"--draft --draft-size=", "no size"},
		{"--draft --draft-size 1k", "not a number of bytes"},
		{"--draft --draft-size 1K", "less than 65536"},
		{"--draft-size 1G", "requires --draft"},
	} {
		if _, errOut, code := i.Try(append(append([]string{"new", "--cwd", project}, strings.Fields(c.args)...), "--", "sh")...); code == 0 || !strings.Contains(errOut, c.want) {
			t.Errorf("%s: %d %q", c.args, code, errOut)
		}
	}
}

// TestDraftCaches_ArePrivate checks that programs in a draft read the caches of builds in the home directory, and write
// them privately: these changes are no changes of the draft, and are lost with the session.
//
// FEATURES: R124
func TestDraftCaches_ArePrivate(t *testing.T) {
	tier.Full(t)
	i := e2e.New(t)
	home := filepath.Join(t.TempDir(), "home")
	project := filepath.Join(home, "project")
	for _, dir := range []string{project, filepath.Join(home, ".cache", "x")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".cache", "x", "warm"), []byte("warm\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A private /tmp would cover this home directory.
	if err := os.WriteFile(filepath.Join(i.Dir, "sandbox.toml"), []byte("[open]\nextends = \"workspace\"\nprivate_tmp = false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	i.Env = append(i.Env, "HOME="+home)
	const line = "cat ~/.cache/x/warm && echo hot > ~/.cache/x/warm && mkdir ~/.cache/y && cat ~/.cache/x/warm; echo x > ~/other; echo kept > result"
	out, errOut, code := i.Try("run", "--draft", "--sandbox", "open", "--cwd", project, "--pipe", "--", "sh", "-c", line)
	if strings.Contains(errOut, "namespaces") {
		t.Skip(errOut)
	}
	if code != 0 || out != "warm\nhot\n" || !strings.Contains(errOut, "1 change in ") {
		t.Fatalf("%d %q %q", code, out, errOut)
	}
	if b, err := os.ReadFile(filepath.Join(home, ".cache", "x", "warm")); err != nil || string(b) != "warm\n" {
		t.Errorf("the cache outside: %q, %v", b, err)
	}
	for _, gone := range []string{filepath.Join(home, ".cache", "y"), filepath.Join(home, "other")} {
		if _, err := os.Stat(gone); err == nil {
			t.Errorf("%s was written", gone)
		}
	}
	if left, err := filepath.Glob(filepath.Join(i.Dir, "state", "drafts", "*", "cache")); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}
