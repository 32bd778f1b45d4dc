//go:build unix

package terminals

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// newViewer runs the viewer with a plain bash in tmux.
func newViewer(t *testing.T, i *e2e.Instance, cols, rows int) *outer {
	t.Helper()
	bash := tier.Path(t, "bash")
	if err := os.WriteFile(filepath.Join(i.Dir, ".bashrc"), []byte("PS1='$ '\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	i.Env = append(i.Env, "SHELL="+bash, "HOME="+i.Dir, "COLORTERM=")
	o := newOuter(t, i, cols, rows)
	o.cmd("set-option", "-s", "set-clipboard", "on")
	o.cmd("set-option", "-s", "escape-time", "0")
	return o
}

// after presses keys after the prefix.
func (o *outer) after(keys ...string) { o.keys(append([]string{"C-Space"}, keys...)...) }

// line types a line.
func (o *outer) line(text string) { o.keys(text, "Enter") }

// lacks waits until the terminal does not show a text.
func (o *outer) lacks(text string) {
	o.t.Helper()
	e2e.Eventually(o.t, "the terminal does not show "+text, func() bool { return !strings.Contains(o.text(), text) })
}

// screens waits until the screens of sessions show a text.
func screens(i *e2e.Instance, text string, names ...string) {
	i.T.Helper()
	for _, n := range names {
		e2e.Eventually(i.T, n+" shows "+text, func() bool { return strings.Contains(i.Run("screen", n), text) })
	}
}

// TestViewerLayouts saves and loads layouts of the viewer.
//
// FEATURES: R76
func TestViewerLayouts(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	o := newViewer(t, i, 100, 30)
	o.shows("1 bash", "Ctrl-Space: commands")
	o.after("|")
	o.shows("2 bash-2")
	o.after("-")
	o.shows("3 bash-3")
	o.line("echo three$((3+3))")
	screens(i, "three6", "bash-3")
	o.after("t")
	o.shows(" bash-4 ")
	o.after(",")
	o.shows("tab name: bash-4")
	o.keys("C-u")
	o.line("second")
	o.shows(" second ")
	o.lacks("3 bash-3")
	o.after("[")
	o.shows("1 bash", "2 bash-2", "3 bash-3", "second")

	// Zoom, by key and by palette.
	o.after("z")
	o.lacks("2 bash-2")
	o.after(":")
	o.shows("Command palette")
	o.keys("zoom")
	o.shows("show only this pane")
	o.keys("Enter")
	o.shows("2 bash-2")

	// The picker goes to a session by name, wherever it is.
	o.after("p")
	o.shows("Sessions  4")
	o.keys("bash-4", "Enter")
	o.lacks("2 bash-2")
	o.after("]")
	o.shows("2 bash-2")

	// Typed text goes to all panes of the tab.
	o.after("y")
	o.shows("SYNC")
	o.line("echo to$((1+1))all")
	screens(i, "to2all", "bash", "bash-2", "bash-3")
	o.after("y")
	o.lacks("SYNC")
	if strings.Contains(i.Run("screen", "bash-4"), "to2all") {
		t.Error("another tab got it too")
	}

	// A killed daemon causes a short interruption: nothing of the layout is lost.
	if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "typing works again", func() bool { // input that a dying daemon had received is lost
		o.line("echo after$((4+4))")
		out, _, code := i.Try("screen", "bash-3")
		return code == 0 && strings.Contains(out, "after8")
	})
	o.shows("1 bash", "2 bash-2", "3 bash-3", "second")

	// 20×5 and back.
	o.cmd("resize-window", "-x", "20", "-y", "5")
	o.shows("idle")
	o.line("echo tiny$((5+5))")
	o.shows("tiny10")
	o.cmd("resize-window", "-x", "200", "-y", "60")
	o.shows("1 bash", "2 bash-2", "3 bash-3", "second")

	// A shell that exits is closed with its pane.
	o.line("exit")
	o.shows("bash-3 exited")
	o.lacks("3 bash-3")

	// The next viewer starts with this one's layout.
	o.after("q")
	o.shows("STATUS=0")
	o.cmd("new-window", "-n", "again", filepath.Join(i.Dir, "longterm"))
	o.shows("1 bash", "2 bash-2", "second")
}

// TestViewerIsArranged places panes in an open viewer from outside. The user's keys still go to the focused session.
//
// FEATURES: R117
func TestViewerIsArranged(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	o := newViewer(t, i, 100, 30)
	o.shows("1 bash", "Ctrl-Space: commands")
	i.Run("layout", "split", "bash", "-n", "below", "--below", "--", "sh", "-c", "echo I am below; exec cat")
	o.shows("2 below", "I am below")
	o.line("echo here$((1+1))")
	screens(i, "here2", "bash")
	i.Run("new", "-n", "aside", "--", "sh", "-c", "echo I am aside; exec cat")
	i.Run("layout", "place", "aside", "--tab", "others")
	o.shows("others")
	o.lacks("I am aside")
	o.line("echo still$((2+2))")
	screens(i, "still4", "bash")
	i.Run("layout", "place", "below", "--float", "--area", "50x40+40+10")
	o.shows("┌ 2 below", "I am below", "└─")
	o.line("echo under$((3+3))")
	screens(i, "under6", "bash")
	i.Run("layout", "focus", "aside")
	o.shows("I am aside")
	o.line("typed")
	screens(i, "typed", "aside")
	e2e.Eventually(t, "the layout is kept", func() bool {
		out, _, code := i.Try("layout", "dump")
		return code == 0 && strings.Contains(out, `"others"`) && strings.Contains(out, `"current": 1`) // with the focus
	})
	kept := filepath.Join(i.Dir, "kept.json")
	if err := os.WriteFile(kept, []byte(i.Run("layout", "dump")), 0o600); err != nil {
		t.Fatal(err)
	}
	i.Run("layout", "close", "aside")
	o.lacks("others")
	i.Run("layout", "apply", "--file", kept)
	o.shows("others", "I am aside")
	// An order that the viewer rejects fails with the reason.
	i.Run("new", "-n", "gone", "--", "cat")
	i.Run("kill", "gone")
	for _, refused := range [][]string{
		{"has no pane here", "close", "gone"},
		{"beside itself", "place", "bash", "--beside", "bash"},
	} {
		if _, said, code := i.Try(append([]string{"layout"}, refused[1:]...)...); code != 3 || !strings.Contains(said, refused[0]) {
			t.Errorf("%q: status %d, %q", refused[1:], code, said)
		}
	}
}

// TestViewerLooksBack opens the playback of a session in the viewer.
//
// FEATURES: R76
func TestViewerLooksBack(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	o := newViewer(t, i, 90, 24)
	o.shows("1 bash", "\n$")
	o.line("seq 1 3000; echo the end")
	o.shows("\n3000\nthe end\n$")
	o.line("echo one; echo two")
	o.shows("\none\ntwo\n$")

	// Incremental search far back, the next match, and a regular expression.
	o.after("/")
	o.keys("123")
	o.shows("search: 123", "13/13")
	o.keys("Enter")
	o.shows("2123")
	o.keys("n", "n", "n")
	o.shows("123 10/13")
	o.keys("/")
	o.keys("C-r", "^7.7$")
	o.shows("regexp: ^7.7$", "10/10", "\n797")
	o.keys("Enter")

	// Commands: to the newest, to the previous one, and a copy of its output.
	o.keys("G", "{")
	o.shows("$ echo one; echo two")
	o.keys("{")
	o.shows("$ seq 1 3000; echo the end", "\n17\n")
	o.keys("o")
	o.shows("copied 3001 lines")
	buffer := func() string { return o.cmd("show-buffer") }
	e2e.Eventually(t, "the terminal has the output", func() bool {
		b := buffer()
		return strings.HasPrefix(b, "1\n2\n") && strings.HasSuffix(strings.TrimSpace(b), "3000\nthe end")
	})

	// A selection, copied.
	o.keys("j", "j", "V", "j")
	o.keys("y")
	o.shows("copied 2 lines")
	e2e.Eventually(t, "the terminal has the selection", func() bool { return buffer() == "2\n3\n" })
	o.line("echo back$((7+7))")
	o.shows("back14")

	// The mouse: a word by a double click, in the way terminals report it.
	row := 0
	for y, l := range strings.Split(o.text(), "\n") {
		if strings.HasPrefix(l, "back14") {
			row = y + 1
		}
	}
	press := fmt.Sprintf("\x1b[<0;3;%dM\x1b[<0;3;%dm", row, row)
	o.keys("-l", press+press)
	e2e.Eventually(t, "the terminal has the word", func() bool { return buffer() == "back14" })
	o.keys("-l", fmt.Sprintf("\x1b[<64;3;%dM", row))
	o.shows("copy mode")
	o.line("echo live")
	o.shows("\nlive")
	o.after("q")
	o.shows("STATUS=0")
}

// TestViewerSizes checks that a viewer can leave the size to other clients, or take part in it.
//
// FEATURES: R76, R96
func TestViewerSizes(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "work", "--", "sh", "-c", "echo sized; exec cat")
	o := newOuter(t, i, 100, 30)
	o.shows("sized")
	e2e.Eventually(t, "the viewer decides", func() bool { s := i.Info("work"); return s.Cols == 100 && s.Rows == 28 })
	choose := func(policy string) {
		o.after("S")
		o.shows("Session size")
		o.keys(policy, "Enter")
		e2e.Eventually(t, "it is chosen", func() bool { return !strings.Contains(o.text(), "Session size") }) // the list names them all
	}
	choose("fixed")
	e2e.Eventually(t, "the size is fixed", func() bool { return i.Info("work").Size == "fixed" })
	o.cmd("resize-window", "-x", "60", "-y", "20")
	o.shows("size 100×28")
	choose("latest")
	e2e.Eventually(t, "it follows again", func() bool { o.keys("x"); return i.Info("work").Cols == 60 })
	choose("none")
	o.shows("size: none")
	o.cmd("resize-window", "-x", "100", "-y", "30")
	o.shows("size 60×18", "····")
	if s := i.Info("work"); s.Cols != 60 {
		t.Errorf("a viewer without a size policy made it %d columns wide", s.Cols)
	}
}

