//go:build unix

package terminals

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/vterm"
)

// person is a user's terminal: an emulator of ours, so that every mode can be read.
type person struct {
	t    *testing.T
	pty  *os.File
	cmd  *exec.Cmd
	done chan error // the command's end

	mu     sync.Mutex
	screen *vterm.Terminal
	seen   func() // called with the lock after all that is printed
}

// before is the terminal's earlier content.
const before = "one\r\ntwo\r\n\x1b]2;my title\x07$ "

// newPerson runs a longterm command line on a terminal that has something on it.
func newPerson(t *testing.T, i *e2e.Instance, args ...string) *person {
	t.Helper()
	return newPersonWith(t, i, before, args...)
}

func newPersonWith(t *testing.T, i *e2e.Instance, content string, args ...string) *person {
	t.Helper()
	p := &person{t: t, done: make(chan error, 1), screen: vterm.New(vterm.Options{Cols: 60, Rows: 15})}
	_, _ = p.screen.Write([]byte(content))
	p.cmd = i.Command(t.Context(), args...)
	var err error
	if p.pty, err = pty.StartWithSize(p.cmd, &pty.Winsize{Cols: 60, Rows: 15}); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := p.pty.Read(buf)
			p.mu.Lock()
			_, _ = p.screen.Write(buf[:n])
			_, _ = p.pty.Write(p.screen.Replies(nil))
			if p.seen != nil {
				p.seen()
			}
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() {
		err := p.cmd.Wait()
		<-read // all that was printed is shown
		p.done <- err
	}()
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.pty.Close() })
	return p
}

func (p *person) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.textLocked()
}

