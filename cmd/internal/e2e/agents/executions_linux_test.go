package agents

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// judgedInstance returns an instance whose rules deny touch and require approval for date. It skips the test where
// executions cannot be checked.
func judgedInstance(t *testing.T) *e2e.Instance {
	t.Helper()
	if err := confine.Probe(); err != nil {
		t.Skip(err)
	}
	i := e2e.New(t)
	i.Run("config", "set", "policy.agents_yes", "true") // it is not the tests' lines that are judged here
	rules := `
[[rules]]
program = "touch"
decision = "deny"
reason = "nothing is touched"
instead = "write to it"

[[rules]]
program = "date"
decision = "ask"
reason = "what time it is matters"
`
	if err := os.WriteFile(filepath.Join(i.Dir, "policy.toml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	return i
}

// script is a file of lines for sh, which no line shows.
func script(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTricksAreRefused runs commands that parsing cannot see. They are rejected at execution and listed with the
// session.
//
// FEATURES: R107
func TestTricksAreRefused(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := judgedInstance(t)
	for name, line := range map[string]string{
		"a variable":        `x=touch; $x F`,
		"base64":            `echo dG91Y2ggRgo= | base64 -d | sh`,
		"a pattern":         `/???/t?uch F`,
		"python":            `python3 -c "import subprocess; subprocess.run(['to' + 'uch', 'F'])"`,
		"find":              `find . -maxdepth 0 -exec touch F \;`,
		"an exec":           `exec touch F`,
		"a copy":            `cp /bin/touch ./touch && ./touch F`,
		"a link":            `ln -s /bin/touch ./innocent && ./innocent F`,
		"a script of it":    `printf '#!/usr/bin/touch F\n' >s; chmod +x s; ./s`,
		"a script's script": `printf '#!/usr/bin/touch F\n' >s; printf '#!%s/s\n' "$PWD" >t; chmod +x s t; ./t`,
		"a loader":          `for l in /lib64/ld-linux*.so.* /lib/ld-*.so.* /lib/ld-musl*; do [ -e $l ] && $l --library-path /lib:/usr/lib:/lib/x86_64-linux-gnu /usr/bin/touch F; done`,
		"another loader":    `cp $(ls /lib64/ld-linux*.so.* /lib/ld-*.so.* 2>/dev/null | head -n 1) l; ./l /usr/bin/touch F`,
		"another name":      `cp /usr/bin/touch innocent; ./innocent F`,
		"a hard link":       `mkdir /var/tmp/lt$$; ln /usr/bin/touch /var/tmp/lt$$/innocent && /var/tmp/lt$$/innocent F || /usr/bin/touch F; rm -r /var/tmp/lt$$`,
		"a mount":           `unshare -Urm sh -c 'mount --bind /usr/bin/touch /usr/bin/true && /usr/bin/true F' || /usr/bin/touch F`,
		"a mount elsewhere": `unshare -Urm sh -c 'mount -t tmpfs none /mnt && cp /usr/bin/touch /mnt/innocent && /mnt/innocent F' || /usr/bin/touch F`,
		"a descriptor":      `python3 -c "import os; os.execve(os.open('/bin/touch', os.O_RDONLY), ['t', 'F'], {})"`,
	} {
		t.Run(name, func(t *testing.T) {
			file := script(t, "cd "+t.TempDir(), line, "[ -e F ] && echo IT IS THERE", "true")
			out, errOut, _ := i.Try("run", "--agent", "bot", "--yes", "--json", "--", "sh", file)
			r := e2e.Decode[api.Result](t, out)
			if !strings.HasPrefix(r.Executions, api.ExecutionsJudged) || len(r.Refused) == 0 || strings.Contains(r.Output, "IT IS THERE") {
				t.Fatalf("%s\n%s", out, errOut)
			}
			last := r.Refused[len(r.Refused)-1]
			if !strings.Contains(last.Why, "nothing is touched") || len(last.Argv) == 0 || last.Depth < 1 || len(last.Parent) == 0 {
				t.Errorf("%+v", last)
			}
		})
	}
	t.Run("memory", func(t *testing.T) { // a program without a file
		code := `import os
fd = os.memfd_create("ls")
os.write(fd, open("/bin/touch", "rb").read())
for path in (fd, "/proc/self/fd/%d" % fd):
    try:
        os.execve(path, ["ls", "F"], {})
    except OSError as e:
        print("errno", e.errno)
`
		file := script(t, "cd "+t.TempDir(), "python3 -c '"+code+"'", "[ -e F ] && echo IT IS THERE", "true")
		out, errOut, _ := i.Try("run", "--agent", "bot", "--yes", "--json", "--", "sh", file)
		r := e2e.Decode[api.Result](t, out)
		if len(r.Refused) != 2 || strings.Count(r.Output, "errno 1\n") != 2 || strings.Contains(r.Output, "IT IS THERE") {
			t.Errorf("%s\n%s", out, errOut)
		}
	})
	out := i.Run("run", "--", "sh", script(t, "cd "+t.TempDir(), "/???/t?uch F && echo touched")) // a user's own command
	if !strings.Contains(out, "touched") {
		t.Errorf("a user's: %q", out)
	}
}

// TestExecutionOutlivesTheDaemon kills the daemon while an execution in a make is pending. The approval is answered
// afterwards, and make continues.
//
// FEATURES: R63, R107
func TestExecutionOutlivesTheDaemon(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := judgedInstance(t)
	dir := t.TempDir()
	var rules strings.Builder
	rules.WriteString("all:\n")
	for range 39 {
		rules.WriteString("\t@/bin/true\n")
	}
	rules.WriteString("\t@date >out\n\t@echo made\n")
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	i.Run("new", "--agent", "bot", "--name", "mk", "--cwd", dir, "--", "make")
	asked := func() []string { return i.Info("mk").Approvals }
	e2e.Eventually(t, "an approval request is pending", func() bool { return len(asked()) == 1 })
	first := asked()[0]
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("it did not wait")
	}
	before := i.Status().DaemonPID
	if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the next daemon has a pending approval request", func() bool { return len(asked()) == 1 }) // by another daemon
	if now := i.Status().DaemonPID; now == before {
		t.Error("it was not killed")
	}
	if again := asked()[0]; again != first {
		t.Errorf("%s became %s", first, again)
	}
	if s := i.Info("mk"); s.State != "running" || s.Executions != api.ExecutionsJudged {
		t.Errorf("%s, %q", s.State, s.Executions)
	}
	// The shell of make needs approval, and so does the program that it executes.
	e2e.Eventually(t, "the session has ended", func() bool {
		for _, a := range asked() {
			i.Try("approvals", "answer", a, "once")
		}
		return i.Info("mk").State == "exited"
	})
	if out := i.Run("output", "mk"); !strings.Contains(out, "made") {
		t.Errorf("%q", out)
	}
	if st, err := os.Stat(filepath.Join(dir, "out")); err != nil || st.Size() == 0 {
		t.Errorf("%v", err)
	}
}

// TestStoppedDaemonAndAFloodOfExecutions stops the daemon while executions wait for a verdict. Other sessions are not
// affected.
//
// FEATURES: R107
func TestStoppedDaemonAndAFloodOfExecutions(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := judgedInstance(t)
	i.Run("new", "--agent", "bot", "--yes", "--name", "flood", "--cwd", "/", "--", "sh", script(t, "read go", "i=0; while [ $i -lt 400 ]; do /bin/true $i & i=$((i+1)); done; wait; echo flooded"))
	file := filepath.Join(t.TempDir(), "came")
	i.Run("new", "--name", "other", "--", "sh", "-c", "read go; /bin/echo hello; echo >"+file+"; exit 3")
	daemon := i.Status().DaemonPID
	i.Run("send", "flood", "go", "--enter")
	i.Run("send", "other", "go", "--enter")
	if err := syscall.Kill(daemon, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the other program continues", func() bool { _, err := os.Stat(file); return err == nil })
	if err := syscall.Kill(daemon, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"other", "flood"} {
		e2e.Eventually(t, "the end of "+name, func() bool { return i.Info(name).State == "exited" })
	}
	if out := i.Run("output", "flood"); !strings.Contains(out, "flooded") {
		t.Errorf("%q", out)
	}
}

// TestWhoseExecutionsAreJudged configures whose executions are checked: those of users too, or none.
func TestWhoseExecutionsAreJudged(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := judgedInstance(t)
	for mode, want := range map[string][2]bool{"agents": {false, true}, "always": {true, true}, "never": {false, false}} {
		i.Run("config", "set", "policy.executions", mode)
		for n, who := range [][]string{nil, {"--agent", "bot"}} {
			args := append(append([]string{"run", "--json"}, who...), "--", "/bin/true")
			e2e.Eventually(t, mode+" "+strings.Join(who, " "), func() bool { // the daemon reads it soon
				return (e2e.Decode[api.Result](t, i.Run(args...)).Executions == api.ExecutionsJudged) == want[n]
			})
		}
	}
	if out := i.Run("doctor"); !strings.Contains(out, "executions") {
		t.Error(out)
	}
}

// waiting is a running verb that has printed which approval it waits for.
type waiting struct {
	cmd    *exec.Cmd
	id     string // of the approval
	errOut *bufio.Reader
}

func waitsFor(t *testing.T, i *e2e.Instance, args ...string) *waiting {
	t.Helper()
	w := &waiting{cmd: i.Command(t.Context(), args...)}
	w.cmd.Stdout = nil
	pipe, err := w.cmd.StderrPipe()
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	w.errOut = bufio.NewReader(pipe)
	line, err := w.errOut.ReadString('\n')
	after, ok := strings.CutPrefix(line, "longterm: waiting for approval ")
	if w.id, _, _ = strings.Cut(after, ": "); !ok {
		t.Fatalf("%v printed %q (%v)", args, line, err)
	}
	return w
}

// end returns the rest of standard error, and the status.
func (w *waiting) end(t *testing.T) (errOut string, status int) {
	t.Helper()
	rest, err := io.ReadAll(w.errOut)
	if err != nil {
		t.Error(err)
	}
	_ = w.cmd.Wait() // the status is read below
	return string(rest), w.cmd.ProcessState.ExitCode()
}

// TestWaiters_SeeApprovalWithinALine waits for a line or command whose programs, or whose shell's start, need approval.
// Each waiter is informed of the approval, and the result contains the answer.
//
// FEATURES: R63, R107
func TestWaiters_SeeApprovalWithinALine(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := judgedInstance(t)
	dir, home := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{filepath.Join(dir, "Makefile"): "all:\n\t@date >out\n", filepath.Join(home, ".bashrc"): "date >/dev/null\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	begin := i.Command(t.Context(), "new", "--agent", "bot", "--name", "rc", "--", "bash")
	begin.Env = append(begin.Environ(), "HOME="+home)
	if out, err := begin.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w := waitsFor(t, i, "exec", "rc", "--agent", "bot", "true")
	i.Run("approvals", "answer", w.id, "once")
	if errOut, status := w.end(t); errOut != "" || status != 0 {
		t.Errorf("%d: %q", status, errOut)
	}
	i.Run("new", "--agent", "bot", "--name", "mk", "--cwd", dir, "--", "bash", "--norc")
	for _, args := range [][]string{{"exec", "mk", "--agent", "bot", "make"}, {"run", "--cwd", dir, "--agent", "bot", "--", "make"}} {
		t.Run(args[0], func(t *testing.T) {
			w := waitsFor(t, i, args...)
			if args[0] == "exec" {
				_, busy, _ := i.Try("exec", "mk", "--agent", "bot", "true")
				if !strings.Contains(busy, "the shell is busy") || !strings.Contains(busy, "waits for approval "+w.id) {
					t.Errorf("%q", busy)
				}
			}
			i.Run("approvals", "answer", w.id, "reject", "--feedback", "not at night")
			errOut, status := w.end(t)
			for _, want := range []string{"longterm: not run: ", "date", ": Rejected by ", "not at night"} {
				if !strings.Contains(errOut, want) || status == 0 {
					t.Errorf("%q is not reported: %d, %q", want, status, errOut)
				}
			}
		})
	}
}
