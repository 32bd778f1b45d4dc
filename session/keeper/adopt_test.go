//go:build unix

package keeper

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// TestAdoptionOutcomes checks what a daemon learns on adoption: a running session, one that ended while no daemon ran,
// and one whose output is held open by a descendant, on a terminal or on pipes.
//
// FEATURES: R90, R14
func TestAdoptionOutcomes(t *testing.T) {
	socket, _ := start(t)
	before, n := dial(t, socket, wire.RoleDaemon)
	type outcome struct {
		exited, closed, second bool
		code                   int64
	}
	piped := func(m wire.Spawn) wire.Spawn { m.Pipe = true; return m }
	fed := func(m wire.Spawn) wire.Spawn { m.Pipe, m.Input = true, true; return m }
	cases := []struct {
		m    wire.Spawn
		want outcome
	}{
		{sh("terminal-runs", "read x"), outcome{second: true}},
		{sh("terminal-ended", "echo x; exit 3"), outcome{exited: true, closed: true, second: true, code: 3}},
		{sh("terminal-killed", "kill -KILL $$"), outcome{exited: true, closed: true, second: true, code: -1}},
		{piped(sh("pipe-runs", "sleep 600")), outcome{}},
		{piped(sh("pipe-ended", "exit 4")), outcome{exited: true, closed: true, code: 4}},
		{piped(sh("pipe-closed", "exec >&- 2>&-; sleep 600")), outcome{closed: true}},
		{piped(sh("pipe-held", "sleep 600 & exit 5")), outcome{exited: true, code: 5}},
		{fed(sh("fed-runs", "read x")), outcome{second: true}},
		{fed(sh("fed-ended", "exit 6")), outcome{exited: true, closed: true, second: true, code: 6}},
		{onPipes("pipes-ended", "exit 7"), outcome{exited: true, closed: true, code: 7}},
		{onPipes("pipes-half", "exec 2>&-; sleep 600"), outcome{}},
		{onPipes("pipes-held", "sleep 600 >&- & exit 8"), outcome{exited: true, code: 8}},
	}
	for _, c := range cases {
		if _, err := before.Spawn(ctx(t), c.m); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { killRemaining(t, socket, c.m.ID) })
	}
	exited, closed := 0, 0
	for _, c := range cases {
		exited, closed = exited+countTrue(c.want.exited), closed+countTrue(c.want.closed)
	}
	for range exited {
		receive(t, n.exited, "exit")
	}
	for range closed {
		receive(t, n.closed, "close")
	}
	_ = before.Close()

	l, n := dial(t, socket, wire.RoleDaemon)
	for _, c := range cases {
		s, err := l.Adopt(ctx(t), c.m.ID)
		if err != nil {
			t.Fatal(c.m.ID, err)
		}
		s.Close()
		got := outcome{exited: s.Exited, closed: s.Closed, second: s.PTY != nil}
		if s.Exited {
			got.code = n.exit(t, c.m.ID).Code
		}
		if s.Closed {
			n.close(t, c.m.ID)
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.m.ID, got, c.want)
		}
		if s.Pipe != c.m.Pipe || s.Separate != c.m.Separate || s.Input != c.m.Input || s.PID <= 0 || s.Started <= 0 {
			t.Errorf("%s is described as %+v", c.m.ID, s)
		}
		if !s.Pipe && (s.Cols != 80 || s.Rows != 24) {
			t.Errorf("%s is %dx%d", c.m.ID, s.Cols, s.Rows)
		}
	}
	if len(n.exited)+len(n.closed) > 0 {
		t.Errorf("%d exits and %d closes too many", len(n.exited), len(n.closed))
	}
}

// countTrue returns 1 for true.
func countTrue(b bool) int {
	if b {
		return 1
	}
	return 0
}

// killRemaining kills the remaining processes of a session.
func killRemaining(t *testing.T, socket, id string) {
	l, err := link.Dial(socket, wire.RoleTool, "test", nil)
	if err != nil {
		return
	}
	defer l.Close()
	_ = l.Signal(t.Context(), id, unix.SIGKILL, wire.ScopeAll)
	_ = l.Release(t.Context(), id)
}

