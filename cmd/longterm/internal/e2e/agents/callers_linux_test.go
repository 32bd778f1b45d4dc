package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e"
)

// executable is a shell script that is executed by its path: what it does is on no line.
func executable(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// cleared begins a command with an environment that knows this instance and nothing else.
func cleared(i *e2e.Instance) string {
	words := "env -i PATH=\"$PATH\""
	for _, kv := range i.Env {
		if strings.HasPrefix(kv, "LONGTERM_DIR=") || strings.HasPrefix(kv, "LONGTERM_TEST") || strings.HasPrefix(kv, "HOME=") || strings.HasPrefix(kv, "XDG_") {
			words += " '" + kv + "'"
		}
	}
	return words + " "
}

// A program in an agent's session, or in one with rules, asks as that session whatever it does about its label: its
// parents have ended, it has a terminal session of its own, its environment is empty.
//
// FEATURES: R63 R107
func TestLabelCannotBeDropped(t *testing.T) {
	i := e2e.New(t)
	i.Run("config", "set", "policy.executions", "never") // else the longterm that it starts is judged already
	longterm := filepath.Join(i.Dir, "longterm")         // what it does is by its name
	if err := os.Symlink(i.Exe, longterm); err != nil {
		t.Fatal(err)
	}
	for name, how := range map[string]string{
		"label":  "env -u LONGTERM_AGENT " + longterm,
		"other":  "env LONGTERM_AGENT=other " + longterm,
		"setsid": cleared(i) + "setsid -w " + longterm,
	} {
		nested := executable(t, longterm+" approvals answer A1 once 2>&1")
		file := executable(t, how+" approvals answer A1 once 2>&1", how+" daemon stop 2>&1", how+" config set policy.agents off 2>&1",
			how+" run --policy off -- true 2>&1", how+" run -- "+nested+" 2>&1")
		for _, flag := range []string{"--agent=bot", "--policy=hard"} {
			out, _, _ := i.Try("run", flag, "--", file)
			if strings.Count(out, "does not answer approvals") != 2 || !strings.Contains(out, "ending the daemon is for a person") ||
				!strings.Contains(out, "changing the configuration is for a person") {
				t.Errorf("%s of %s: %s", name, flag, out)
			}
			if strings.Contains(flag, "policy") != strings.Contains(out, "it starts has them too") {
				t.Errorf("other rules, %s of %s: %s", name, flag, out)
			}
		}
	}
	orphan := filepath.Join(i.Dir, "orphan")
	child := executable(t, longterm+" approvals answer A1 once >"+orphan+".part 2>&1", "mv "+orphan+".part "+orphan)
	out := i.Run("run", "--agent=bot", "--", executable(t, "("+cleared(i)+"setsid "+child+" &)",
		"while ! [ -e "+orphan+" ]; do sleep 0.01; done", "cat "+orphan))
	if !strings.Contains(out, "an agent (") {
		t.Errorf("an agent's orphan: %s", out)
	}
	if out, _, _ := i.Try("run", "--", executable(t, longterm+" approvals answer A1 once 2>&1")); !strings.Contains(out, "no approval A1") {
		t.Errorf("a person: %s", out)
	}
}
