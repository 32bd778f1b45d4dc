//go:build unix

package keeper

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// keeperEnv selects the keeper's role of this test binary. The keeper reaps every child of its process, so it runs in a
// separate process.
const keeperEnv = "LONGTERM_TEST_KEEPER"

func TestMain(m *testing.M) {
	confine.Enter()
	if socket := os.Getenv(callerEnv); socket != "" {
		os.Exit(callerMain(socket, os.Args[1]))
	}
	if dir := os.Getenv(keeperEnv); dir != "" {
		switch {
		case os.Args[0] == fakeDaemon:
			os.Exit(fakeDaemonMain(filepath.Join(dir, "k.sock"), os.Args[1]))
		case len(os.Args) > 1 && os.Args[1] == "version": // an upgrade checks the new binary
			os.Exit(0)
		}
		os.Exit(keeperMain(dir))
	}
	os.Exit(isolate.Run(m))
}

// keeperMain runs a keeper with its files in dir.
func keeperMain(dir string) int {
	cfg := Config{
		Socket: filepath.Join(dir, "k.sock"), Lock: filepath.Join(dir, "k.lock"), Key: "test", Build: "test",
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Ready: os.NewFile(3, "ready"),
	}
	if d := os.Getenv(keeperEnv + "_DAEMON"); d != "" {
		cfg.Daemon = strings.Fields(d)
	}
	if i := slices.Index(os.Args, HandoffFlag); i >= 0 {
		fd, _ := strconv.Atoi(os.Args[i+1])
		cfg.Handoff, cfg.Ready = os.NewFile(uintptr(fd), "handoff"), nil
	}
	if d := os.Getenv(keeperEnv + "_STATE"); d != "" {
		cfg.StateLock = filepath.Join(d, "state.lock")
	}
	if os.Getenv(noPTYEnv) != "" {
		cfg.OpenPTY = noPTY
	}
	if err := Run(cfg); err != nil {
		slog.Error("keeper", "err", err)
		return 1
	}
	return 0
}

// notices collects the keeper's notices.
type notices struct {
	output chan string
	exited chan *wire.Exited
	closed chan *wire.Closed
}

func (n notices) Output(id string)      { n.output <- id }
func (n notices) Exited(m *wire.Exited) { n.exited <- m }
func (n notices) Closed(m *wire.Closed) { n.closed <- m }

// newNotices returns empty channels of notices.
func newNotices() notices {
	return notices{make(chan string, 4096), make(chan *wire.Exited, 64), make(chan *wire.Closed, 64)}
}

// start runs a keeper process and returns its socket.
func start(t testing.TB, env ...string) (socket string, pid int) {
	t.Helper()
	dir := t.TempDir()
	ready, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), append(env, keeperEnv+"="+dir)...)
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{end}
	if err := cmd.Start(); err != nil {
		t.Skip("no /proc/self/exe on this system: ", err)
	}
	_ = end.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := io.ReadAll(ready); err != nil || string(line) != "ok\n" {
		t.Fatalf("keeper reported %q, %v", line, err)
	}
	return filepath.Join(dir, "k.sock"), cmd.Process.Pid
}

// dial connects to a keeper in a role.
func dial(t testing.TB, socket, role string) (*link.Link, notices) {
	t.Helper()
	n := newNotices()
	l, err := link.Dial(socket, role, "test", n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, n
}

// sh returns a spawn of a shell script.
func sh(id, script string) wire.Spawn {
	return wire.Spawn{
		ID: id, Path: "/bin/sh", Argv: []string{"sh", "-c", script}, Dir: "/",
		Env: []string{"PATH=/bin:/usr/bin"}, Cols: 80, Rows: 24, RingBytes: ring.MinSize,
	}
}

// session is an adopted session as a daemon sees it.
type session struct {
	*wire.Session
	ring *ring.Ring
	pty  *os.File
}

// adopt adopts a session and maps its ring.
func adopt(t *testing.T, l *link.Link, id string) session {
	t.Helper()
	a, err := l.Adopt(ctx(t), id)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ring.Map(a.Ring)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.Close()
		_ = r.Close()
	})
	return session{a.Session, r, a.PTY}
}

// ctx returns a context with a time limit.
func ctx(t testing.TB) context.Context {
	t.Helper()
	c, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return c
}

// receive receives a value, or fails the test after a time limit.
func receive[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatal("no ", what)
		panic("unreachable")
	}
}

