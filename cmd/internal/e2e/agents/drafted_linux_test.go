package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// withDrafts returns an instance whose agents have the preset build-draft, and a project in it: build has 3 files.
func withDrafts(t *testing.T) (i *e2e.Instance, project string) {
	i = e2e.New(t)
	i.Run("config", "set", "policy.agents", "build-draft")
	project = filepath.Join(t.TempDir(), "project")
	writeFiles(t, project, map[string]string{
		"build/a": strings.Repeat("a", 3000), "build/b": "b", "build/sub/c": "c", "src/main": "main", "../file": "outside",
		"make.sh": "mkdir -p build\ncat src/main > build/app\n",
	})
	if err := os.Mkdir(filepath.Join(project, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, errOut, code := i.Try("run", "--draft", "--cwd", project, "--", "true"); code != 0 && strings.Contains(errOut, "namespaces") {
		t.Skip(errOut)
	}
	return i, project
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// filesIn lists the files below a directory with their sizes.
func filesIn(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		all = append(all, fmt.Sprintf("%s:%d", rel, info.Size()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

const (
	filesBefore  = "build/a:3000 build/b:1 build/sub/c:1 make.sh:40 src/main:4"
	filesRebuilt = "build/app:4 make.sh:40 src/main:4"
	rebuild      = "rm -rf build && sh make.sh && echo built"
)

// runs starts an agent's command, and returns a function that waits for its end.
func runs(i *e2e.Instance, project, line string, more ...string) (result func() (api.Result, int)) {
	var r api.Result
	var out, errOut string
	var code int
	var wait sync.WaitGroup
	wait.Go(func() {
		args := append([]string{"run", "--json", "--agent", "bot", "--cwd", project}, more...)
		out, errOut, code = i.Try(append(args, "--", "sh", "-c", line)...)
	})
	return func() (api.Result, int) {
		i.T.Helper()
		wait.Wait()
		if err := json.Unmarshal([]byte(out), &r); err != nil && code == 0 {
			i.T.Errorf("%v: %s%s", err, out, errOut)
		}
		return r, code
	}
}

// TestDraftVerdict_AsksAboutChanges_AfterTheRun checks that a command that needs approval runs at once in a draft, and
// that the request shows its exit status, its output and its changes. An answer "once" commits them, "reject" discards
// them, and the agent commits nothing.
//
// FEATURES: R126
func TestDraftVerdict_AsksAboutChanges_AfterTheRun(t *testing.T) {
	t.Parallel()
	i, project := withDrafts(t)
	result := runs(i, project, rebuild)
	v := asksFor(i, 1)[0]
	if got := filesIn(t, project); got != filesBefore {
		t.Errorf("changed before the answer: %s", got)
	}
	d := v.Draft
	if d == nil || d.ExitCode == nil || *d.ExitCode != 0 || d.Output != "built\n" || d.Deleted != 3 || d.Written != 1 || d.Changes[0].Path != "build/a" {
		t.Fatalf("%+v", d)
	}
	for _, want := range []string{"ran in a draft: exit status 0; last line of its output: built", "deletes build/a: 1 file, 3.0 kB"} {
		if out := i.Run("approvals", "show", v.ID); !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	if _, errOut, code := i.Try("commit", d.Session, "--agent", "bot"); code == 0 {
		t.Errorf("an agent commits: %s", errOut)
	}
	i.Run("approvals", "answer", v.ID, "once")
	if got := filesIn(t, project); got != filesRebuilt {
		t.Errorf("after the answer: %s", got)
	}
	if r, code := result(); code != 0 || r.State != "exited" || r.Output != "built\n" || r.Approval != v.ID || r.Review == nil || r.Review.State != "committed" {
		t.Errorf("%d %+v", code, r)
	}
	if out := i.Run("audit", "--json"); !strings.Contains(out, "draft-committed "+d.ID) {
		t.Errorf("the commit is not in the audit log:\n%s", out)
	}

	result = runs(i, project, "rm -rf build src; exit 3")
	v = asksFor(i, 1)[0]
	i.Run("approvals", "answer", v.ID, "reject", "--feedback", "keep src")
	if _, code := result(); code != 123 {
		t.Errorf("exit status %d", code)
	}
	if got := filesIn(t, project); got != filesRebuilt {
		t.Errorf("after the rejection: %s", got)
	}
	if out := strings.TrimSpace(i.Run("changes")); out != "" {
		t.Errorf("a draft is left: %s", out)
	}
}

// TestDraftVerdict_AsksBefore_WhenADraftHoldsTooLittle checks that a run without changes needs no approval, and that a
// command with effects outside of a draft needs it before it runs, with the reason.
//
// FEATURES: R126
func TestDraftVerdict_AsksBefore_WhenADraftHoldsTooLittle(t *testing.T) {
	t.Parallel()
	i, project := withDrafts(t)
	if r, code := runs(i, project, "rm -f none; frobnicate; echo $?")(); code != 0 || r.Output == "" || r.Approval != "" {
		t.Errorf("%d %+v", code, r)
	}
	for line, why := range map[string]string{
		"rm -rf build; curl -s localhost:1": "curl uses the network",
		"rm -rf build; kill 1234567":        "kill uses processes outside the draft",
		"rm ../file":                        "is outside of " + project,
		"rm /tmp/none":                      "it uses /tmp",
		"rm build/b; cat ~/.ssh/none":       "requires an answer before cat runs",
	} {
		result := runs(i, project, line)
		v := asksFor(i, 1)[0]
		if v.Draft != nil || !strings.Contains(v.Judgement.NoDraft, why) {
			t.Errorf("%s: %q, %+v", line, v.Judgement.NoDraft, v.Draft)
		}
		i.Run("approvals", "answer", v.ID, "reject")
		result()
	}
	if got := filesIn(t, project); got != filesBefore {
		t.Errorf("%s", got)
	}
}

// TestDraftVerdict_AsksBefore_InOtherSandboxes requests what has a sandbox already: a draft's own would replace it.
//
// FEATURES: R126
func TestDraftVerdict_AsksBefore_InOtherSandboxes(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i, project := withDrafts(t)
	i.Run("new", "-n", "boxed", "--cwd", project, "--sandbox", "workspace", "--", "bash", "--norc", "--noprofile")
	i.Run("exec", "--wait", "boxed", "true")
	for why, args := range map[string][]string{
		"it has a sandbox: workspace": {"run", "--cwd", project, "--agent", "bot", "--sandbox", "workspace", "--", "rm", "build/b"},
		"it is a run with a draft":    {"run", "--cwd", project, "--agent", "bot", "--draft", "--", "rm", "build/b"},
		"its session has a sandbox":   {"exec", "boxed", "--agent", "bot", "--", "rm build/b"},
	} {
		var done sync.WaitGroup
		done.Go(func() { i.Try(args...) })
		v := asksFor(i, 1)[0]
		if v.Draft != nil || !strings.Contains(v.Judgement.NoDraft, why) {
			t.Errorf("%q: %q, %+v", args, v.Judgement.NoDraft, v.Draft)
		}
		i.Run("approvals", "answer", v.ID, "reject")
		done.Wait()
	}
	if got := filesIn(t, project); got != filesBefore {
		t.Errorf("%s", got)
	}
}

// TestDraftVerdict_RefusesTheAnswer_WhenChangesConflict checks that a change from outside makes a conflict: the answer
// is rejected, and the request stays pending.
//
// FEATURES: R126
func TestDraftVerdict_RefusesTheAnswer_WhenChangesConflict(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i, project := withDrafts(t)
	result := runs(i, project, "echo new > src/main; rm build/b")
	v := asksFor(i, 1)[0]
	writeFiles(t, project, map[string]string{"src/main": "by the user"})
	if out, errOut, code := i.Try("approvals", "answer", v.ID, "once"); code == 0 || !strings.Contains(out+errOut, "src/main") {
		t.Errorf("%d %s%s", code, out, errOut)
	}
	if got := asksFor(i, 1)[0]; got.ID != v.ID {
		t.Errorf("%+v", got)
	}
	i.Run("approvals", "answer", v.ID, "reject")
	result()
	if b, err := os.ReadFile(filepath.Join(project, "src/main")); err != nil || string(b) != "by the user" {
		t.Errorf("%s %v", b, err)
	}
}

// TestDraftVerdict_OutlivesTheDaemon kills the daemon when the command is submitted, while it runs, during the approval
// and during the commit. The command runs once, and the answer is applied.
//
// FEATURES: R126 R107
func TestDraftVerdict_OutlivesTheDaemon(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i, project := withDrafts(t)
	kill := func() { _ = syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL) }
	result := runs(i, project, "echo ran; sleep 2; "+rebuild, "--env", "X=x")
	kill() // before it runs, or as it starts
	e2e.Eventually(t, "it runs", func() bool { return strings.Contains(i.Run("ls"), "running") })
	kill()
	v := asksFor(i, 1)[0]
	kill()
	if got := asksFor(i, 1)[0]; got.ID != v.ID || got.Draft == nil || got.Draft.ID != v.Draft.ID {
		t.Errorf("%+v", got)
	}
	if got := filesIn(t, project); got != filesBefore {
		t.Errorf("before the answer: %s", got)
	}
	i.Run("approvals", "answer", v.ID, "once")
	if r, code := result(); code != 0 || r.Output != "ran\nbuilt\n" {
		t.Errorf("%d %+v", code, r)
	}
	if got := filesIn(t, project); got != filesRebuilt {
		t.Errorf("after the answer: %s", got)
	}

	const files = 400
	for round := range 2 {
		result := runs(i, project, fmt.Sprintf("rm -rf many; mkdir many; cd many; n=0; while [ $n -lt %d ]; do echo $n-%d > $n; n=$((n+1)); done", files, round))
		v := asksFor(i, 1)[0]
		var answered sync.WaitGroup
		answered.Go(func() { i.Try("approvals", "answer", v.ID, "once") })
		e2e.Eventually(t, "the commit begins", func() bool {
			b, err := os.ReadFile(filepath.Join(project, "many", "7"))
			return err == nil && string(b) == fmt.Sprintf("7-%d\n", round)
		})
		kill()
		answered.Wait()
		if _, code := result(); code != 0 {
			t.Errorf("round %d: exit status %d", round, code)
		}
		for n := range files {
			if b, err := os.ReadFile(filepath.Join(project, "many", fmt.Sprint(n))); err != nil || string(b) != fmt.Sprintf("%d-%d\n", n, round) {
				t.Fatalf("round %d: %d: %q %v", round, n, b, err)
			}
		}
	}
}

// TestDraftVerdict_HoldsForLines_WithoutStateOfTheShell checks that a line of exec also runs in a draft, in the shell's
// directory and with its exported variables. A line that changes or uses the state of the shell needs approval before
// it runs.
//
// FEATURES: R126
func TestDraftVerdict_HoldsForLines_WithoutStateOfTheShell(t *testing.T) {
	t.Parallel()
	i, project := withDrafts(t)
	i.Run("new", "-n", "s", "--cwd", project, "--", "bash", "--norc", "--noprofile")
	i.Run("exec", "s", "cd src; export WORD=exported; plain=build")
	var out, errOut string
	var code int
	exec := func(line string) func() {
		var wait sync.WaitGroup
		wait.Go(func() { out, errOut, code = i.Try("exec", "s", "--agent", "bot", "--", line) })
		return wait.Wait
	}
	done := exec(`rm -r ../build; echo $WORD > made; echo "$WORD in ${PWD##*/}"`)
	v := asksFor(i, 1)[0]
	if v.Draft == nil || v.Session != i.Info("s").ID || v.Draft.Session == v.Session || v.Draft.Deleted != 3 || v.Draft.Output != "exported in src\n" {
		t.Errorf("%+v %+v", v, v.Draft)
	}
	if got := filesIn(t, project); got != filesBefore {
		t.Errorf("changed before the answer: %s", got)
	}
	i.Run("exec", "s", "true") // the shell is free
	i.Run("approvals", "answer", v.ID, "once")
	if done(); code != 0 || out != "exported in src\n" {
		t.Errorf("%d %s%s", code, out, errOut)
	}
	if got, want := filesIn(t, project), "make.sh:40 src/made:9 src/main:4"; got != want {
		t.Errorf("%s", got)
	}
	for line, word := range map[string]string{
		"cd .. && rm make.sh": "cd", "rm -r ../$plain": "$plain", "f() { rm x; }; f": "a function", "rm make.sh & wait": "&", "x=1; rm make.sh": "x=", "set -f; rm *": "set",
	} {
		done := exec(line)
		v := asksFor(i, 1)[0]
		if want := "it changes or uses the state of the session's shell: " + word; v.Draft != nil || v.Judgement.NoDraft != want {
			t.Errorf("%s: %q", line, v.Judgement.NoDraft)
		}
		i.Run("approvals", "answer", v.ID, "reject")
		done()
	}
}

// emptiesHome are lines that remove or empty the files of a home directory, most of them in ways that no parser sees.
const emptiesHome = `
rm -rf ~
rm -rf ~/*
rm -rf "$HOME"/
cd ~ && rm -rf *
cd; rm -rf -- * .[a-z]*
find ~ -type f -delete
find ~ -mtime -9999 -delete
find "$HOME" -type f -exec rm {} +
find ~ -type f | xargs rm -f
find ~ -type f -print0 | xargs -0 truncate -s 0
find ~ -type f -exec cp /dev/null {} \;
x=rm; $x -rf ~
d=$(echo ~); rm -rf "$d"
eval "$(printf 'rm -rf %s' ~)"
echo 'rm -rf ~' | sh
sh -c 'rm -rf "$1"' x ~
python3 -c 'import os, shutil; shutil.rmtree(os.path.expanduser("~"))'
perl -MFile::Path -e 'File::Path::remove_tree($ENV{HOME})'
for f in ~/*; do : > "$f"; rm -rf "$f"; done
while read f; do rm -f "$f"; done < <(find ~ -type f)
mv ~/keep ~/gone
mkdir -p empty; rsync -a --delete empty/ ~/
printf 'rm -rf %s\n' ~ > x.sh; sh x.sh
tar --remove-files -cf all.tar ~
ln -s ~ home; rm -rf home/*
env -u X rm -rf ~ ; git clean -fdx
cp -r /dev/null ~/keep
printf '#!/bin/sh\nexec rm -rf ~\n' > clean; chmod +x clean; ./clean`

// TestDraftVerdict_LosesNoFiles_WhenLinesEmptyTheHome checks that no line of an agent removes a file of the home
// directory or of the project before a user has allowed it, in a draft or not.
//
// FEATURES: R126
func TestDraftVerdict_LosesNoFiles_WhenLinesEmptyTheHome(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i, _ := withDrafts(t)
	home := filepath.Join(t.TempDir(), "home")
	project := filepath.Join(home, "project")
	writeFiles(t, home, map[string]string{"keep": "keep", ".hidden": "x", "docs/a": "a", "project/src/main": "main", "project/build/b": "b"})
	i.Env = append(i.Env, "HOME="+home, "SHELL=/bin/bash")
	i.Run("daemon", "restart")
	before := filesIn(t, home)
	inDraft, asked := 0, 0
	for line := range strings.Lines(strings.TrimSpace(emptiesHome)) {
		line = strings.TrimSpace(line)
		_, errOut, code := i.Try("run", "--json", "--agent", "bot", "--cwd", project, "--on-timeout", "background", "--approval-timeout", "1ms", "--", "bash", "-c", line)
		if got := filesIn(t, home); got != before {
			t.Fatalf("%s: %d %s\n%s", line, code, errOut, got)
		}
		for _, v := range approvals(i) {
			if asked++; v.Draft != nil {
				inDraft++
			}
			i.Run("approvals", "answer", v.ID, "reject")
		}
	}
	if got := filesIn(t, home); got != before {
		t.Errorf("%s", got)
	}
	t.Logf("%d questions, %d of them after a run in a draft", asked, inDraft)
}
