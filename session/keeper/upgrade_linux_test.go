package keeper

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// executable opens a file to upgrade to.
func executable(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// upgradeSelf makes a keeper execute this test binary again, and connects to the result.
func upgradeSelf(t *testing.T, l *link.Link, socket string) (*link.Link, notices) {
	t.Helper()
	if err := l.Upgrade(ctx(t), executable(t, "/proc/self/exe")); err != nil {
		t.Fatal(err)
	}
	receive(t, l.Closed(), "end of the connection")
	return dial(t, socket, wire.RoleDaemon)
}

// TestUpgrade_InEveryState checks that an upgraded keeper keeps every session in every state, by the same pid, with no
// byte lost or repeated.
//
// FEATURES: R90
func TestUpgrade_InEveryState(t *testing.T) {
	socket, pid := start(t, keeperEnv+"_STATE="+t.TempDir())
	l, n := dial(t, socket, wire.RoleDaemon)
	fed := sh("fed", "cat; exit 4")
	fed.Pipe, fed.Input = true, true
	based := sh("based", "printf abc; read x; exit 5")
	based.Base = 1000
	for _, m := range []wire.Spawn{
		sh("runs", "echo one; read x; echo two; exit 3"),
		sh("ended", "echo gone; exit 6"),
		sh("killed", "kill -KILL $$"),
		sh("floods", "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exit 7"),
		fed, based,
		onPipes("half", "echo out; exec 2>&-; read x </dev/null; sleep 600"),
		onPipes("pipes", "echo out; echo err >&2; exit 8"),
	} {
		if _, err := l.Spawn(ctx(t), m); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { killRemaining(t, socket, "half") })
	for range 3 {
		receive(t, n.exited, "exit of ended, killed and pipes")
	}
	for range 3 {
		receive(t, n.closed, "close of ended, killed and pipes")
	}
	flood := adopt(t, l, "floods")
	await(t, "a full ring", func() bool { return flood.ring.Head() == uint64(flood.ring.Cap()) })
	for id, head := range map[string]uint64{"runs": 5, "based": 1003, "half": 4} {
		s := adopt(t, l, id)
		await(t, id+" is where it should be", func() bool { return s.ring.Head() == head })
	}
	was, err := l.List(ctx(t))
	if err != nil {
		t.Fatal(err)
	}

	l, _ = upgradeSelf(t, l, socket)
	l, n = upgradeSelf(t, l, socket) // what a handoff omits would be lost by the next one
	s, err := l.Status(ctx(t))
	if err != nil || s.PID != int64(pid) || s.Executions != 3 || s.Sessions != uint64(len(was)) {
		t.Fatalf("%+v, %v", s, err)
	}
	is, err := l.List(ctx(t))
	if err != nil {
		t.Fatal(err)
	}
	if b, a := byID(was), byID(is); !reflect.DeepEqual(b, a) {
		for id := range b {
			if !reflect.DeepEqual(b[id], a[id]) {
				t.Errorf("%s: before %+v, after %+v", id, b[id], a[id])
			}
		}
	}
	open := countDescriptors(pid)

	type end struct {
		id, input, output string
		code, signal      int64
	}
	var flooded strings.Builder
	for i := range 20000 {
		flooded.WriteString("line " + itoa(i) + "\r\n")
	}
	for _, e := range []end{
		{"runs", "go\n", "one\r\ngo\r\ntwo\r\n", 3, 0},
		{"ended", "", "gone\r\n", 6, 0},
		{"killed", "", "", -1, int64(syscall.SIGKILL)},
		{"floods", "", flooded.String(), 7, 0},
		{"based", "go\n", "abcgo\r\n", 5, 0},
	} {
		s := adopt(t, l, e.id)
		if e.input != "" {
			if _, err := s.pty.WriteString(e.input); err != nil {
				t.Error(err)
			}
		}
		if got := readAll(t, l, n, s, s.ring.Tail()+uint64(len(e.output))); got != e.output {
			t.Errorf("%s: correct up to %d of %d", e.id, commonPrefix(got, e.output), len(e.output))
		}
		if ex := n.exit(t, e.id); ex.Code != e.code || ex.Signal != e.signal || ex.Head != s.ring.Head() || ex.Time == 0 {
			t.Errorf("%s: %+v, ring at %d", e.id, ex, s.ring.Head())
		}
	}
	in := adopt(t, l, "fed")
	if _, err := in.pty.WriteString("fed\n"); err != nil {
		t.Error(err)
	}
	_ = in.pty.Close()
	if err := l.CloseInput(ctx(t), "fed"); err != nil {
		t.Error(err)
	}
	if got := readAll(t, l, n, in, 4); got != "fed\n" {
		t.Errorf("input: %q", got)
	}
	var st streamReader
	st.take(t, l, n, adopt(t, l, "pipes"), 8)
	if st.byStream[ring.Stdout].String() != "out\n" || st.byStream[ring.Stderr].String() != "err\n" {
		t.Errorf("pipes: %q, %q", &st.byStream[0], &st.byStream[1])
	}
	for _, s := range is {
		if err := l.Signal(ctx(t), s.ID, syscall.SIGKILL, wire.ScopeAll); err != nil {
			t.Error(err)
		}
		if err := l.Release(ctx(t), s.ID); err != nil {
			t.Error(err)
		}
	}
	awaitDescriptors(t, pid, open-2*len(is)+2) // closed ones had fewer before; nothing else stays open
}

// byID returns sessions by their ID.
func byID(all []*wire.Session) map[string]wire.Session {
	m := map[string]wire.Session{}
	for _, s := range all {
		m[s.ID] = *s
		v := m[s.ID]
		v.Req = 0
		m[s.ID] = v
	}
	return m
}

// TestUpgrade_Fails checks that a broken executable is detected before any state is lost.
//
// FEATURES: R93
func TestUpgrade_Fails(t *testing.T) {
	socket, pid := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	if _, err := l.Spawn(ctx(t), sh("a", "echo one; read x; exit 3")); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	readAll(t, l, n, s, 5)
	before := countDescriptors(pid)
	for name, c := range map[string]struct {
		exe  *os.File
		says string
	}{
		"a text":                 {executable(t, writeFile(t, "text", "hello", 0o644)), "permission denied"},
		"a text that may run":    {executable(t, writeFile(t, "text", "hello", 0o755)), "exec format"},
		"half a binary":          {executable(t, writeFile(t, "half", "\x7fELF\x02\x01\x01", 0o755)), ""},
		"one that fails":         {executable(t, "/bin/false"), "exit status 1"},
		"one that does not know": {executable(t, "/bin/ls"), "exit status 2"},
		"a directory":            {executable(t, "/"), "permission denied"},
	} {
		err := l.Upgrade(ctx(t), c.exe)
		if err == nil || !strings.Contains(err.Error(), "upgrade: the new executable does not run") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	awaitDescriptors(t, pid, before)
	uc, c := rawPeer(t, socket)
	if _, err := uc.Write(append(helloOf(wire.RoleTool), wire.AppendFrame(nil, &wire.Upgrade{Req: 1}, 0)...)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []wire.Kind{wire.KindHello, wire.KindDone} {
		f, _, err := c.Read()
		var d wire.Done
		if err != nil || f.Kind != want || want == wire.KindDone && (wire.Decode(f.Payload, &d) != nil || !strings.Contains(d.Error, "missing")) {
			t.Errorf("without an executable: kind %d, %+v, %v", f.Kind, d, err)
		}
	}
	if _, err := s.pty.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	if ex := n.exit(t, "a"); ex.Code != 3 {
		t.Errorf("exit %+v", ex)
	}
	if s, err := l.Status(ctx(t)); err != nil || s.Executions != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestUpgrade_WithDaemon checks that a running daemon continues across an upgrade, and that the new execution knows it.
func TestUpgrade_WithDaemon(t *testing.T) {
	socket, pid := start(t, supervised("serves"))
	tool, _ := dial(t, socket, wire.RoleTool)
	if err := tool.StartDaemon(ctx(t)); err != nil {
		t.Fatal(err)
	}
	daemon := status(t, tool, "a daemon", func(s *wire.StatusReply) bool { return s.DaemonPID != 0 }).DaemonPID
	if err := tool.Upgrade(ctx(t), executable(t, "/proc/self/exe")); err != nil {
		t.Fatal(err)
	}
	receive(t, tool.Closed(), "end of the connection")
	// This daemon ends with its connection, so it is replaced: by the one that the test waits for.
	tool, _ = dial(t, socket, wire.RoleTool)
	s := status(t, tool, "another daemon", func(s *wire.StatusReply) bool { return s.DaemonPID != 0 && s.DaemonPID != daemon })
	if s.PID != int64(pid) || s.Executions != 2 || s.Restarts != 1 {
		t.Errorf("%+v", s)
	}
}

func TestHandoffArguments(t *testing.T) {
	for in, want := range map[string]string{
		"longterm keeper":                              "longterm keeper --handoff-fd 9",
		"longterm keeper --key a":                      "longterm keeper --key a --handoff-fd 9",
		"longterm keeper --ready-fd 3":                 "longterm keeper --handoff-fd 9",
		"longterm keeper --handoff-fd 5 --key a":       "longterm keeper --key a --handoff-fd 9",
		"longterm keeper --ready-fd 3 --handoff-fd 15": "longterm keeper --handoff-fd 9",
		"longterm":                     "longterm --handoff-fd 9",
		"longterm keeper --handoff-fd": "longterm keeper --handoff-fd 9",
	} {
		if got := strings.Join(handoffArgs(strings.Fields(in), 9), " "); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// handoffOf returns a handoff file with frames.
func handoffOf(t *testing.T, b []byte) *os.File {
	t.Helper()
	f, err := handoffFile()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	return f
}

// newTestKeeper returns a keeper without a socket that logs nothing.
func newTestKeeper() *Keeper {
	return &Keeper{
		log: slog.New(slog.NewTextHandler(io.Discard, nil)), children: map[string]*child{},
		conns: map[*conn]struct{}{}, helpers: map[int]func(syscall.WaitStatus){}, stop: make(chan error, 1),
	}
}

// passDescriptor returns a descriptor as an execution inherits it, which the receiver closes.
func passDescriptor(t *testing.T, f *os.File) int64 {
	t.Helper()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return int64(fd)
}

// TestHandoff_Invalid checks that an unreadable handoff ends the new execution with the reason, and that one unusable
// session in it is omitted.
//
// FEATURES: R93
func TestHandoff_Invalid(t *testing.T) {
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := unixsock.Listen(filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	lf := l.File()
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	self := func() []byte {
		return wire.AppendFrame(nil, &wire.HandoffKeeper{
			ListenerFD: passDescriptor(t, lf), LockFD: passDescriptor(t, lock), Started: 5, Executions: 2, Restarts: 7,
			LastError: "daemon 3 ended: killed", Cgroups: "/c", Limits: "cpu pids",
		}, 0)
	}
	for name, c := range map[string]struct {
		b    []byte
		says string
	}{
		"empty":                    {nil, "no listener"},
		"sessions only":            {wire.AppendFrame(nil, &wire.Handoff{ID: "a", RingFD: passDescriptor(t, lock), PTYFD: -1}, 0), "no listener"},
		"cut in a header":          {append(self(), 1, 2), "handoff"},
		"cut in a frame":           {self()[:20], "cut short"},
		"a listener that is none":  {wire.AppendFrame(nil, &wire.HandoffKeeper{ListenerFD: passDescriptor(t, lock), LockFD: passDescriptor(t, lock)}, 0), "no listener"},
		"a frame over the bounds":  {append(self(), frame(1<<31, wire.KindHandoff, 0)...), "size limit"},
		"a keeper with stray byte": {frame(1, wire.KindHandoffKeeper, 0, 1), "no listener"},
	} {
		k := newTestKeeper()
		if err := k.restoreHandoff(handoffOf(t, c.b)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}

	r, rf, err := ring.Create(ring.MinSize)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(r.Close(), rf.Close()) }()
	b := self()
	b = wire.AppendFrame(b, &wire.Handoff{ID: "no ring", PID: 1, RingFD: passDescriptor(t, lock), PTYFD: -1}, 0)
	b = append(b, frame(3, wire.KindHandoff, 0, 1, 2, 3)...)
	b = append(b, frame(3, 0x7fff, 0, 1, 2, 3)...) // of a newer version
	b = wire.AppendFrame(b, &wire.Handoff{
		ID: "ended", PID: 99, Started: 6, Cols: 80, Rows: 24, RingFD: passDescriptor(t, rf), PTYFD: -1,
		Exited: true, Code: 3, Signal: 0, Time: 8, User: 9, System: 10, MaxRSS: 11, Cgroup: "/c/ended",
	}, 0)
	k := newTestKeeper()
	if err := k.restoreHandoff(handoffOf(t, b)); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(k.listener.Close(), k.lock.Close()) }()
	if k.execCount != 3 || k.started.UnixNano() != 5 || k.supervisor.restarts != 7 || k.supervisor.lastError != "daemon 3 ended: killed" || k.cgroups.dir != "/c" || !slices.Equal(k.cgroups.controllers, []string{"cpu", "pids"}) {
		t.Errorf("keeper %d %v %+v %+v", k.execCount, k.started, k.supervisor, &k.cgroups)
	}
	c := k.children["ended"]
	if len(k.children) != 1 || c == nil {
		t.Fatalf("sessions %v", k.children)
	}
	want := wire.Exited{ID: "ended", Code: 3, Time: 8, User: 9, System: 10, MaxRSS: 11}
	if c.exit == nil || *c.exit != want || !c.outputClosed || !c.exitReported || !c.reaped.Load() || c.cgroup != "/c/ended" || c.cols != 80 {
		t.Errorf("%+v, exit %+v", c, c.exit)
	}
	<-c.pumpsDone // no goroutine pumps
	_ = errors.Join(c.ring.Close(), c.ringFile.Close())
}
