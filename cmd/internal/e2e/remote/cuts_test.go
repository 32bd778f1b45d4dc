//go:build unix

package remote

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/vterm"
)

// terminal is a user's terminal with a verb on it.
type terminal struct {
	pty  *os.File
	cmd  *exec.Cmd
	done chan error

	mu     sync.Mutex
	screen *vterm.Terminal
	said   bytes.Buffer // all that was printed
}

func newTerminal(t *testing.T, i *e2e.Instance, args ...string) *terminal {
	t.Helper()
	return newTerminalOf(t, i.Command(t.Context(), args...))
}

func newTerminalOf(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	p := &terminal{cmd: cmd, done: make(chan error, 1), screen: vterm.New(vterm.Options{Cols: 60, Rows: 12})}
	var err error
	if p.pty, err = pty.StartWithSize(p.cmd, &pty.Winsize{Cols: 60, Rows: 12}); err != nil {
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
			p.said.Write(buf[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() {
		err := p.cmd.Wait()
		<-read
		p.done <- err
	}()
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.pty.Close() })
	return p
}

// text returns the terminal's screen and scrollback.
func (p *terminal) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b []byte
	row := func(f *vterm.Frame, l *vterm.Line) {
		n := len(b)
		for _, c := range l.Cells {
			b = f.AppendText(b, c)
		}
		b = append(b[:n], bytes.TrimRight(b[n:], " ")...)
		b = append(b, '\n')
	}
	h := p.screen.History()
	var f vterm.Frame
	p.screen.Frame(&f, vterm.Query{})
	for i := range h.Len() {
		var l vterm.Line
		h.Line(i, &l)
		row(&f, &l)
	}
	for i := range f.Lines {
		row(&f, &f.Lines[i])
	}
	return string(b)
}

func (p *terminal) shows(t *testing.T, text string) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("the terminal shows:\n%s", p.text())
		}
	}()
	e2e.Eventually(t, "it shows "+text, func() bool { return strings.Contains(p.text(), text) })
}

func (p *terminal) types(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(p.pty, text); err != nil {
		t.Fatal(err)
	}
}

// count counts for each number its lines "PREFIX N".
func count(text, prefix string, n int) (wrong []string) {
	lines := map[string]int{}
	for line := range strings.Lines(text) {
		lines[strings.TrimSpace(line)]++
	}
	for i := 1; i <= n; i++ {
		if c := lines[fmt.Sprintf("%s %d", prefix, i)]; c != 1 {
			wrong = append(wrong, fmt.Sprintf("%d: %d times", i, c))
		}
	}
	return wrong
}

// TestAttachThroughCuts attaches over connections that are cut repeatedly. Every printed line is on the terminal once,
// also in its scrollback, and every typed line was typed once, also those typed while disconnected.
//
// FEATURES: R94, R113
func TestAttachThroughCuts(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	typed := filepath.Join(h.dir, "typed")
	h.here.Run("-H", "far", "new", "-n", "s", "--cols", "60", "--rows", "12", "--", "sh", "-c",
		`n=0; while read line; do echo "$line" >>`+typed+`; for x in 1 2 3 4 5 6 7 8 9 10; do n=$((n+1)); echo "line $n"; done; done`)
	p := newTerminal(t, h.here, "attach", "--scrollback", "far/s")
	const rounds = 6
	p.types(t, "typed 1\r")
	p.shows(t, "line 10\n")
	for i := 2; i <= rounds; i++ {
		switch i % 3 {
		case 0: // it goes on at once
			h.cut(t)
			p.types(t, fmt.Sprintf("typed %d\r", i))
		case 1: // under what is typed
			p.types(t, fmt.Sprintf("typed %d\r", i))
			h.cut(t)
		default: // there is none for a while
			h.server(t) // earlier cuts may be answered already: output was quicker than the cut
			h.down(t, true)
			h.cut(t)
			e2e.Eventually(t, "the terminal shows the notice", func() bool {
				p.mu.Lock()
				defer p.mu.Unlock()
				return strings.Contains(p.said.String(), "connection lost")
			})
			p.types(t, fmt.Sprintf("typed %d\r", i))
			h.down(t, false)
		}
		p.shows(t, fmt.Sprintf("line %d\n", 10*i))
	}
	if wrong := count(p.text(), "line", 10*rounds); len(wrong) > 0 {
		t.Errorf("lines %v\n%s", wrong, p.text())
	}
	if wrong := count(h.read(t, "typed"), "typed", rounds); len(wrong) > 0 {
		t.Errorf("typed %v\n%s", wrong, h.read(t, "typed"))
	}
	p.types(t, "\x1cd")
	if err := <-p.done; err != nil {
		t.Errorf("left with %v", err)
	}
}

