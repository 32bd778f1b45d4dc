//go:build unix

package keeper

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/ring"
)

// onPipes returns a spawn of sh on three pipes.
func onPipes(id, script string) wire.Spawn {
	m := sh(id, script)
	m.Pipe, m.Separate = true, true
	return m
}

// streamReader reads output up to an offset, by stream.
type streamReader struct {
	off      uint64
	merged   bytes.Buffer
	byStream [2]bytes.Buffer
}

// take reads output up to an offset.
func (st *streamReader) take(t *testing.T, l *link.Link, n notices, s session, until uint64) {
	t.Helper()
	for st.off < until {
		s.ring.ArmNotice()
		for p := s.ring.BytesAt(st.off, 1<<20); len(p) > 0; p = s.ring.BytesAt(st.off, 1<<20) {
			runs, ok := s.ring.Runs(nil, st.off, st.off+uint64(len(p)))
			if !ok {
				t.Fatalf("streams of the bytes at %d unknown", st.off)
			}
			st.merged.Write(p)
			for _, r := range runs {
				st.byStream[r.Stream].Write(p[:r.Bytes])
				p = p[r.Bytes:]
				st.off += uint64(r.Bytes)
			}
			if s.ring.Ack(st.off) {
				if err := l.Resume(s.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		if st.off < until {
			receive(t, n.output, "notice")
		}
	}
}

// FEATURES: R2, R4
func TestStreams_Separate(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	if _, err := l.Spawn(ctx(t), onPipes("a", "test -t 1 && echo tty; echo out; echo err >&2; kill -TERM $$")); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	if !s.Pipe || !s.Separate || s.Input {
		t.Errorf("%+v", s.Session)
	}
	ex := receive(t, n.exited, "exit")
	var st streamReader
	st.take(t, l, n, s, ex.Head)
	if st.byStream[ring.Stdout].String() != "out\n" || st.byStream[ring.Stderr].String() != "err\n" || ex.Signal != int64(syscall.SIGTERM) {
		t.Errorf("%q and %q, exit %+v", &st.byStream[0], &st.byStream[1], ex)
	}
	if cl := receive(t, n.closed, "close"); cl.Head != ex.Head {
		t.Errorf("closed at %d, exited at %d", cl.Head, ex.Head)
	}
}

// TestFullLog_BlocksChild checks a child that changes streams with every line, which fills the log long before the ring.
// Both streams are blocked then, and nothing is lost (K3).
//
// FEATURES: R4, R90
func TestFullLog_BlocksChild(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	const lines = 5000
	script := fmt.Sprintf("i=0; while [ $i -lt %d ]; do echo o$i; echo e$i >&2; i=$((i+1)); done", lines)
	if _, err := l.Spawn(ctx(t), onPipes("a", script)); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	var want [2]strings.Builder
	for i := range lines {
		fmt.Fprintf(&want[0], "o%d\n", i)
		fmt.Fprintf(&want[1], "e%d\n", i)
	}
	var st streamReader
	st.take(t, l, n, s, uint64(want[0].Len()+want[1].Len()))
	for i := range want {
		if st.byStream[i].String() != want[i].String() {
			t.Errorf("stream %d: lost, repeated or out of order", i)
		}
	}
}

// TestArrivalOrder checks that output arrives in the order in which it was written: the child waits until each line was
// read.
//
// FEATURES: R4
func TestArrivalOrder(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	m := onPipes("a", "for i in 1 2 3; do echo o; read x; echo e >&2; read x; done")
	m.Input = true
	if _, err := l.Spawn(ctx(t), m); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	var st streamReader
	for i := range 6 {
		st.take(t, l, n, s, uint64(2*i+2))
		if _, err := s.pty.WriteString("\n"); err != nil {
			t.Fatal(err)
		}
	}
	if got := st.merged.String(); got != "o\ne\no\ne\no\ne\n" {
		t.Errorf("%q", got)
	}
}

// TestEndOfStreams checks that the output ends only when both pipes are closed, and that the exit does not wait for that,
// nor for a descendant that holds one of them.
//
// FEATURES: R4, R14
func TestEndOfStreams(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"stderr closed early", "exec 2>&-; echo out; read x; echo late"},
		{"stdout closed early", "echo out; exec 1>&-; read x; echo late >&2"},
		{"both closed early", "echo out; echo late >&2; exec 1>&- 2>&-; read x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			socket, _ := start(t)
			l, n := dial(t, socket, wire.RoleDaemon)
			m := onPipes("a", c.script)
			m.Input = true
			if _, err := l.Spawn(ctx(t), m); err != nil {
				t.Fatal(err)
			}
			s := adopt(t, l, "a")
			var st streamReader
			st.take(t, l, n, s, 4)
			if err := l.CloseInput(ctx(t), "a"); err != nil {
				t.Fatal(err)
			}
			_ = s.pty.Close()
			ex := receive(t, n.exited, "exit")
			st.take(t, l, n, s, ex.Head)
			if cl := receive(t, n.closed, "close"); st.merged.String() != "out\nlate\n" || cl.Head != ex.Head {
				t.Errorf("%q, closed %+v, exit %+v", &st.merged, cl, ex)
			}
		})
	}
	t.Run("held open", func(t *testing.T) {
		socket, _ := start(t)
		l, n := dial(t, socket, wire.RoleDaemon)
		m := onPipes("a", "(read x; echo late >&2) <&3 3<&- >&- & echo out")
		m.Input = true
		m.Argv[2] = "exec 3<&0; " + m.Argv[2]
		if _, err := l.Spawn(ctx(t), m); err != nil {
			t.Fatal(err)
		}
		s := adopt(t, l, "a")
		ex := receive(t, n.exited, "exit")
		var st streamReader
		st.take(t, l, n, s, ex.Head)
		if st.merged.String() != "out\n" {
			t.Errorf("%q at the exit", &st.merged)
		}
		if _, err := s.pty.WriteString("go\n"); err != nil {
			t.Fatal(err)
		}
		cl := receive(t, n.closed, "close")
		st.take(t, l, n, s, cl.Head)
		if st.byStream[ring.Stderr].String() != "late\n" {
			t.Errorf("%q at the end", &st.byStream[ring.Stderr])
		}
	})
}

