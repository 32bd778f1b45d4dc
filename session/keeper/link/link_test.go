//go:build unix

package link

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// TestDial_InvalidGreetings checks that an invalid answer to the greeting ends the dialing with the reason.
//
// FEATURES: R93
func TestDial_InvalidGreetings(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(f *fakeKeeper, conn *wire.Conn)
		is     error
		text   string
	}{
		"closes at once":   {func(*fakeKeeper, *wire.Conn) {}, io.EOF, "greet the keeper"},
		"half a header":    {sendRaw(1, 0, 0), io.ErrUnexpectedEOF, "greet the keeper"},
		"half a payload":   {sendRaw(9, 0, 0, 0, 1, 0, 0, 0, 'x'), io.ErrUnexpectedEOF, "cut short"},
		"4 GiB":            {sendRaw(0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0), wire.ErrTooLarge, ""},
		"200 descriptors":  {sendRaw(0, 0, 0, 0, 1, 0, 200, 0), wire.ErrTooLarge, ""},
		"promised files":   {sendRaw(0, 0, 0, 0, 1, 0, 1, 0), wire.ErrMalformed, "none came"},
		"a stray field":    {sendRaw(3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 9), wire.ErrMalformed, "stray"},
		"an HTTP server":   {sendRaw([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")...), wire.ErrTooLarge, ""},
		"another message":  {sendMessage(&wire.Done{}), nil, "answered with kind 7"},
		"a later protocol": {sendMessage(&wire.Hello{Version: 9, MinVersion: 8, Build: "v9"}), nil, `keeper "v9" speaks protocol 8 to 9, this program 1`},
		"an older one":     {sendMessage(&wire.Hello{Build: "v0"}), nil, `keeper "v0" speaks protocol 0 to 0`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeKeeper(t)
			go func() {
				conn := f.accept(nil)
				c.answer(f, conn)
				_ = conn.Close()
			}()
			l, err := Dial(f.path, wire.RoleTool, "test", nil)
			if err == nil {
				_ = l.Close()
				t.Fatal("connected")
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v, want %v", err, c.is)
			}
			if !strings.Contains(err.Error(), c.text) {
				t.Errorf("%q does not contain %q", err, c.text)
			}
		})
	}
}

// sendRaw returns a fake keeper's step that sends bytes.
func sendRaw(b ...byte) func(*fakeKeeper, *wire.Conn) {
	return func(_ *fakeKeeper, c *wire.Conn) { _, _ = c.File().Write(b) }
}

// sendMessage returns a fake keeper's step that sends a message.
func sendMessage(m wire.Message) func(*fakeKeeper, *wire.Conn) {
	return func(f *fakeKeeper, c *wire.Conn) { f.send(c, m) }
}

// TestDial_OverlappingVersions checks a keeper that also supports this version.
func TestDial_OverlappingVersions(t *testing.T) {
	f := newFakeKeeper(t)
	go f.accept(&wire.Hello{Version: wire.Version + 3, MinVersion: wire.Version, Build: "later", PID: 5, Key: "k"})
	l, err := Dial(f.path, wire.RoleTool, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if h := l.Hello(); h.Build != "later" || h.PID != 5 || h.Key != "k" {
		t.Errorf("%+v", h)
	}
}

func TestDial_NoKeeper(t *testing.T) {
	if _, err := Dial(t.TempDir()+"/none", wire.RoleTool, "test", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing socket: %v", err)
	}
	f := newFakeKeeper(t)
	_ = f.l.Close()
	if _, err := Dial(f.path, wire.RoleTool, "test", nil); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("unserved socket: %v", err)
	}
}

// requests lists all requests with an answer, and their answers.
var requests = []struct {
	name   string
	kind   wire.Kind
	ask    func(context.Context, *Link) error
	answer func(req uint64) wire.Message
}{
	{
		"spawn", wire.KindSpawn,
		func(c context.Context, l *Link) error { _, err := l.Spawn(c, wire.Spawn{ID: "a"}); return err },
		func(req uint64) wire.Message { return &wire.Spawned{Req: req, PID: 1} },
	},
	{
		"list", wire.KindList,
		func(c context.Context, l *Link) error { _, err := l.List(c); return err },
		func(req uint64) wire.Message { return &wire.Done{Req: req} },
	},
	{
		"status", wire.KindStatus,
		func(c context.Context, l *Link) error { _, err := l.Status(c); return err },
		func(req uint64) wire.Message { return &wire.StatusReply{Req: req} },
	},
	{
		"signal", wire.KindSignal,
		func(c context.Context, l *Link) error { return l.Signal(c, "a", syscall.SIGTERM, wire.ScopeAll) },
		func(req uint64) wire.Message { return &wire.Done{Req: req} },
	},
	{
		"release", wire.KindRelease,
		func(c context.Context, l *Link) error { return l.Release(c, "a") },
		func(req uint64) wire.Message { return &wire.Done{Req: req} },
	},
	{
		"close input", wire.KindCloseInput,
		func(c context.Context, l *Link) error { return l.CloseInput(c, "a") },
		func(req uint64) wire.Message { return &wire.Done{Req: req} },
	},
	{
		"start the daemon", wire.KindStartDaemon,
		func(c context.Context, l *Link) error { return l.StartDaemon(c) },
		func(req uint64) wire.Message { return &wire.Done{Req: req} },
	},
	{
		"shut down", wire.KindShutdown,
		func(c context.Context, l *Link) error { return l.Shutdown(c, true) },
		func(req uint64) wire.Message { return &wire.Done{Req: req} },
	},
}

// TestRequests_MatchAnswers checks that each request is sent as its own kind, ends with its answer, and accepts no other
// message as its answer.
func TestRequests_MatchAnswers(t *testing.T) {
	for _, r := range requests {
		t.Run(r.name, func(t *testing.T) {
			l, c, f := connect(t, nil)
			result := make(chan error, 1)
			go func() { result <- r.ask(ctx(t), l) }()
			f.send(c, r.answer(f.nextRequest(c, r.kind)))
			if err := receive(t, result, "answer"); err != nil {
				t.Errorf("result: %v", err)
			}

			go func() { result <- r.ask(ctx(t), l) }()
			req := f.nextRequest(c, r.kind)
			var wrong wire.Message = &wire.StatusReply{Req: req}
			if r.kind == wire.KindStatus {
				wrong = &wire.Done{Req: req}
			}
			f.send(c, wrong)
			if err := receive(t, result, "answer"); err == nil || !strings.Contains(err.Error(), "answered with") {
				t.Errorf("another message as the answer: %v", err)
			}
			go func() { result <- r.ask(ctx(t), l) }() // the connection still works
			f.send(c, r.answer(f.nextRequest(c, r.kind)))
			if err := receive(t, result, "answer"); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestRequests_WhenKeeperDies checks that all requests in progress and later ones fail as lost, except the shutdown that
// requested it.
//
// FEATURES: R93
func TestRequests_WhenKeeperDies(t *testing.T) {
	l, c, f := connect(t, nil)
	results := make([]chan error, len(requests))
	for i, r := range requests {
		results[i] = make(chan error, 1)
		go func() { results[i] <- r.ask(ctx(t), l) }()
		f.nextRequest(c, r.kind)
	}
	_ = c.Close()
	for i, r := range requests {
		err := receive(t, results[i], "end of "+r.name)
		if r.kind == wire.KindShutdown {
			if err != nil {
				t.Errorf("shut down: %v", err)
			}
		} else if !errors.Is(err, ErrUnanswered) { // the keeper may have executed them
			t.Errorf("%s: %v", r.name, err)
		}
	}
	receive(t, l.Closed(), "end of the connection")
	for _, r := range requests {
		if err := r.ask(ctx(t), l); err == nil && r.kind != wire.KindShutdown {
			t.Errorf("%s after the end: no error", r.name)
		}
	}
	if err := l.Resume("a"); err == nil {
		t.Error("resume succeeded without a keeper")
	}
}

// TestUpgrade_EndsConnection checks that a keeper which closes the connection at an upgrade has performed it.
func TestUpgrade_EndsConnection(t *testing.T) {
	exe, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	l, c, _ := connect(t, nil)
	result := make(chan error, 1)
	go func() { result <- l.Upgrade(ctx(t), exe) }()
	frame, files, err := c.Read()
	if err != nil || frame.Kind != wire.KindUpgrade || len(files) != 1 {
		t.Fatalf("request %d with %d files, %v", frame.Kind, len(files), err)
	}
	st, err := files[0].Stat()
	if err != nil || st.Mode()&fs.ModeCharDevice == 0 {
		t.Errorf("another file arrived: %v, %v", st.Mode(), err)
	}
	closeAll(files)
	_ = c.Close()
	if err := receive(t, result, "end"); err != nil {
		t.Errorf("upgraded: %v", err)
	}

	l, c, f := connect(t, nil)
	go func() { result <- l.Upgrade(ctx(t), exe) }()
	f.send(c, &wire.Done{Req: f.nextRequest(c, wire.KindUpgrade), Error: "does not run"})
	if err := receive(t, result, "answer"); err == nil || err.Error() != "does not run" {
		t.Errorf("refused: %v", err)
	}
}

// TestRequest_Abandoned checks that an abandoned request leaves the connection to the others, and that its late answer is
// dropped and its files closed.
func TestRequest_Abandoned(t *testing.T) {
	l, c, f := connect(t, nil)
	short, cancel := context.WithCancel(ctx(t))
	result := make(chan error, 1)
	go func() {
		_, err := l.Adopt(short, "a")
		result <- err
	}()
	late := f.nextRequest(c, wire.KindAdopt)
	cancel()
	if err := receive(t, result, "end"); !errors.Is(err, context.Canceled) {
		t.Errorf("abandoned: %v", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	f.send(c, &wire.Session{Req: late, ID: "a"}, w)
	_ = w.Close()
	awaitClosed(t, r) // the copy that was sent is closed too

	go func() {
		_, err := l.Status(ctx(t))
		result <- err
	}()
	f.send(c, &wire.StatusReply{Req: f.nextRequest(c, wire.KindStatus)})
	if err := receive(t, result, "answer"); err != nil {
		t.Errorf("the next one: %v", err)
	}
	if len(l.pending) != 0 {
		t.Errorf("%d requests pending", len(l.pending))
	}
}

// TestSpawnAdopted checks a spawn and its adoption in one round trip: whatever the second answer is, the first has its
// own, and late descriptors are closed.
func TestSpawnAdopted(t *testing.T) {
	type started struct {
		*wire.Spawned
		a   *Adopted
		err error
	}
	for name, c := range map[string]struct {
		spawned wire.Spawned
		gone    bool // the child has exited before it is adopted
		adopted bool
		fails   bool
	}{
		"both":    {spawned: wire.Spawned{PID: 7}, adopted: true},
		"gone":    {spawned: wire.Spawned{PID: 7}, gone: true},
		"refused": {spawned: wire.Spawned{Error: "no such file", Errno: int64(syscall.ENOENT)}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			l, conn, f := connect(t, nil)
			result := make(chan started, 1)
			go func() {
				s, a, err := l.SpawnAdopted(ctx(t), wire.Spawn{ID: "a", Path: "/x"})
				result <- started{s, a, err}
			}()
			spawn, adopt := f.nextRequest(conn, wire.KindSpawn), f.nextRequest(conn, wire.KindAdopt) // before any answer
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			c.spawned.Req = spawn
			f.send(conn, &c.spawned)
			if c.gone {
				f.send(conn, &wire.Done{Req: adopt, Code: wire.CodeNotFound, Error: "gone"})
			} else {
				f.send(conn, &wire.Session{Req: adopt, ID: "a"}, w)
			}
			_ = w.Close()
			got := receive(t, result, "answer")
			if (got.err != nil) != c.fails || (got.a != nil) != c.adopted || !c.fails && got.PID != 7 {
				t.Errorf("%+v", got)
			}
			got.a.Close()
			awaitClosed(t, r)
			if len(l.pending) != 0 {
				t.Errorf("%d requests pending", len(l.pending))
			}
		})
	}
	l, conn, f := connect(t, nil)
	result := make(chan started, 1)
	go func() { // nothing can be adopted yet
		s, a, err := l.SpawnAdopted(ctx(t), wire.Spawn{ID: "a", Shim: true})
		result <- started{s, a, err}
	}()
	f.send(conn, &wire.Spawned{Req: f.nextRequest(conn, wire.KindSpawn), PID: 7})
	if got := receive(t, result, "answer"); got.err != nil || got.a != nil {
		t.Errorf("with a shim: %+v", got)
	}
}

// TestList_Abandoned checks that a list which its caller abandons in the middle blocks nothing.
func TestList_Abandoned(t *testing.T) {
	l, c, f := connect(t, nil)
	short, cancel := context.WithCancel(ctx(t))
	result := make(chan error, 1)
	go func() {
		_, err := l.List(short)
		result <- err
	}()
	req := f.nextRequest(c, wire.KindList)
	f.send(c, &wire.Session{Req: req, ID: "a"})
	cancel()
	receive(t, result, "end")
	for range 100 {
		f.send(c, &wire.Session{Req: req, ID: "b"})
	}
	f.send(c, &wire.Done{Req: req})
	go func() {
		_, err := l.Status(ctx(t))
		result <- err
	}()
	f.send(c, &wire.StatusReply{Req: f.nextRequest(c, wire.KindStatus)})
	if err := receive(t, result, "answer"); err != nil {
		t.Error(err)
	}
}

// TestConcurrentCallers checks that answers reach their callers in any order.
//
// FEATURES: R93
func TestConcurrentCallers(t *testing.T) {
	const callers, each = 16, 20
	l, c, f := connect(t, nil)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for j := range each {
				id := fmt.Sprintf("%d.%d", i, j)
				a, err := l.Adopt(ctx(t), id)
				if err != nil || a.ID != id {
					t.Errorf("%s: %+v, %v", id, a, err)
					return
				}
				a.Close()
			}
		})
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for range each { // all callers send first, then all are answered, the last one first
		asked := make([]wire.Adopt, callers)
		for i := range asked {
			frame, _, err := c.Read()
			if err != nil || wire.Decode(frame.Payload, &asked[i]) != nil {
				t.Fatalf("%+v, %v", asked[i], err)
			}
		}
		for _, m := range slices.Backward(asked) {
			f.send(c, &wire.Session{Req: m.Req, ID: m.ID}, null)
		}
	}
	wg.Wait()
}

// TestErrorsOfAnswers checks that answers become distinguishable errors.
func TestErrorsOfAnswers(t *testing.T) {
	for code, want := range map[string]error{
		wire.CodeNotFound: ErrNotFound, wire.CodeExists: ErrExists, wire.CodeBusy: ErrBusy,
		wire.CodeCrashLoop: ErrCrashLoop, wire.CodeNoCgroup: ErrNoCgroup, "": nil, "of a later keeper": nil,
	} {
		err := doneError(&wire.Done{Error: "why", Code: code})
		if want != nil && !errors.Is(err, want) || !strings.Contains(fmt.Sprint(err), "why") {
			t.Errorf("%q: %v", code, err)
		}
		for other := range errorOfCode {
			if errorOfCode[other] != want && errors.Is(err, errorOfCode[other]) {
				t.Errorf("%q matches %v", code, errorOfCode[other])
			}
		}
	}
	if err := doneError(&wire.Done{Code: wire.CodeBusy}); err != nil {
		t.Errorf("no error: %v", err)
	}
	l, c, f := connect(t, nil)
	for _, m := range []struct {
		reply wire.Spawned
		errno syscall.Errno
		is    error
	}{
		{wire.Spawned{Error: "fork: no", Errno: int64(syscall.EAGAIN)}, syscall.EAGAIN, syscall.EAGAIN},
		{wire.Spawned{Error: "id is needed"}, 0, nil},
		{wire.Spawned{Error: "no memory controller", Code: wire.CodeNoCgroup}, 0, ErrNoCgroup},
	} {
		result := make(chan error, 1)
		go func() {
			_, err := l.Spawn(ctx(t), wire.Spawn{Path: "/p", Dir: "/d"})
			result <- err
		}()
		m.reply.Req = f.nextRequest(c, wire.KindSpawn)
		f.send(c, &m.reply)
		err := receive(t, result, "answer")
		if m.is != nil && !errors.Is(err, m.is) {
			t.Errorf("%+v: %v", m.reply, err)
		}
		var spawn *SpawnError
		if errors.As(err, &spawn) != (m.reply.Code == "") {
			t.Errorf("%+v: %T", m.reply, err)
		} else if spawn != nil && (spawn.Errno != m.errno || err.Error() != "cannot start /p in /d: "+m.reply.Error) {
			t.Errorf("%+v: %v", spawn, err)
		}
	}
}

// noticeRecorder is a Notices that records notices.
type noticeRecorder struct{ notices chan string }

func (n noticeRecorder) Output(id string) { n.notices <- "output " + id }
func (n noticeRecorder) Exited(m *wire.Exited) {
	n.notices <- fmt.Sprint("exited ", m.ID, " ", m.Code, " ", m.Head)
}
func (n noticeRecorder) Closed(m *wire.Closed) { n.notices <- fmt.Sprint("closed ", m.ID, " ", m.Head) }

// TestNoticesInOrder checks that notices arrive in order, also between answers, and that frames of unknown kinds are
// skipped, with their descriptors.
func TestNoticesInOrder(t *testing.T) {
	n := noticeRecorder{make(chan string, 16)}
	l, c, f := connect(t, n)
	result := make(chan error, 1)
	go func() {
		_, err := l.Status(ctx(t))
		result <- err
	}()
	req := f.nextRequest(c, wire.KindStatus)
	f.send(c, &wire.Output{ID: "a"})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	later := binary.LittleEndian.AppendUint16([]byte{0, 0, 0, 0}, 0x7fff)
	if err := c.WriteFrame(append(later, 1, 0), w); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	f.send(c, &wire.Exited{ID: "a", Code: 3, Head: 9})
	f.send(c, &wire.StatusReply{Req: req})
	f.send(c, &wire.Closed{ID: "a", Head: 9})
	for _, want := range []string{"output a", "exited a 3 9", "closed a 9"} {
		if got := receive(t, n.notices, want); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if err := receive(t, result, "answer"); err != nil {
		t.Error(err)
	}
	awaitClosed(t, r)
}

// TestGarbage_EndsConnection checks that an unreadable message of any kind ends the connection.
func TestGarbage_EndsConnection(t *testing.T) {
	for name, b := range map[string][]byte{
		"a notice":          {1, 0, 0, 0, byte(wire.KindOutput), 0, 0, 0, 1},
		"an answer":         {1, 0, 0, 0, byte(wire.KindDone), 0, 0, 0, 1},
		"a long integer":    {7, 0, 0, 0, byte(wire.KindDone), 0, 0, 0, 1, 0, 1, 0, 0, 0, 5},
		"too much":          {0, 0, 0, 0xff, byte(wire.KindDone), 0, 0, 0},
		"files that missed": {0, 0, 0, 0, byte(wire.KindSession), 0, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l, c, f := connect(t, noticeRecorder{make(chan string, 1)})
			result := make(chan error, 1)
			go func() {
				_, err := l.Status(ctx(t))
				result <- err
			}()
			f.nextRequest(c, wire.KindStatus)
			sendRaw(b...)(f, c)
			if err := receive(t, result, "end"); !errors.Is(err, ErrLost) {
				t.Errorf("%v", err)
			}
			receive(t, l.Closed(), "end of the connection")
		})
	}
}

// TestAdopt_Descriptors checks that Adopt returns ring and terminal, the ring alone, or an error without descriptors.
func TestAdopt_Descriptors(t *testing.T) {
	l, c, f := connect(t, nil)
	ring, err := os.CreateTemp(t.TempDir(), "ring")
	if err != nil {
		t.Fatal(err)
	}
	defer ring.Close()
	pty, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer pty.Close()
	type adopted struct {
		*Adopted
		err error
	}
	for n, files := range [][]*os.File{nil, {ring}, {ring, pty}} {
		result := make(chan adopted, 1)
		go func() {
			a, err := l.Adopt(ctx(t), "a")
			result <- adopted{a, err}
		}()
		f.send(c, &wire.Session{Req: f.nextRequest(c, wire.KindAdopt), ID: "a"}, files...)
		got := receive(t, result, "answer")
		if (got.err == nil) != (n > 0) || n == 0 && !errors.Is(got.err, wire.ErrDescriptors) {
			t.Errorf("%d files: %v", n, got.err)
		}
		if got.err != nil {
			continue
		}
		if (got.PTY != nil) != (n > 1) {
			t.Errorf("%d files: terminal %v", n, got.PTY)
		}
		if st, err := got.Ring.Stat(); err != nil || !st.Mode().IsRegular() {
			t.Errorf("ring %v, %v", st, err)
		}
		if got.PTY != nil {
			if st, err := got.PTY.Stat(); err != nil || st.Mode().IsRegular() {
				t.Errorf("terminal %v, %v", st, err)
			}
		}
		got.Close()
	}
}

// TestMessageWithoutAnswer checks that a message without an answer is sent as its own kind.
func TestMessageWithoutAnswer(t *testing.T) {
	l, c, _ := connect(t, nil)
	for _, m := range []struct {
		kind wire.Kind
		tell func() error
	}{
		{wire.KindResume, func() error { return l.Resume("a") }},
		{wire.KindReady, func() error { return l.Ready("/s") }},
		{wire.KindLeave, func() error { return l.Leave(true) }},
	} {
		if err := m.tell(); err != nil {
			t.Fatal(err)
		}
		if f, _, err := c.Read(); err != nil || f.Kind != m.kind || len(f.Payload) == 0 {
			t.Errorf("%+v, %v; want kind %d", f, err, m.kind)
		}
	}
}

// TestNotices_WithoutReceiver checks that a tool without notices ignores one: an adopted session that ended sends it.
//
// FEATURES: R93
func TestNotices_WithoutReceiver(t *testing.T) {
	l, c, f := connect(t, nil)
	f.send(c, &wire.Output{ID: "a"})
	f.send(c, &wire.Exited{ID: "a"})
	f.send(c, &wire.Closed{ID: "a"})
	result := make(chan error, 1)
	go func() {
		_, err := l.Status(ctx(t))
		result <- err
	}()
	f.send(c, &wire.StatusReply{Req: f.nextRequest(c, wire.KindStatus)})
	if err := receive(t, result, "answer"); err != nil {
		t.Error(err)
	}
}

// TestList_WithDescriptors checks that a broken keeper's list with descriptors leaks none of them.
func TestList_WithDescriptors(t *testing.T) {
	l, c, f := connect(t, nil)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		_, err := l.List(ctx(t))
		result <- err
	}()
	req := f.nextRequest(c, wire.KindList)
	f.send(c, &wire.Session{Req: req, ID: "a"}, w)
	_ = w.Close()
	f.send(c, &wire.Done{Req: req})
	if err := receive(t, result, "answer"); err != nil {
		t.Error(err)
	}
	awaitClosed(t, r)
}

// awaitClosed waits until the writing end of a pipe is closed everywhere.
func awaitClosed(t *testing.T, r *os.File) {
	t.Helper()
	defer r.Close()
	if err := r.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); err != nil {
		t.Errorf("a received descriptor is still open: %v", err)
	}
}