// TestViewerApproves answers agents' requests in the viewer's panel, on large and on the smallest terminals, over a
// kill of the daemon. A request answered elsewhere is shown as such.
//
// FEATURES: R63, R80
func TestViewerApproves(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	dir := t.TempDir()
	i.Run("new", "-n", "work", "--cwd", dir, "--", "sh", "-c", "echo begun; exec cat")
	o := newOuter(t, i, 80, 24, "view")
	o.shows("begun")
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	ask := func(what string) string {
		return strings.TrimSpace(i.Run("run", "-b", "--agent", "robot", "--cwd", dir, "--policy", "readonly", "--", "touch", what))
	}
	ask("one")
	o.shows("Ctrl-Space A to approve: touch one, requested by agent robot")
	o.keys("1") // goes to the session, and answers nothing
	o.shows("! 1 to approve")
	ask("two")
	ask("three")
	o.after("A")
	o.shows("Approval A1", "1 of 3", "touch one", "agent robot", "4 no, with a reason")
	i.Run("approvals", "answer", "A1", "once")
	o.shows("allowed once by you; press any key")
	e2e.Eventually(t, "it has run", func() bool { return there("one") })
	o.keys("x")
	o.shows("Approval A2", "1 of 2")
	o.cmd("resize-window", "-x", "20", "-y", "5")
	o.shows("A2 low 1/2", "1onc 2ses 3alw 4no")
	if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	o.keys("4")
	o.keys("n", "o")
	o.shows("why not?no")
	o.cmd("resize-window", "-x", "80", "-y", "24")
	e2e.Eventually(t, "the daemon answers requests again", func() bool { return strings.Contains(i.Run("approvals"), "touch two") })
	o.keys("Enter")
	o.shows("Approval A3", "touch three")
	e2e.Eventually(t, "it was rejected", func() bool { return strings.Contains(i.Run("approvals", "show", "A2"), "reject") })
	o.keys("1")
	e2e.Eventually(t, "it has run", func() bool { return there("three") })
	if there("two") {
		t.Error("the rejected line has run")
	}
	o.after("q")
	o.shows("STATUS=0")
}