// FEATURES: R4
func TestInputOnPipes(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	m := onPipes("a", "cat; echo end")
	m.Input = true
	if _, err := l.Spawn(ctx(t), m); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	if !s.Input {
		t.Fatal("no input")
	}
	written := make(chan error, 1)
	go func() {
		_, err := io.Copy(s.pty, strings.NewReader(strings.Repeat("0123456789", 100_000)))
		written <- err
	}()
	var st streamReader
	st.take(t, l, n, s, 1_000_000)
	if err := receive(t, written, "end of writing"); err != nil {
		t.Fatal(err)
	}
	_ = s.pty.Close()
	if err := l.CloseInput(ctx(t), "a"); err != nil {
		t.Fatal(err)
	}
	ex := receive(t, n.exited, "exit")
	st.take(t, l, n, s, ex.Head)
	if !strings.HasSuffix(st.merged.String(), "89end\n") || st.merged.Len() != 1_000_004 {
		t.Errorf("%d bytes", st.merged.Len())
	}
	if err := l.CloseInput(ctx(t), "a"); err != nil {
		t.Errorf("second close: %v", err)
	}
	if err := l.CloseInput(ctx(t), "none"); err == nil {
		t.Error("closed the input of an unknown session")
	}
}

// TestInput_ClosedByChild checks that a child which closes its input causes only a write error.
//
// FEATURES: R4
func TestInput_ClosedByChild(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	m := onPipes("a", "exec 0<&-; echo closed; sleep 60")
	m.Input = true
	if _, err := l.Spawn(ctx(t), m); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	var st streamReader
	st.take(t, l, n, s, 7)
	if _, err := s.pty.WriteString("x"); err == nil || !strings.Contains(err.Error(), syscall.EPIPE.Error()) {
		t.Errorf("write: %v", err)
	}
	if err := l.Signal(ctx(t), "a", syscall.SIGKILL, wire.ScopeAll); err != nil {
		t.Fatal(err)
	}
	receive(t, n.exited, "exit")
}

// noPTYEnv makes a test's keeper have no free terminal.
const noPTYEnv = keeperEnv + "_NOPTY"

// noPTY is an OpenPTY without terminals.
func noPTY() (master, slave *os.File, err error) { return nil, nil, syscall.ENXIO }

// FEATURES: R3
func TestSpawn_WithoutTerminal(t *testing.T) {
	socket, _ := start(t, noPTYEnv+"=1")
	l, n := dial(t, socket, wire.RoleDaemon)
	_, err := l.Spawn(ctx(t), sh("a", "true"))
	if e, ok := err.(*link.SpawnError); !ok || e.Errno != syscall.ENXIO {
		t.Fatalf("without a terminal: %v", err)
	}
	if _, err := l.Spawn(ctx(t), onPipes("a", "exit 3")); err != nil {
		t.Fatal(err)
	}
	if ex := receive(t, n.exited, "exit"); ex.Code != 3 {
		t.Errorf("exit %+v", ex)
	}
}

// TestPipeOrder checks that if both pipes were written before the keeper reads, the earlier output is first. A write
// between poll and read can be missed, so only most must be right.
//
// FEATURES: R4
func TestPipeOrder(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	right := 0
	const rounds = 20
	for i := range rounds {
		id, script, want := fmt.Sprint("s", i), "echo e >&2; echo o", "e\no\n"
		if i%2 == 0 {
			script, want = "echo o; echo e >&2", "o\ne\n"
		}
		if _, err := l.Spawn(ctx(t), onPipes(id, script)); err != nil {
			t.Fatal(err)
		}
		s := adopt(t, l, id)
		var st streamReader
		st.take(t, l, n, s, 4)
		if st.merged.String() == want {
			right++
		}
		receive(t, n.exited, "exit")
		receive(t, n.closed, "close")
	}
	if right <= rounds*3/4 {
		t.Errorf("%d of %d in order", right, rounds)
	}
}
