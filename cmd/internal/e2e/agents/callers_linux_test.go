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
	tier.Full(t)
	t.Parallel()
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
		file := executable(t, how+" approvals answer A1 once 2>&1", how+" daemon stop 2>&1", how+" config set policy.agents off 2>&1", how+" token new mine --level all 2>&1",
			how+" run --policy off -- true 2>&1", how+" run -- "+nested+" 2>&1")
		for _, flag := range []string{"--agent=bot", "--policy=hard"} {
			out, _, _ := i.Try("run", flag, "--", file)
			if strings.Count(out, "does not answer approvals") != 2 || !strings.Contains(out, "ending the daemon is for a person") ||
				!strings.Contains(out, "changing the configuration is for a person") || !strings.Contains(out, "tokens") ||
				strings.Contains(out, "lt_") {
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

// What an agent types into a person's session is judged when it ends the line, however it is put together; what rules of
// an agent run is judged when they are attached.
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
		t.Errorf("what is allowed: status %d, %s", code, said)
	}
	e2e.Eventually(t, "it was typed", func() bool { _, err := os.Stat(filepath.Join(dir, "one")); return err == nil })
	i.Run("wait", "--for", "prompt", "work")

	asked := func() []string { return i.Info("work").Approvals }
	done := make(chan string, 1)
	go func() {
		said, _ := agent("keys", "work", "Up", "Enter")
		done <- said
	}()
	e2e.Eventually(t, "a line of the history is asked about", func() bool { return len(asked()) == 1 })
	i.Run("approvals", "answer", asked()[0], "reject")
	if said := <-done; !strings.Contains(said, "waiting for approval A1") || !strings.Contains(said, "Rejected") {
		t.Errorf("a line of the history: %s", said)
	}
	i.Run("keys", "work", "C-c")

	for _, reply := range []string{"--hook=mkfs /dev/sda", "--secret=cmd:mkfs /dev/sda", "--line=mkfs /dev/sda"} {
		said, code := agent("respond", "work", "add", "--on", "x", reply)
		if code == 0 || !strings.Contains(said, "hard:device") {
			t.Errorf("%s: status %d, %s", reply, code, said)
		}
	}
	i.Run("send", "work", "mkfs.none /nowhere", "--enter") // a person's keys
}

// What an agent gives to a program that runs within the shell is judged as that program's code, as the shell's where the
// shell could run it, and once the shell is back as the shell's only.
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
		t.Fatalf("python is not there: %q %s", out, errOut)
	}
	if out, errOut, code := bot.Try("exec", "--foreign", "--wait", "work", "print(6*7)"); out != "42\n" || code != 0 {
		t.Fatalf("code that harms nothing: status %d, %q %s; asked: %s", code, out, errOut, i.Run("approvals", "--json"))
	}
	if _, errOut, code := bot.Try("exec", "--foreign", "work", "mkfs /dev/sda"); code == 0 || !strings.Contains(errOut, "hard:device") {
		t.Errorf("what the shell must not run: status %d, %s", code, errOut)
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