// TestAdoptedFiles checks that the descriptors of an adopter are the ring and the terminal themselves, closed on
// execution, and that one adopter's use of its copies does not affect another.
func TestAdoptedFiles(t *testing.T) {
	socket, pid := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	if _, err := l.Spawn(ctx(t), sh("a", "stty -echo; echo ready; read x; echo got $x; read x")); err != nil {
		t.Fatal(err)
	}
	open := countDescriptors(pid)
	first := adopt(t, l, "a")
	for range 10 {
		a, err := l.Adopt(ctx(t), "a")
		if err != nil || a.ID != "a" {
			t.Fatal(a, err)
		}
		for name, f := range map[string]*os.File{"ring": a.Ring, "terminal": a.PTY} {
			if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
				t.Errorf("the %s would be inherited: %x, %v", name, flags, err)
			}
		}
		if ws, err := unix.IoctlGetWinsize(int(a.PTY.Fd()), unix.TIOCGWINSZ); err != nil || ws.Col != 80 || ws.Row != 24 {
			t.Errorf("the terminal is %+v, %v", ws, err)
		}
		a.Close()
	}
	awaitDescriptors(t, pid, open)
	readAll(t, l, n, first, 7)
	if _, err := first.pty.WriteString("this\n"); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, l, n, first, 7+10); got != "got this\r\n" {
		t.Errorf("%q", got)
	}
}

// TestInput_Closes checks that the input of a session on pipes ends once keeper and adopter have both closed it, in any
// order. Later adopters get no input.
//
// FEATURES: R4
func TestInput_Closes(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	for id, keeperFirst := range map[string]bool{"keeper-first": true, "adopter-first": false} {
		m := sh(id, "cat; echo end")
		m.Pipe, m.Input = true, true
		if _, err := l.Spawn(ctx(t), m); err != nil {
			t.Fatal(err)
		}
		s := adopt(t, l, id)
		closeInput := func() {
			if err := l.CloseInput(ctx(t), id); err != nil {
				t.Error(err)
			}
		}
		if keeperFirst {
			closeInput()
		}
		if _, err := s.pty.WriteString("in\n"); err != nil {
			t.Error(err)
		}
		readAll(t, l, n, s, 3)
		if all, err := l.List(ctx(t)); err != nil || len(all) == 0 {
			t.Error(err)
		}
		_ = s.pty.Close()
		if !keeperFirst {
			closeInput()
		}
		closeInput() // a second close does nothing
		n.exit(t, id)
		if got := readAll(t, l, n, s, 7); got != "end\n" {
			t.Errorf("%s: %q", id, got)
		}
		again, err := l.Adopt(ctx(t), id)
		if err != nil || again.Input || again.PTY != nil {
			t.Errorf("%s: second adoption with input: %+v, %v", id, again, err)
		}
		again.Close()
	}
	if err := l.CloseInput(ctx(t), "none"); !errors.Is(err, link.ErrNotFound) {
		t.Errorf("unknown session: %v", err)
	}
}

// TestTerminal_Reopened checks that output is read after the program closed its terminal and reopened it by /dev/tty.
//
// FEATURES: R90
func TestTerminal_Reopened(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	script := "exec 9</dev/null; exec </dev/null >/dev/null 2>&1; i=0; while [ $i -lt 300 ]; do i=$((i+1)); done; echo back >/dev/tty; exit 2"
	if _, err := l.Spawn(ctx(t), sh("a", script)); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	ex := n.exit(t, "a")
	if got := readAll(t, l, n, s, ex.Head); got != "back\r\n" || ex.Code != 2 {
		t.Errorf("%q, exit %d", got, ex.Code)
	}
}

// TestRelease_HangsUp checks that a release hangs the terminal up: processes get SIGHUP, readers the end of file.
func TestRelease_HangsUp(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	fifo := t.TempDir() + "/said"
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	m := sh("a", `trap 'echo hung up >&3; exit' HUP; exec 3>"$F"; echo ready; while :; do read x || sleep 0.01; done`)
	m.Env = append(m.Env, "F="+fifo)
	if _, err := l.Spawn(ctx(t), m); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	readAll(t, l, n, s, 7)
	_ = s.pty.Close() // our descriptor keeps the terminal open too
	if err := l.Release(ctx(t), "a"); err != nil {
		t.Fatal(err)
	}
	if err := said.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, len("hung up\n"))
	if _, err := io.ReadFull(said, b); err != nil || string(b) != "hung up\n" {
		t.Errorf("%q, %v", b, err)
	}
}