// readAll reads n bytes of output and acknowledges them.
func readAll(t *testing.T, l *link.Link, n notices, s session, want uint64) string {
	t.Helper()
	var b strings.Builder
	off := s.ring.Tail()
	for off < want {
		s.ring.ArmNotice()
		for {
			p := s.ring.BytesAt(off, 1<<20)
			if len(p) == 0 {
				break
			}
			b.Write(p)
			off += uint64(len(p))
			if s.ring.Ack(off) {
				if err := l.Resume(s.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		if off < want {
			receive(t, n.output, "notice")
		}
	}
	return b.String()
}

// FEATURES: R90, R26
func TestOutputExitAndRelease(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	if _, err := l.Spawn(ctx(t), sh("a", "printf 'h\\303\\251llo'; exit 7")); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	ex := receive(t, n.exited, "exit")
	if ex.Code != 7 || ex.Signal != 0 || ex.MaxRSS <= 0 {
		t.Errorf("exit %+v", ex)
	}
	if got := readAll(t, l, n, s, ex.Head); got != "héllo" {
		t.Errorf("output %q", got)
	}
	if cl := receive(t, n.closed, "close"); cl.Head != ex.Head {
		t.Errorf("closed at %d, exited at %d", cl.Head, ex.Head)
	}
	if err := l.Release(ctx(t), "a"); err != nil {
		t.Fatal(err)
	}
	if all, err := l.List(ctx(t)); err != nil || len(all) != 0 {
		t.Errorf("after release: %v, %v", all, err)
	}
}

// TestFullRing_BlocksChild checks that a full ring blocks the child instead of dropping output, and that another session
// is not affected (K3, K4).
//
// FEATURES: R90, R93
func TestFullRing_BlocksChild(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	const lines = 40000
	if _, err := l.Spawn(ctx(t), sh("flood", "i=0; while [ $i -lt 40000 ]; do echo line $i; i=$((i+1)); done")); err != nil {
		t.Fatal(err)
	}
	flood := adopt(t, l, "flood")
	for flood.ring.Head()-flood.ring.Tail() < uint64(flood.ring.Cap()) {
		select {
		case <-n.output:
		case <-time.After(time.Millisecond): // notices are coalesced: poll the head
		}
	}
	if _, err := l.Spawn(ctx(t), sh("other", "echo fine")); err != nil {
		t.Fatal(err)
	}
	other := adopt(t, l, "other")
	ex := receive(t, n.exited, "the other session's exit")
	if got := readAll(t, l, n, other, ex.Head); ex.ID != "other" || got != "fine\r\n" {
		t.Errorf("%s printed %q", ex.ID, got)
	}
	var want strings.Builder
	for i := range lines {
		want.WriteString("line ")
		want.WriteString(itoa(i))
		want.WriteString("\r\n")
	}
	if got := readAll(t, l, n, flood, uint64(want.Len())); got != want.String() {
		t.Error("lines lost, repeated or out of order")
	}
}

// itoa returns i in decimal digits.
func itoa(i int) string { return strings.TrimSpace(string(appendInt(nil, i))) }

// appendInt appends i in decimal digits.
func appendInt(b []byte, i int) []byte {
	if i >= 10 {
		b = appendInt(b, i/10)
	}
	return append(b, byte('0'+i%10))
}

// TestNextDaemon_GetsUnackedOutput checks that the next daemon gets the output that an earlier one did not acknowledge,
// and the exit status.
//
// FEATURES: R90
func TestNextDaemon_GetsUnackedOutput(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	if _, err := l.Spawn(ctx(t), sh("a", "echo one; read x; echo two; exit 3")); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	if got := readAll(t, l, n, s, 5); got != "one\r\n" {
		t.Fatalf("output %q", got)
	}
	_ = l.Close()

	l2, n2 := dial(t, socket, wire.RoleDaemon)
	s2 := adopt(t, l2, "a")
	if s2.PID != s.PID {
		t.Errorf("pid %d became %d", s.PID, s2.PID)
	}
	if _, err := s2.pty.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	ex := receive(t, n2.exited, "exit")
	if got := readAll(t, l2, n2, s2, ex.Head); got != "go\r\ntwo\r\n" || ex.Code != 3 {
		t.Errorf("output %q, exit %+v", got, ex)
	}
}

// FEATURES: R12
func TestSpawn_Errors(t *testing.T) {
	socket, _ := start(t)
	l, _ := dial(t, socket, wire.RoleDaemon)
	m := sh("a", "true")
	m.Path = "/does/not/exist"
	_, err := l.Spawn(ctx(t), m)
	if spawnErr, ok := err.(*link.SpawnError); !ok || spawnErr.Errno != syscall.ENOENT {
		t.Errorf("missing program: %v", err)
	}
	m = sh("b", "true")
	m.Dir = "/does/not/exist"
	if _, err := l.Spawn(ctx(t), m); err == nil {
		t.Error("missing directory accepted")
	}
	if _, err := l.Spawn(ctx(t), sh("c", "sleep 60")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Spawn(ctx(t), sh("c", "true")); err == nil {
		t.Error("a used id was accepted")
	}
	if _, err := l.Adopt(ctx(t), "none"); err == nil {
		t.Error("adopted an unknown session")
	}
}

// FEATURES: R15
func TestSignalScopes(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	if _, err := l.Spawn(ctx(t), sh("a", "echo ready; exec sleep 60")); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	readAll(t, l, n, s, 7)
	if err := l.Signal(ctx(t), "a", syscall.SIGTERM, wire.ScopeGroup); err != nil {
		t.Fatal(err)
	}
	ex := receive(t, n.exited, "exit")
	if ex.Signal != int64(syscall.SIGTERM) || ex.Code != -1 {
		t.Errorf("exit %+v", ex)
	}
	if err := l.Signal(ctx(t), "a", syscall.SIGTERM, wire.ScopeGroup); err != nil {
		t.Errorf("signal to a reaped child: %v", err)
	}
}

// FEATURES: R3
func TestPipeMode(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	m := sh("a", "test -t 1 && echo tty; echo out; echo err >&2; exit 4")
	m.Pipe = true
	if _, err := l.Spawn(ctx(t), m); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	ex := receive(t, n.exited, "exit")
	if got := readAll(t, l, n, s, ex.Head); got != "out\nerr\n" || ex.Code != 4 {
		t.Errorf("output %q, exit %+v", got, ex)
	}
}

// TestExit_DoesNotWaitForDescendants checks that a child with a background process on its terminal is reported as ended,
// and that later output still arrives.
//
// FEATURES: R14
func TestExit_DoesNotWaitForDescendants(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	if _, err := l.Spawn(ctx(t), sh("a", "trap '' HUP; (read x < /dev/tty; echo late) & echo early; exit 0")); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	ex := receive(t, n.exited, "exit")
	if got := readAll(t, l, n, s, ex.Head); !strings.Contains(got, "early") {
		t.Errorf("output %q", got)
	}
}

// TestUnknownKind_Skipped checks that frames of an unknown kind are skipped (K5).
func TestUnknownKind_Skipped(t *testing.T) {
	socket, _ := start(t)
	uc, err := unixsock.Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	c := wire.NewConn(uc)
	defer c.Close()
	hello := wire.AppendFrame(nil, &wire.Hello{Version: 1, MinVersion: 1, Role: wire.RoleTool}, 0)
	unknown := []byte{3, 0, 0, 0, 0xff, 0x7f, 0, 0, 'a', 'b', 'c'}
	status := wire.AppendFrame(nil, &wire.Status{Req: 9}, 0)
	if err := c.WriteFrame(append(append(hello, unknown...), status...)); err != nil {
		t.Fatal(err)
	}
	for {
		f, _, err := c.Read()
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind == wire.KindStatusReply {
			return
		}
	}
}

// FEATURES: R93
func TestGarbage_EndsOnlyItsConnection(t *testing.T) {
	socket, _ := start(t)
	uc, err := unixsock.Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := uc.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(uc); err == nil && len(rest) > 0 {
		t.Errorf("answered %q", rest)
	}
	l, _ := dial(t, socket, wire.RoleTool)
	if _, err := l.Status(ctx(t)); err != nil {
		t.Error(err)
	}
}

func TestShutdown(t *testing.T) {
	socket, _ := start(t)
	l, _ := dial(t, socket, wire.RoleDaemon)
	if _, err := l.Spawn(ctx(t), sh("a", "sleep 60")); err != nil {
		t.Fatal(err)
	}
	if err := l.Shutdown(ctx(t), false); err == nil {
		t.Error("shut down with a running session")
	}
	if err := l.Shutdown(ctx(t), true); err != nil {
		t.Error(err)
	}
	receive(t, l.Closed(), "end of the connection")
}
