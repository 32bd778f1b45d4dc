//go:build unix

package terminals

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/program"
	"github.com/longterm-dev/longterm/session/sessiontest"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// These tests run longterm in a terminal of its own library.

// terminal runs a verb in a terminal.
func terminal(i *e2e.Instance, args ...string) *sessiontest.Program {
	i.T.Helper()
	return sessiontest.StartCmd(i.T, program.Cmd{
		Path: i.Exe, Argv: append([]string{"longterm"}, args...), Dir: "/", Env: append(i.Env, "TERM=xterm-256color"),
	})
}

// TestAttachDetach types into an attached program, detaches with the key, attaches again, and sees the program's end
// reported.
//
// FEATURES: R75, R87
func TestAttachDetach(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "talk", "--", "sh", "-c", `stty -echo; printf 'Password: '; read -r p; stty echo; echo
		while printf 'more: '; read -r x; do echo "<$x> at $(stty size)"; [ "$x" = end ] && exit 7; done`)
	p := terminal(i, "attach", "talk")
	p.Expect("Password: ")
	p.WaitFor(session.Cond{Kind: session.CondText, Text: "Password"})
	p.Send("hunter2\r") // attach's own terminal is raw: the program's echo cannot be seen from here
	p.Expect("more: ")
	p.Line("one")
	p.Expect("<one> at 24 80")
	if err := p.Program().Resize(100, 30); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the session has the terminal's size", func() bool { return i.Info("talk").Cols == 100 })
	p.Line("two")
	p.Expect("<two> at 30 100")
	p.Keys(`<C-\>d`)
	p.Expect("[detached from talk; return with `longterm attach talk`]")
	p.ExpectExit(0)
	if strings.Contains(p.Screen(), "hunter2") {
		t.Error("the password is on the screen")
	}

	q := terminal(i, "attach", "talk")
	q.Expect("<two> at 30 100") // the previous size
	q.Line("end")
	q.Expect("<end> at 24 80")
	q.Expect("[talk exited with 7]")
	q.ExpectExit(0)

	for _, args := range [][]string{{"attach", "talk"}, {"attach", "--scrollback", "talk"}} { // served before the program is initialised, and after
		over := terminal(i, args...)
		over.Expect("[talk has ended before: exited with 7; `longterm output talk` has what it printed]")
		over.ExpectExit(0)
		if screen := over.Screen(); strings.Contains(screen, "goes on") {
			t.Errorf("%v: an ended session continues:\n%s", args, screen)
		}
	}
}

// TestRunIsTheCommand runs a command in a terminal: prompts, size, signals and status are the command's own.
//
// FEATURES: R1, R15, R87
func TestRunIsTheCommand(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	p := terminal(i, "run", "--", "sh", "-c", `printf 'Name: '; read -r n; echo "Hello, $n"; exit 3`)
	p.Expect("Name: ")
	p.Line("bob")
	p.Expect("Hello, bob")
	p.ExpectExit(3)

	q := terminal(i, "run", "--", "sh", "-c", `trap 'echo interrupted; exit 5' INT; echo ready; while :; do sleep 0.01; done`)
	q.Expect("ready")
	q.Keys("<C-c>")
	q.Expect("interrupted")
	q.ExpectExit(5)
}

// TestNoLimit_ForPeopleAndScripts checks that users and scripts have only the timeouts that they give, with or without
// a terminal. Agents have the configured ones.
//
// FAULT: A9
// FAULT: G10
// FEATURES: R16
func TestNoLimit_ForPeopleAndScripts(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("config", "set", "exec.timeout", "1s")
	i.Run("config", "set", "exec.idle_timeout", "1s")
	script := "sleep 1.6; echo slow but there; exit 4"
	if _, errOut, code := i.Try("run", "--agent", "a", "--", "sh", "-c", script); code != 124 || !strings.Contains(errOut, "1s") {
		t.Errorf("an agent's: %d %s", code, errOut)
	}
	if out, errOut, code := i.Try("run", "--", "sh", "-c", script); code != 4 || out != "slow but there\n" {
		t.Errorf("without a terminal: %d %q %s", code, out, errOut)
	}
	p := terminal(i, "run", "--", "sh", "-c", script)
	p.Expect("slow but there")
	p.ExpectExit(4)
	p = terminal(i, "run", "--timeout", "1s", "--", "sh", "-c", script)
	p.Expect("timeout after 1s")
	p.ExpectExit(124)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	p = terminal(i, "exec", "b", "("+script+")")
	p.Expect("slow but there")
	p.ExpectExit(4)
}
