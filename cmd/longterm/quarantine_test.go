//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// quarantine has the next daemon find that daemons crashed in the replays of sessions.
func (i *instance) quarantine(t *testing.T, names ...string) {
	t.Helper()
	b, err := json.Marshal(map[string]any{"crashes": 3, "build": i.status().Build})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(i.dir, "state", "sessions", i.info(name).ID, "replay.json"), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	i.run("daemon", "restart")
}

// A session whose replays crashed daemons is quarantined alone: people are told why, its program runs
// on, its history can be read, and it can be ended, restored and removed. Others notice nothing.
//
// FAULT: A2
// FEATURES: R122
func TestQuarantineIsOneSessions(t *testing.T) {
	i := newInstance(t)
	for _, name := range []string{"bad", "worse", "good"} {
		i.run("new", "-n", name, "--", "sh", "-c", "echo begun; exec cat")
		i.run("wait", name, "--for", "text=begun")
	}
	i.quarantine(t, "bad", "worse")
	if out := i.run("screen", "good"); !strings.Contains(out, "begun") {
		t.Errorf("another session's screen:\n%s", out)
	}
	i.run("send", "good", "-e", "more")
	i.run("wait", "good", "--for", "text=more")
	for _, name := range []string{"bad", "worse"} {
		if s := i.info(name); !strings.Contains(s.Quarantine, "crashed") || s.State != "running" {
			t.Errorf("%s: %s, quarantine %q", name, s.State, s.Quarantine)
		}
	}
	if out := i.run("screen", "bad"); !strings.Contains(out, "quarantined") {
		t.Errorf("its screen does not say so:\n%s", out)
	}
	if out := i.run("ls"); !strings.Contains(out, "quarantined") {
		t.Errorf("ls does not say so:\n%s", out)
	}
	if out, _, _ := i.try("doctor"); !strings.Contains(out, "quarantined") {
		t.Errorf("the doctor does not say so:\n%s", out)
	}
	i.run("send", "bad", "-e", "typed")
	i.run("kill", "bad")
	i.run("wait", "bad", "--for", "exit")
	if out := i.run("output", "bad"); !strings.HasPrefix(out, "begun\n") || !strings.Contains(out, "typed") {
		t.Errorf("its history: %q", out)
	}
	i.run("restore", "bad", "--command")
	i.run("send", "bad", "-e", "again")
	i.run("wait", "bad", "--for", "text=again")
	if s := i.info("bad"); s.Quarantine != "" || s.State != "running" {
		t.Errorf("restored: %s, quarantine %q", s.State, s.Quarantine)
	}
	if out := i.run("output", "bad"); !strings.HasPrefix(out, "begun\n") {
		t.Errorf("its history after it was restored: %q", out)
	}
	i.run("rm", "--force", "worse")
	if out := i.run("ls"); strings.Contains(out, "worse") {
		t.Errorf("it was not removed:\n%s", out)
	}
	if s := i.info("good"); s.Quarantine != "" {
		t.Errorf("another session: %q", s.Quarantine)
	}
}