// TestLeavingWithoutConnection disconnects a client on the alternate screen. It shows a notice, and the user can
// detach.
func TestLeavingWithoutConnection(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	h.here.Run("-H", "far", "new", "-n", "s", "--", "sh", "-c", "echo ready; exec cat")
	p := newTerminal(t, h.here, "attach", "far/s")
	p.shows(t, "ready")
	h.down(t, true)
	h.cut(t)
	p.shows(t, "far: connection lost")
	p.types(t, "abc")
	p.shows(t, "3 bytes of keys")
	p.types(t, "\x1cd")
	if err := <-p.done; err != nil {
		t.Errorf("left with %v: %s", err, p.text())
	}
	p.shows(t, "[detached from far/s; return with `longterm attach far/s`")
	p.shows(t, "[not sent: 3 bytes typed into far/s]")
	h.down(t, false)
}

// TestAStalledConnection stalls a connection without an error, as after a sleep or a change of address. It is detected
// and replaced.
func TestAStalledConnection(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	h.here.Run("-H", "far", "new", "-n", "s", "--", "sh", "-c", "echo ready; exec cat")
	p := newTerminal(t, h.here, "attach", "far/s")
	p.shows(t, "ready")
	server := h.server(t)
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(server, syscall.SIGKILL) })
	p.types(t, "still there\r")
	e2e.Eventually(t, "the session has received the input", func() bool { return strings.Count(p.text(), "still there") == 2 })
	p.types(t, "\x1cd")
	<-p.done
}

// TestVerbsThroughCuts follows output over cut connections. Every byte arrives once, and a command runs once.
func TestVerbsThroughCuts(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	gate := filepath.Join(h.dir, "gate")
	h.here.Run("-H", "far", "new", "-n", "s", "--", "sh", "-c",
		`n=0; while [ $n -lt 60 ]; do read x; for y in 1 2 3 4 5 6 7 8 9 10; do n=$((n+1)); echo "line $n"; done; done`)
	var out bytes.Buffer
	follow := h.here.Command(t.Context(), "output", "-f", "far/s")
	follow.Stdout, follow.Stderr = &out, os.Stderr
	h.make(t, follow.Start())

	ran := filepath.Join(h.dir, "ran")
	var result bytes.Buffer
	run := h.here.Command(context.WithoutCancel(t.Context()), "-H", "far", "run", "--json", "--pipe", "--", "sh", "-c", "echo x >>"+ran+"; cat "+gate+".end; exit 9")
	run.Stdout = &result
	h.make(t, syscall.Mkfifo(gate+".end", 0o600), run.Start())
	e2e.Eventually(t, "the command runs", func() bool { _, err := os.Stat(ran); return err == nil })

	for i := range 6 {
		if i%2 == 1 {
			h.cut(t)
			e2e.Eventually(t, "a new connection exists", func() bool {
				_, _, code := h.here.Try("-H", "far", "ls")
				return code == 0
			})
		}
		h.Run("send", "s", "go\n")
		e2e.Eventually(t, "the text is printed", func() bool {
			return strings.Contains(h.Run("output", "s"), fmt.Sprintf("line %d\n", 10*(i+1)))
		})
	}
	h.make(t, follow.Wait())
	if wrong := count(out.String(), "line", 60); len(wrong) > 0 {
		t.Errorf("lines %v", wrong)
	}
	h.make(t, os.WriteFile(gate+".end", []byte("told\n"), 0o600))
	_ = run.Wait()
	r := e2e.Decode[api.Result](t, result.String())
	if r.ExitCode == nil || *r.ExitCode != 9 || !strings.Contains(result.String(), "told") || h.read(t, "ran") != "x\n" {
		t.Errorf("%s; ran %q", result.String(), h.read(t, "ran"))
	}
}

