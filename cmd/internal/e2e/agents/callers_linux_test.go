package agents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// executable creates a shell script that is executed by its path: its commands are on no command line.
func executable(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// cleared returns a command whose environment has only the variables of this instance.
func cleared(i *e2e.Instance) string {
	words := "env -i PATH=\"$PATH\""
	for _, kv := range i.Env {
		if strings.HasPrefix(kv, "LONGTERM_DIR=") || strings.HasPrefix(kv, "LONGTERM_TEST") || strings.HasPrefix(kv, "HOME=") || strings.HasPrefix(kv, "XDG_") {
			words += " '" + kv + "'"
		}
	}
	return words + " "
}

// TestLabelCannotBeDropped runs programs in an agent's session, or in one with rules, without parents, terminal and
// environment. They still count as callers from that session.
//
// FEATURES: R63 R107
func TestLabelCannotBeDropped(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("config", "set", "policy.executions", "never") // else the longterm that it starts would be judged already
	longterm := filepath.Join(i.Dir, "longterm")         // its name selects its function
	if err := os.Symlink(i.Exe, longterm); err != nil {
		t.Fatal(err)
	}
	for name, how := range map[string]string{
		"label":  "env -u LONGTERM_AGENT " + longterm,
		"other":  "env LONGTERM_AGENT=other " + longterm,
		"setsid": cleared(i) + "setsid -w " + longterm,
	} {
		nested := executable(t, longterm+" approvals answer A1 once 2>&1")
		file := executable(t, how+" approvals answer A1 once 2>&1", how+" daemon stop 2>&1", how+" config set policy.agents off 2>&1", how+" token new mine --level all 2>&1",
			how+" run --policy off -- true 2>&1", how+" run -- "+nested+" 2>&1")
		for _, flag := range []string{"--agent=bot", "--policy=hard"} {
			out, _, _ := i.Try("run", flag, "--", file)
			if strings.Count(out, "cannot answer approvals") != 2 || !strings.Contains(out, "ending the daemon requires a user") ||
				!strings.Contains(out, "changing the configuration requires a user") || !strings.Contains(out, "tokens") ||
				strings.Contains(out, "lt_") {
				t.Errorf("%s of %s: %s", name, flag, out)
			}
			if strings.Contains(flag, "policy") != strings.Contains(out, "applies to what it starts") {
				t.Errorf("other rules, %s of %s: %s", name, flag, out)
			}
		}
	}
	orphan := filepath.Join(i.Dir, "orphan")
	child := executable(t, longterm+" approvals answer A1 once >"+orphan+".part 2>&1", "mv "+orphan+".part "+orphan)
	out := i.Run("run", "--agent=bot", "--", executable(t, "("+cleared(i)+"setsid "+child+" &)",
		"while ! [ -e "+orphan+" ]; do sleep 0.01; done", "cat "+orphan))
	if !strings.Contains(out, "agents (") {
		t.Errorf("an agent's orphan: %s", out)
	}
	if out, _, _ := i.Try("run", "--", executable(t, longterm+" approvals answer A1 once 2>&1")); !strings.Contains(out, "no approval A1") {
		t.Errorf("a user: %s", out)
	}
}

// TestAgentsKeysInAPersonsSession types into a user's session as an agent. The rules check the whole line when it is
// submitted, and response rules when they are attached.
//
// FEATURES: R63 R107
func TestAgentsKeysInAPersonsSession(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	dir := t.TempDir()
	i.Run("new", "--name", "work", "--cwd", dir, "--", "bash", "--norc")
	i.Run("wait", "--for", "prompt", "work")
	bot := *i
	bot.Env = append(slices.Clone(i.Env), "LONGTERM_AGENT=bot")
	agent := func(args ...string) (string, int) {
		_, errOut, code := bot.Try(args...)
		return errOut, code
	}
	for _, parts := range [][]string{{"mkfs ", "/dev/sda"}, {"mkfs /dev/sda"}, {"ls", "\nmkfs /dev/sda"}} {
		said, code := "", 0
		for _, part := range parts {
			if said, code = agent("send", "work", part); code != 0 {
				break
			}
		}
		if code == 0 {
			said, code = agent("keys", "work", "Enter")
		}
		if code == 0 || !strings.Contains(said, "hard:device") {
			t.Errorf("%q: status %d, %s", parts, code, said)
		}
		i.Run("keys", "work", "C-c")
		agent("keys", "work", "C-c")
	}
	if said, code := agent("send", "work", "echo one >one", "--enter"); code != 0 {
		t.Errorf("allowed command: status %d, %s", code, said)
	}
	e2e.Eventually(t, "the session has received the input", func() bool { _, err := os.Stat(filepath.Join(dir, "one")); return err == nil })
	i.Run("wait", "--for", "prompt", "work")

	asked := func() []string { return i.Info("work").Approvals }
	done := make(chan string, 1)
	go func() {
		said, _ := agent("keys", "work", "Up", "Enter")
		done <- said
	}()
	e2e.Eventually(t, "a history line needs approval", func() bool { return len(asked()) == 1 })
	approval := asked()[0]
	i.Run("approvals", "answer", approval, "reject")
	if said := <-done; !strings.Contains(said, "waiting for approval "+approval) || !strings.Contains(said, "Rejected") {
		t.Errorf("a line of the history: %s", said)
	}
	i.Run("keys", "work", "C-c")

	for _, reply := range []string{"--hook=mkfs /dev/sda", "--secret=cmd:mkfs /dev/sda", "--line=mkfs /dev/sda"} {
		said, code := agent("respond", "work", "add", "--on", "x", reply)
		if code == 0 || !strings.Contains(said, "hard:device") {
			t.Errorf("%s: status %d, %s", reply, code, said)
		}
	}
	i.Run("send", "work", "mkfs.none /nowhere", "--enter") // a user's keys
}

// TestAgentsLinesForAProgramInTheShell types into a program that runs in the shell. The input is checked as that
// program's code, also as the shell's if the shell could run it, and only as the shell's once the shell is back.
//
// FEATURES: R62 R63
func TestAgentsLinesForAProgramInTheShell(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	python := tier.Path(t, "python3")
	i := e2e.New(t)
	i.Run("new", "--name", "work", "--", "bash", "--norc")
	bot := *i
	bot.Env = append(slices.Clone(i.Env), "LONGTERM_AGENT=bot")
	i.Run("wait", "--for", "prompt", "work")
	i.Run("send", "work", "-e", python+" -q")
	i.Run("wait", "--for", "text=>>>", "work")
	if out, errOut, _ := i.Try("exec", "--foreign", "--wait", "work", "print(7)"); out != "7\n" {
		t.Fatalf("python is missing: %q %s", out, errOut)
	}
	if out, errOut, code := bot.Try("exec", "--foreign", "--wait", "work", "print(6*7)"); out != "42\n" || code != 0 {
		t.Fatalf("harmless code: status %d, %q %s; approval: %s", code, out, errOut, i.Run("approvals", "--json"))
	}
	if _, errOut, code := bot.Try("exec", "--foreign", "work", "mkfs /dev/sda"); code == 0 || !strings.Contains(errOut, "hard:device") {
		t.Errorf("code that the shell must not run: status %d, %s", code, errOut)
	}
	ask := func(line, rule string) {
		t.Helper()
		bot.Run("exec", "-b", "--foreign", "work", line)
		a := asksFor(i, 1)[0]
		if a.Judgement.Rule != rule {
			t.Errorf("%s: %+v", line, a.Judgement)
		}
		i.Run("approvals", "answer", a.ID, "reject")
		asksFor(i, 0)
	}
	ask("import shutil; shutil.rmtree('/')", "hard:remove")
	i.Run("send", "work", "-e", "exit()")
	i.Run("exec", "--wait", "work", "true")
	ask("print(6*7)", "unknown")
}