// TestViewerInbox answers a question, marks a failure and snoozes an approval in the viewer's inbox, over a kill of the
// daemon. Enter opens the approval.
//
// FEATURES: R130
func TestViewerInbox(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "work", "--", "sh", "-c", "echo begun; exec sleep 1000")
	i.Run("new", "-n", "ask", "--", "sh", "-c", `printf 'Continue? [y/N] '; read a; echo "got $a"; exec sleep 1000`)
	i.Run("new", "-n", "prog", "--", "sh", "-c", "exit 7")
	i.Run("wait", "ask", "--for", "input")
	i.Run("wait", "prog", "--for", "exit")
	i.Run("run", "-b", "--agent", "robot", "--policy", "readonly", "--", "touch", i.Dir+"/made")
	o := newOuter(t, i, 120, 36, "view", "work")
	o.shows("begun")
	o.after("I")
	o.shows("Inbox  3", "robot requests approval", "asks: Continue? [y/N]", "sh -c 'exit 7' failed with status 7", "longterm inbox answer I", " y ")
	o.keys("f", "a", "i", "l")
	o.shows("longterm why prog")
	o.keys("C-d")
	o.shows(": done")
	o.keys("C-u")
	if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	o.shows("Inbox  2", "asks: Continue? [y/N]")
	o.keys("c", "o", "n", "t", "i")
	o.keys("C-r")
	o.shows("to ask:")
	o.keys("y")
	e2e.Eventually(t, "the daemon answers requests again", func() bool { return strings.Contains(i.Run("inbox"), "Continue?") })
	o.keys("Enter")
	o.shows(": answered")
	e2e.Eventually(t, "the answer", func() bool { return strings.Contains(i.Run("screen", "ask"), "got y") })
	o.keys("C-u")
	o.shows("Inbox  1")
	o.keys("Enter")
	o.shows("Approval A1", "4 no, with a reason")
	o.keys("C-g")
	o.after("I")
	o.shows("Inbox  1")
	o.keys("C-s")
	o.shows("hide A1 for: 1h")
	o.keys("Enter")
	o.shows("nothing needs your attention", "A1: hidden for") // the list is short before the daemon has answered
	if list := i.Run("inbox", "--all"); !strings.Contains(list, "snoozed until") {
		t.Errorf("not snoozed:\n%s", list)
	}
	o.keys("C-g")
	o.after("q")
	o.shows("STATUS=0")
}

