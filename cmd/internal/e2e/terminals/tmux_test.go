//go:build unix

package terminals

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// outer is a real terminal for longterm to run in: a separate tmux server.
type outer struct {
	t    *testing.T
	tmux string
	sock string
}

// newOuter runs a longterm command line in tmux at a size.
func newOuter(t *testing.T, i *e2e.Instance, cols, rows int, args ...string) *outer {
	t.Helper()
	line := filepath.Join(i.Dir, "longterm")
	for _, a := range args {
		line += " '" + a + "'"
	}
	return newOuterLine(t, i, cols, rows, line)
}

// newOuterLine runs a shell line in tmux, with longterm in its PATH.
func newOuterLine(t *testing.T, i *e2e.Instance, cols, rows int, line string) *outer {
	t.Helper()
	tmux := tier.Path(t, "tmux")
	o := &outer{t: t, tmux: tmux, sock: filepath.Join(i.Dir, "tmux.sock")}
	// The program under test must be called longterm: a link gives the binary its name.
	link := filepath.Join(i.Dir, "longterm")
	if err := os.Symlink(i.Exe, link); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	cmd := exec.Command(tmux, "-S", o.sock, "-f", "/dev/null", "new-session", "-d", "-s", "main",
		"-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows), line+"; echo STATUS=$?; exec sleep 1000")
	cmd.Env = append(i.Env, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "PATH="+i.Dir+":"+os.Getenv("PATH"))
	cmd.Dir = "/" // what shows it has the same width everywhere
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command(tmux, "-S", o.sock, "kill-server").Run() })
	return o
}

func (o *outer) cmd(args ...string) string {
	o.t.Helper()
	out, err := exec.Command(o.tmux, append([]string{"-S", o.sock}, args...)...).CombinedOutput()
	if err != nil {
		o.t.Fatalf("tmux %v: %v %s", args, err, out)
	}
	return string(out)
}

func (o *outer) keys(keys ...string) { o.cmd(append([]string{"send-keys"}, keys...)...) }

func (o *outer) text() string { return o.cmd("capture-pane", "-p") }

// shows waits until the terminal shows all of the texts.
func (o *outer) shows(texts ...string) {
	o.t.Helper()
	last := ""
	defer func() {
		if o.t.Failed() {
			o.t.Logf("the terminal shows:\n%s", last)
		}
	}()
	for _, text := range texts {
		e2e.Eventually(o.t, "the terminal shows "+text, func() bool {
			last = o.text()
			return strings.Contains(last, text)
		})
	}
}

