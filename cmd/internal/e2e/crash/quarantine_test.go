//go:build unix

package crash

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// quarantine makes the next daemon find that daemons crashed during the replays of sessions.
func quarantine(i *e2e.Instance, t *testing.T, names ...string) {
	t.Helper()
	b, err := json.Marshal(map[string]any{"crashes": 3, "build": i.Status().Build})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(i.Dir, "state", "sessions", i.Info(name).ID, "replay.json"), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	i.Run("daemon", "restart")
}

// TestQuarantineIsOneSessions crashes daemons by replays of one session. Only that session is quarantined, with a
// reason. Its program runs on, its history is readable, and it can be ended, restored and removed. Other sessions are
// not affected.
//
// FAULT: A2
// FEATURES: R122
func TestQuarantineIsOneSessions(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	for _, name := range []string{"bad", "worse", "good"} {
		i.Run("new", "-n", name, "--", "sh", "-c", "echo begun; exec cat")
		i.Run("wait", name, "--for", "text=begun")
	}
	quarantine(i, t, "bad", "worse")
	if out := i.Run("screen", "good"); !strings.Contains(out, "begun") {
		t.Errorf("another session's screen:\n%s", out)
	}
	i.Run("send", "good", "-e", "more")
	i.Run("wait", "good", "--for", "text=more")
	for _, name := range []string{"bad", "worse"} {
		if s := i.Info(name); !strings.Contains(s.Quarantine, "crashed") || s.State != "running" {
			t.Errorf("%s: %s, quarantine %q", name, s.State, s.Quarantine)
		}
	}
	if out := i.Run("screen", "bad"); !strings.Contains(out, "quarantined") {
		t.Errorf("its screen does not show it:\n%s", out)
	}
	if out := i.Run("ls"); !strings.Contains(out, "quarantined") {
		t.Errorf("ls does not show it:\n%s", out)
	}
	if out, _, _ := i.Try("doctor"); !strings.Contains(out, "quarantined") {
		t.Errorf("the doctor does not report it:\n%s", out)
	}
	i.Run("send", "bad", "-e", "typed")
	i.Run("kill", "bad")
	i.Run("wait", "bad", "--for", "exit")
	if out := i.Run("output", "bad"); !strings.HasPrefix(out, "begun\n") || !strings.Contains(out, "typed") {
		t.Errorf("its history: %q", out)
	}
	i.Run("restore", "bad", "--command")
	i.Run("send", "bad", "-e", "again")
	i.Run("wait", "bad", "--for", "text=again")
	if s := i.Info("bad"); s.Quarantine != "" || s.State != "running" {
		t.Errorf("restored: %s, quarantine %q", s.State, s.Quarantine)
	}
	if out := i.Run("output", "bad"); !strings.HasPrefix(out, "begun\n") {
		t.Errorf("its history after it was restored: %q", out)
	}
	i.Run("rm", "--force", "worse")
	if out := i.Run("ls"); strings.Contains(out, "worse") {
		t.Errorf("it was not removed:\n%s", out)
	}
	if s := i.Info("good"); s.Quarantine != "" {
		t.Errorf("another session: %q", s.Quarantine)
	}
}