func (p *person) textLocked() string {
	var f vterm.Frame
	p.screen.Frame(&f, vterm.Query{})
	var b strings.Builder
	for _, l := range f.Lines {
		var line strings.Builder
		for _, c := range l.Cells {
			if r := c.Rune(); r >= ' ' {
				line.WriteRune(r)
			} else {
				line.WriteByte(' ')
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// state is a terminal's state except its text.
func (p *person) state() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var f vterm.Frame
	p.screen.Frame(&f, vterm.Query{})
	return fmt.Sprintf("%+v title %q cursor shape %v visible %v alt %v carry %q", p.screen.Modes(), f.Title, f.Cursor.Shape, f.Cursor.Visible, f.Alt, savedCursor.ReplaceAll(p.screen.AppendOutputState(nil), nil))
}

// savedCursor returns a terminal's cursor position and the one that it saved, which may differ.
var savedCursor = regexp.MustCompile(`\x1b\[\d+;\d+H(\x1b\[0m\x1b7\x1b\[m)?`)

func (p *person) shows(text string) {
	p.t.Helper()
	e2e.Eventually(p.t, "the terminal shows "+text, func() bool { return strings.Contains(p.text(), text) })
}

func (p *person) types(s string) {
	p.t.Helper()
	if _, err := p.pty.WriteString(s); err != nil {
		p.t.Fatal(err)
	}
}

// everything sets every mode a program can leave a terminal in.
const everything = `\033[?1049h\033[?1h\033=\033[?1003h\033[?1006h\033[?2004h\033[?1004h\033[?25l\033[5 q\033[>31u\033[>4;2m` +
	`\033[?2031h\033[?2048h\033[?5h\033[?7l\033[4h\033[2;9r\033[?6h\033[?69h\033[3;40s\033(0\033[1;31;44m\033]2;its title\007`

// TestAttachGivesTheTerminalBack checks that the terminal is restored, whatever modes the program set and however
// attach ends.
//
// FEATURES: R75
func TestAttachGivesTheTerminalBack(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	for _, end := range []struct {
		name   string
		status int
		do     func(*person)
		says   string
	}{
		{"detach", 0, func(p *person) { p.types("\x1b[92;5u\x1b[100u") }, "detached from"},
		{"exit", 0, func(p *person) { p.types("end\r") }, "exited with 3"},
		{"TERM", 128 + 15, func(p *person) { _ = p.cmd.Process.Signal(syscall.SIGTERM) }, "left "},
		{"HUP", 128 + 1, func(p *person) { _ = p.cmd.Process.Signal(syscall.SIGHUP) }, "left "},
		{"QUIT", 128 + 3, func(p *person) { _ = p.cmd.Process.Signal(syscall.SIGQUIT) }, "left "},
		{"KILL", -1, func(p *person) { _ = p.cmd.Process.Kill() }, ""},
	} {
		for _, how := range []string{"", "--scrollback"} {
			name := strings.ToLower(end.name) + how
			i.Run("new", "-n", name, "--", "sh", "-c", `printf '`+everything+`ready'; stty -echo; read x; exit 3`)
			args := []string{"attach", name}
			if how != "" {
				args = append(args, how)
			}
			p := newPerson(t, i, args...)
			fresh := &person{screen: vterm.New(vterm.Options{Cols: 60, Rows: 15})}
			_, _ = fresh.screen.Write([]byte(before + "[attached to " + name + "; C-\\ d detaches, the session keeps running]\r\n"))
			defer func() {
				if t.Failed() {
					t.Logf("%s: %s\n%s", name, p.state(), p.text())
				}
			}()
			e2e.Eventually(t, "the modes arrive", func() bool {
				return strings.Contains(p.state(), "AppCursor:true") && strings.Contains(p.state(), "Kitty:31")
			})
			e2e.Eventually(t, "the screen arrives", func() bool { return p.text() != fresh.text() })
			end.do(p)
			err := <-p.done
			if got := p.cmd.ProcessState.ExitCode(); got != end.status {
				t.Errorf("%s: status %d (%v)\n%s", name, got, err, p.text())
			}
			e2e.Eventually(t, name+": the guard is done", func() bool { return end.status >= 0 || p.state() == fresh.state() })
			if p.state() != fresh.state() {
				t.Errorf("%s: the terminal is\n%s, it was\n%s", name, p.state(), fresh.state())
			}
			if how == "" && !strings.HasPrefix(p.text(), "one\ntwo\n$") || !strings.Contains(p.text(), end.says) {
				t.Errorf("%s: the screen is\n%s", name, p.text())
			}
			if p.cmd.ProcessState.ExitCode() == 0 && end.name != "exit" {
				i.Run("kill", name)
			}
		}
	}
}

// TestAttachSwitches switches between sessions with two keys on the same terminal.
//
// FEATURES: R75
func TestAttachSwitches(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	for _, name := range []string{"one", "two", "three"} {
		i.Run("new", "-n", name, "--", "sh", "-c", "echo I am "+name+"; exec cat")
	}
	i.Run("config", "set", "attach.next_key", "C-a n")
	p := newPerson(t, i, "attach", "one")
	p.shows("I am one")
	p.types("\x01nfor two\r")
	p.shows("I am two\nfor two\nfor two")
	p.types("\x01n")
	p.shows("I am three")
	p.types("\x01n")
	p.shows("I am one")
	p.types("\x1cp")
	p.shows("I am three")
	i.Run("kill", "two")
	p.types("\x1cp")
	p.shows("I am one")
	if strings.Contains(i.Run("screen", "one"), "for two") {
		t.Error("input for the next session went to this one")
	}
	p.types("\x1cd")
	if err := <-p.done; err != nil {
		t.Error(err)
	}
	p.shows("detached from one")
}

// TestAttachAlone attaches with --detach-others. The other clients leave, with a message how to return.
//
// FEATURES: R75 R119
func TestAttachAlone(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "one", "--", "sh", "-c", "echo I am one; exec cat")
	first, second := newPerson(t, i, "attach", "one"), newPerson(t, i, "attach", "--read-only", "one")
	first.shows("I am one")
	second.shows("I am one")
	third := newPerson(t, i, "attach", "-d", "one")
	third.shows("I am one")
	for _, p := range []*person{first, second} {
		if err := <-p.done; err != nil {
			t.Error(err)
		}
		p.shows("detached from one by another client")
	}
	third.types("mine\r")
	third.shows("mine\nmine")
	fourth := newPerson(t, i, "attach", "--read-only", "-d", "one") // does not affect the size
	fourth.shows("mine\nmine")
	third.types("still\r")
	third.shows("still\nstill")
	fourth.shows("still\nstill")
	third.types("\x1cd")
	if err := <-third.done; err != nil {
		t.Error(err)
	}
}

// TestAttachBringsTheAgent checks that an earlier session reaches the ssh agent of a user who attaches or opens the
// viewer later. A user without a usable agent gets a notice and is attached nevertheless.
//
// FEATURES: R119
func TestAttachBringsTheAgent(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	own := i.Env
	with := func(socket string) { i.Env = append(slices.Clone(own), "SSH_AUTH_SOCK="+socket) }
	socket := func(name string) string {
		path := filepath.Join(i.Dir, name)
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return path
	}
	first, second, third, gone := socket("a1"), socket("a2"), socket("a3"), filepath.Join(i.Dir, "none")
	link := filepath.Join(i.Dir, "run", "ssh-agent.sock")
	leads := func(to string) {
		t.Helper()
		if got, err := os.Readlink(link); err != nil || got != to {
			t.Errorf("the link leads to %s, %v; want %s", got, err, to)
		}
	}
	i.Run("config", "set", "shells.ssh_agent", "true")
	with(first)
	i.Run("new", "-n", "one", "--", "sh", "-c", "echo agent $SSH_AUTH_SOCK; exec cat")
	i.Run("wait", "one", "--for", "text=ssh-agent.sock")
	leads(first)
	for _, c := range []struct{ socket, leads, says string }{{second, second, "detached from one"}, {gone, second, "ssh agent not available in sessions"}} {
		with(c.socket)
		p := newPerson(t, i, "attach", "one")
		p.shows("agent /")
		leads(c.leads)
		p.types("\x1cd")
		if err := <-p.done; err != nil {
			t.Error(err)
		}
		p.shows(c.says)
	}
	with(third)
	newPerson(t, i, "view", "one")
	e2e.Eventually(t, "the ssh agent of the viewer is reachable", func() bool {
		got, err := os.Readlink(link)
		return err == nil && got == third
	})
	i.Run("config", "set", "shells.ssh_agent", "false")
	with(first)
	p := newPerson(t, i, "attach", "one")
	p.shows("agent /")
	leads(third)
	p.types("\x1cd")
	if err := <-p.done; err != nil {
		t.Error(err)
	}
}

// TestAttachWithinItself checks that a session cannot show itself, directly or through others.
//
// FEATURES: R75
func TestAttachWithinItself(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	exe := filepath.Join(i.Dir, "longterm")
	if err := os.Symlink(i.Exe, exe); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		i.Run("new", "-n", name, "--", "bash", "--norc")
	}
	i.Run("send", "a", "-e", exe+" attach a")
	i.Run("wait", "a", "--for", "text=this terminal is inside session a")
	i.Run("send", "a", "-e", "clear; "+exe+" attach b")
	e2e.Eventually(t, "a shows b", func() bool { return i.Info("b").Clients == 1 })
	i.Run("send", "b", "-e", exe+" attach c")
	e2e.Eventually(t, "b shows c", func() bool { return i.Info("c").Clients == 1 })
	i.Run("send", "c", "-e", exe+" attach a")
	i.Run("wait", "c", "--for", "text=this terminal is inside session a")
	i.Run("send", "c", "-e", "clear; "+exe+" attach c; echo status $?")
	i.Run("wait", "c", "--for", "text=status 2")
}

// TestAttachSizes checks that --size sets the size policy.
//
// FEATURES: R96
func TestAttachSizes(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "s", "--cols", "50", "--rows", "10", "--", "cat")
	size := func(cols, rows int) {
		t.Helper()
		e2e.Eventually(t, fmt.Sprintf("the session has %d×%d", cols, rows), func() bool { s := i.Info("s"); return s.Cols == cols && s.Rows == rows })
	}
	clients := func(n int) {
		t.Helper()
		e2e.Eventually(t, "all clients are attached", func() bool { return i.Info("s").Clients == n })
	}
	_, stderr, code := i.Try("attach", "s", "--size", "huge")
	if code != 1 || !strings.Contains(stderr, "must be a terminal") {
		t.Errorf("%d %s", code, stderr)
	}
	none := newPerson(t, i, "attach", "s", "--size", "none")
	clients(1)
	size(50, 10)
	none.types("x\r")
	none.shows("x\nx")
	size(50, 10)
	dirs := paths.Dirs{Run: filepath.Join(i.Dir, "run"), State: filepath.Join(i.Dir, "state")}
	c := client.New(client.Options{Dirs: dirs})
	defer c.Close()
	join := func(cols, rows int, policy string) *client.Stream {
		t.Helper()
		st, err := c.Session("s").Attach(t.Context(), client.StreamOptions{Cols: cols, Rows: rows, Size: policy})
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	wide := join(100, 20, "")
	size(100, 20)
	tall := join(40, 40, "largest")
	size(100, 40)
	small := join(30, 50, "smallest")
	size(30, 20)
	if err := small.Close(); err != nil {
		t.Error(err)
	}
	size(100, 40)
	fixed := join(7, 7, "fixed")
	clients(4)
	if err := wide.Close(); err != nil {
		t.Error(err)
	}
	clients(3)
	size(100, 40)
	_, _ = fixed.Close(), tall.Close()
	clients(1)
	if _, err := c.Session("s").Attach(t.Context(), client.StreamOptions{Size: "huge"}); err == nil || !strings.Contains(err.Error(), "latest, largest") {
		t.Errorf("an unknown policy: %v", err)
	}
}

// TestAttachWithScrollback attaches with --scrollback. The terminal keeps history and output in its scrollback, each
// line once, below its earlier content.
//
// FEATURES: R75
func TestAttachWithScrollback(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "s", "--", "sh", "-c", `seq -f 'line %g.' 1 100; while read n; do seq -f 'line %g.' $n; done`)
	i.Run("wait", "s", "--for", "text=line 100.")
	o := newOuterLine(t, i, 50, 12, "seq -f 'mine %g.' 1 30; longterm attach --scrollback s")
	o.shows("line 100.")
	o.keys("101 400", "Enter")
	o.shows("line 400.")
	o.keys("401 402", "Enter")
	o.shows("line 402.")
	// The daemon is killed: the screen stays, and nothing is repeated.
	if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the client is attached again", func() bool { return i.Info("s").Clients == 1 })
	o.keys("403 450", "Enter")
	o.shows("line 450.")
	o.keys(`C-\`, "d")
	o.shows("STATUS=0")
	var got []string
	for _, line := range strings.Split(o.cmd("capture-pane", "-p", "-S", "-"), "\n") {
		if strings.HasPrefix(line, "mine ") || strings.HasPrefix(line, "line ") {
			got = append(got, line)
		}
	}
	var want []string
	for n := 1; n <= 30; n++ {
		want = append(want, fmt.Sprintf("mine %d.", n))
	}
	for n := 1; n <= 450; n++ {
		want = append(want, fmt.Sprintf("line %d.", n))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the terminal's scrollback has:\n%s", strings.Join(got, "\n"))
	}
}

// TestAttachedThroughAFlood kills the daemon and resizes the terminal while a program draws sequences and multi-byte
// characters. The reconnected client never shows part of a sequence as text.
//
// FEATURES: R75, R90
func TestAttachedThroughAFlood(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "s", "--", "bash", "-c",
		`while r=$(((r * 7 + 3) % 14)); do printf '\033[%d;%dH\033[38;2;%d;200;1m──ok──\033[0m\033]2;titl\007' $((r + 1)) $((r * 3 + 1)) $r; done`)
	p := newPerson(t, i, "attach", "s")
	p.shows("──ok──")
	p.mu.Lock()
	p.seen = func() {
		if text := p.textLocked(); strings.Trim(text, "─ok \n") != "" {
			t.Errorf("the terminal shows\n%s", text)
			p.seen = nil
		}
	}
	p.mu.Unlock()
	rounds := 12
	if e2e.RaceEnabled { // CI runs it without the race detector as well
		rounds = 3
	}
	for n := range rounds {
		if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		e2e.Eventually(t, "the client is attached again", func() bool {
			out, _, code := i.Try("info", "s", "--json")
			return code == 0 && strings.Contains(out, `"clients": 1`)
		})
		p.mu.Lock()
		p.screen.Resize(60+n, 15)
		err := pty.Setsize(p.pty, &pty.Winsize{Cols: uint16(60 + n), Rows: 15})
		p.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		e2e.Eventually(t, "the session has the new size", func() bool { return i.Info("s").Cols == 60+n })
	}
	p.mu.Lock()
	p.seen = nil // from now on it is the user's own screen
	p.mu.Unlock()
	p.types("\x1cd")
	if err := <-p.done; err != nil {
		t.Error(err)
	}
}

// TestDoctorResetsTheTerminal resets a terminal that no process was left to restore.
//
// FEATURES: R75
func TestDoctorResetsTheTerminal(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	if _, stderr, code := i.Try("doctor", "--terminal"); code != 1 || !strings.Contains(stderr, "must be the terminal") {
		t.Errorf("without a terminal: %d %s", code, stderr)
	}
	disorder := strings.NewReplacer(`\033`, "\x1b", `\007`, "\a").Replace(everything)
	p := newPersonWith(t, i, before+disorder, "doctor", "--terminal")
	if err := <-p.done; err != nil {
		t.Errorf("%v\n%s", err, p.text())
	}
	fresh := &person{screen: vterm.New(vterm.Options{Cols: 60, Rows: 15})}
	_, _ = fresh.screen.Write([]byte(before))
	if got := strings.Replace(p.state(), "its title", "my title", 1); got != fresh.state() {
		t.Errorf("the terminal is\n%s, and not\n%s", got, fresh.state())
	}
}