// TestKeeperIsKilledUnderALine kills the keeper of a running line, local or remote. The result reports an unknown end.
//
// FEATURES: R93, R94
func TestKeeperIsKilledUnderALine(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	for name, of := range map[string]struct {
		i   *e2e.Instance
		ref string
	}{"here": {h.here, "s"}, "there": {h.Instance, "far/s"}} {
		t.Run(name, func(t *testing.T) {
			of.i.Run("new", "-n", "s", "--", "bash", "--norc")
			begun := filepath.Join(t.TempDir(), "begun")
			var stderr bytes.Buffer
			cmd := h.here.Command(t.Context(), "exec", of.ref, "touch "+begun+"; sleep 600")
			cmd.Stderr = &stderr
			h.make(t, cmd.Start())
			e2e.Eventually(t, "the command runs", func() bool { _, err := os.Stat(begun); return err == nil })
			h.make(t, syscall.Kill(of.i.Status().KeeperPID, syscall.SIGKILL))
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 125 || !strings.Contains(stderr.String(), "not seen") {
				t.Errorf("it exits with %d: %s", code, stderr.String())
			}
		})
	}
}

// TestApprovalsOutliveTheConnection cuts the connection while a remote request is pending, and approves it before the
// reconnect. Then the caller has its session or result, and the command started once.
//
// FEATURES: R63, R94
func TestApprovalsOutliveTheConnection(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	for what, args := range map[string][]string{
		"new": {"new", "-n", "made", "--policy", "readonly", "--", "sh", "-c"},
		"run": {"run", "--policy", "readonly", "--", "sh", "-c"},
	} {
		t.Run(what, func(t *testing.T) {
			ran := filepath.Join(h.dir, "ran-"+what)
			var stdout, stderr bytes.Buffer
			c := h.here.Command(t.Context(), append(append([]string{"-H", "far"}, args...), "echo x >>"+ran)...)
			c.Stdout, c.Stderr = &stdout, &stderr
			h.make(t, c.Start())
			pending := func() []api.Approval { return e2e.Decode[[]api.Approval](t, h.Run("approvals", "--json")) }
			e2e.Eventually(t, "an approval request is pending", func() bool { return len(pending()) == 1 })
			asked := pending()[0].ID
			h.server(t)
			h.down(t, true)
			h.cut(t)
			e2e.Eventually(t, "the bridge has ended on the host", func() bool { return !h.hasBridge() })
			h.Run("approvals", "answer", asked, "once")
			h.down(t, false)
			if err := c.Wait(); err != nil {
				t.Fatalf("%v: %s", err, stderr.String())
			}
			if what == "new" {
				if id := strings.TrimSpace(stdout.String()); id != h.Info("made").ID {
					t.Errorf("it is called %q", id)
				}
			}
			e2e.Eventually(t, "the command has run", func() bool { _, err := os.Stat(ran); return err == nil })
			if got := h.read(t, "ran-"+what); got != "x\n" {
				t.Errorf("it ran %q", got)
			}
			if list := pending(); len(list) != 0 {
				t.Errorf("a new approval request: %+v", list)
			}
		})
	}
}

// TestInterruptedWithoutConnection interrupts a wait for a command on an unreachable host. The client reports that and
// exits.
//
// FEATURES: R94
func TestInterruptedWithoutConnection(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	h.Run("new", "-n", "s", "--", "bash", "--norc")
	for what, args := range map[string][]string{"exec": {"exec", "far/s"}, "run": {"run", "-H", "far", "-c"}} {
		t.Run(what, func(t *testing.T) {
			begun := filepath.Join(h.dir, "begun-"+what)
			c := h.here.Command(t.Context(), append(args, "touch "+begun+"; sleep 600")...)
			said, err := c.StderrPipe()
			h.make(t, err, c.Start())
			e2e.Eventually(t, "the command runs", func() bool { _, err := os.Stat(begun); return err == nil })
			h.server(t)
			h.down(t, true)
			h.cut(t)
			line, err := bufio.NewReader(said).ReadString('\n')
			if err != nil || !strings.Contains(line, "far is unreachable") || !strings.Contains(line, "retrying") {
				t.Errorf("%q, %v", line, err)
			}
			h.make(t, c.Process.Signal(os.Interrupt))
			_ = c.Wait() // it leaves, while the host stays away
			h.down(t, false)
		})
	}
}