// TestViewer_OverviewAndDetails opens the overview, which lists sessions that need the user first and answers prompts,
// and the details, which list changes, matches of rules and commands. Quitting lists the sessions that continue.
//
// FEATURES: R76
func TestViewer_OverviewAndDetails(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	dir := t.TempDir()
	i.Run("new", "-n", "asks", "--", "sh", "-c", `stty -echo; printf 'Password: '; read p; echo "got ${#p} letters"; exec cat`)
	i.Run("new", "-n", "dev", "--cwd", dir, "--", "bash", "--norc")
	i.Run("respond", "dev", "add", "--on", "Continue? [y/N]", "--line", "y")
	i.Run("exec", "dev", "export COLOUR=blue")
	i.Run("exec", "dev", `read -p "Continue? [y/N] " a; echo "answer $a"`)
	i.Try("exec", "dev", "false")
	e2e.Eventually(t, "it asks", func() bool { n := i.Info("asks").Needs; return n != nil && n.Kind == "password" })
	o := newOuter(t, i, 120, 40, "view")
	o.shows("dev", "needs password")
	o.after("v")
	o.shows("Overview  2", "? asks", "Password:", "✗ dev")
	e2e.Eventually(t, "it says what failed, not the prompt after it", func() bool {
		return regexp.MustCompile("✗ dev +false ").MatchString(o.text())
	})
	o.keys("C-r")
	o.shows("to asks, which needs password:")
	for _, key := range []string{"a", "b", "c"} {
		o.keys(key)
	}
	o.keys("Enter")
	o.shows("got 3 letters")
	o.after("v")
	o.shows("Overview  2")
	o.keys("d", "e", "v")
	o.keys("C-o")
	o.shows("COLOUR=blue", "by export COLOUR=blue", `"Continue? [y/N]": types "y"`, "used 1 time", "answered", "exit 1", dir)
	o.keys("f", "a", "l", "s", "e")
	o.shows("Enter jumps there")
	o.keys("Enter")
	o.shows("q back")
	o.keys("q")
	o.after("q")
	o.shows("STATUS=0")
	if got := o.text(); !strings.Contains(got, "[2 sessions keep running; return with `longterm`") {
		t.Errorf("the remaining session is not reported:\n%s", got)
	}
}