// TestAttachInATerminal attaches to a session in a real terminal emulator.
//
// FEATURES: R75, R90
func TestAttachInATerminal(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "work", "--", "sh", "-c", `printf 'ready\n'; while read l; do echo "got $l"; stty size; done`)
	o := newOuter(t, i, 90, 30, "attach", "work")
	o.shows("ready")
	o.keys("abc", "Enter")
	o.shows("got abc", "30 90")

	// The size follows the terminal.
	o.cmd("resize-window", "-x", "70", "-y", "20")
	e2e.Eventually(t, "the session has the terminal's size", func() bool { s := i.Info("work"); return s.Cols == 70 && s.Rows == 20 })
	o.keys("resized", "Enter")
	o.shows("20 70")

	// The daemon is killed under it: a blink.
	if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the client is attached again", func() bool {
		out, _, code := i.Try("info", "work", "--json")
		return code == 0 && strings.Contains(out, `"clients": 1`)
	})
	o.keys("again", "Enter")
	o.shows("got again")

	// After the detach, the terminal is the user's again and the session continues.
	o.keys(`C-\`, "d")
	o.shows("detached from work", "STATUS=0")
	if s := i.Info("work"); s.State != "running" || s.Clients != 0 {
		t.Errorf("after detaching: %+v", s)
	}
}

// TestTwoClients attaches several clients, which show the same. One of another size shows a cropped screen.
//
// FEATURES: R75, R96
func TestTwoClients(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "work", "--", "sh", "-c", `echo shared screen; exec cat`)
	big := newOuter(t, i, 100, 30, "attach", "work")
	big.shows("shared screen")
	e2e.Eventually(t, "the big client decides", func() bool { return i.Info("work").Cols == 100 })
	big.cmd("new-session", "-d", "-s", "small", "-x", "40", "-y", "10", filepath.Join(i.Dir, "longterm")+" attach --read-only work")
	small := func() string { return big.cmd("capture-pane", "-p", "-t", "small:") }
	e2e.Eventually(t, "the small client shows it", func() bool { return strings.Contains(small(), "shared screen") })
	big.keys("-t", "main:", "typed by the big one", "Enter")
	e2e.Eventually(t, "both see it", func() bool {
		return strings.Contains(small(), "typed by the big one") && strings.Contains(big.cmd("capture-pane", "-p", "-t", "main:"), "typed by the big one")
	})
	if s := i.Info("work"); s.Cols != 100 || s.Clients != 2 {
		t.Errorf("a read-only client decides the size: %+v", s)
	}
}

// TestRunInATerminal runs a command in a real terminal. Keys and size are its own, and the terminal is restored.
//
// FEATURES: R1, R15
func TestRunInATerminal(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	o := newOuter(t, i, 90, 20, "run", "--", "sh", "-c", `stty size; read x; echo "got $x"; exit 3`)
	o.shows("20 90")
	o.keys("abc", "Enter")
	o.shows("got abc\nSTATUS=3") // the next line follows the command's last one
	if list := i.Run("ls"); !strings.Contains(list, "no sessions") {
		t.Errorf("left behind:\n%s", list)
	}
	o = newOuter(t, e2e.New(t), 90, 20, "run", "--", "sh", "-c", "echo up; exec sleep 1000")
	o.shows("up")
	o.keys("C-c")
	o.shows("STATUS=130")
}

// TestViewerInATerminal runs the viewer in a real terminal emulator.
//
// FEATURES: R76
func TestViewerInATerminal(t *testing.T) {
	i := e2e.New(t)
	for _, name := range []string{"one", "two", "three"} {
		i.Run("new", "-n", name, "--", "sh", "-c", "echo I am "+name+"; exec cat")
	}
	o := newOuter(t, i, 120, 40)
	o.shows("I am one", "I am two", "I am three", "1 one", "2 two", "3 three")

	// Typing reaches the focused one only.
	o.keys("C-Space", "2")
	o.keys("hello", "Enter")
	e2e.Eventually(t, "two has it", func() bool { return strings.Contains(i.Run("screen", "two"), "hello\nhello") })
	for _, other := range []string{"one", "three"} {
		if strings.Contains(i.Run("screen", other), "hello") {
			t.Errorf("%s has it too", other)
		}
	}

	// Panes follow the terminal's size.
	before := i.Info("one").Cols
	o.cmd("resize-window", "-x", "90", "-y", "30")
	e2e.Eventually(t, "the sessions follow", func() bool { return i.Info("one").Cols < before })
	o.shows("I am one", "I am two", "I am three")

	// Zoom, help, a daemon killed, a new session, killing one, quitting.
	o.keys("C-Space", "z")
	e2e.Eventually(t, "zoomed", func() bool { return i.Info("two").Cols == 90 && !strings.Contains(o.text(), "I am one") })
	o.keys("C-Space", "z")
	o.shows("I am one")
	o.keys("C-Space", "?")
	o.shows("Keys: after Ctrl-Space", "type to find")
	o.keys("Escape")
	e2e.Eventually(t, "the help is gone", func() bool { return !strings.Contains(o.text(), "type to find") })
	if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "typing works again", func() bool {
		o.keys("x")
		out, _, code := i.Try("screen", "two")
		return code == 0 && strings.Contains(out, "x")
	})
	o.keys("C-Space", "n")
	o.shows("4 sh")
	o.keys("C-Space", "1")
	o.keys("C-Space", "x")
	o.shows("kill one?")
	o.keys("y")
	o.shows("one killed; output kept") // and its pane is closed
	o.lacks("1 one")
	o.keys("C-Space", "q")
	o.shows("STATUS=0")
	for _, name := range []string{"two", "three"} {
		if s := i.Info(name); s.State != "running" {
			t.Errorf("%s is %s after quitting", name, s.State)
		}
	}
}
