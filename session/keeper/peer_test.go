//go:build unix

package keeper

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// frame returns a frame with all parts set by a test.
func frame(length uint32, kind wire.Kind, files uint16, payload ...byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, length)
	b = binary.LittleEndian.AppendUint16(b, uint16(kind))
	b = binary.LittleEndian.AppendUint16(b, files)
	return append(b, payload...)
}

// helloOf returns an encoded Hello of a role.
func helloOf(role string) []byte {
	return wire.AppendFrame(nil, &wire.Hello{Version: wire.Version, MinVersion: wire.Version, Role: role}, 0)
}

// rawPeer returns a connection that sends arbitrary bytes.
func rawPeer(t *testing.T, socket string) (*os.File, *wire.Conn) {
	t.Helper()
	uc, err := unixsock.Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = uc.Close() })
	if err := uc.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return uc, wire.NewConn(uc)
}

// TestPeers_BreakingProtocol checks that a peer which breaks the protocol loses its connection, and that sessions, other
// peers and the keeper's descriptors are not affected.
//
// FEATURES: R93
func TestPeers_BreakingProtocol(t *testing.T) {
	socket, pid := start(t)
	l, _ := dial(t, socket, wire.RoleDaemon)
	if _, err := l.Spawn(ctx(t), sh("a", "read x")); err != nil {
		t.Fatal(err)
	}
	before := countDescriptors(pid)
	greeted := func(more ...byte) []byte { return append(helloOf(wire.RoleTool), more...) }
	for name, said := range map[string][]byte{
		"nothing":                       nil,
		"half a header":                 {1, 2, 3},
		"rubbish":                       []byte(strings.Repeat("\xa5", 1000)),
		"a TLS hello":                   {0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3},
		"half a hello":                  helloOf(wire.RoleTool)[:20],
		"a payload of 4 GiB":            frame(1<<32-1, wire.KindHello, 0),
		"a payload just over the limit": frame(wire.MaxPayload+1, wire.KindHello, 0),
		"too many descriptors":          frame(0, wire.KindHello, wire.MaxDescriptors+1),
		"descriptors that do not come":  frame(0, wire.KindHello, 1),
		"a request before the hello":    frame(0, wire.KindStatus, 0),
		"a hello with a stray byte":     frame(1, wire.KindHello, 0, 7),
		"a hello with a long integer":   frame(7, wire.KindHello, 0, 1, 0, 1, 0, 0, 0, 9),
		"a field longer than its frame": frame(6, wire.KindHello, 0, 3, 0, 0xff, 0xff, 0xff, 0x7f),
		"rubbish after the hello":       greeted([]byte(strings.Repeat("\xa5", 1000))...),
		"half a request":                greeted(frame(100, wire.KindStatus, 0, 1, 0)...),
		"a request with a stray byte":   greeted(frame(1, wire.KindStatus, 0, 7)...),
		"a request with a long integer": greeted(frame(7, wire.KindAdopt, 0, 1, 0, 1, 0, 0, 0, 9)...),
		"a request of 4 GiB":            greeted(frame(1<<32-1, wire.KindSpawn, 0)...),
		"files promised to a request":   greeted(frame(0, wire.KindUpgrade, 1)...),
	} {
		t.Run(name, func(t *testing.T) {
			uc, _ := rawPeer(t, socket)
			if _, err := uc.Write(said); err != nil {
				t.Fatal(err)
			}
			closeWrite(t, uc)
			if _, err := io.Copy(io.Discard, uc); err != nil && !isReset(err) {
				t.Errorf("the connection continues: %v", err)
			}
			_ = uc.Close()
			if s, err := l.Status(ctx(t)); err != nil || s.Sessions != 1 {
				t.Errorf("other peer: %+v, %v", s, err)
			}
		})
	}
	awaitDescriptors(t, pid, before)
}

// isReset reports whether a connection ended with unread bytes of ours.
func isReset(err error) bool { return strings.Contains(err.Error(), "reset by peer") }

// TestFrames_InPieces checks frames that arrive a byte at a time, or all at once.
func TestFrames_InPieces(t *testing.T) {
	socket, _ := start(t)
	said := append(helloOf(wire.RoleTool), wire.AppendFrame(nil, &wire.Status{Req: 1}, 0)...)
	said = append(said, wire.AppendFrame(nil, &wire.List{Req: 2}, 0)...)
	said = append(said, wire.AppendFrame(nil, &wire.Adopt{Req: 3, ID: "none"}, 0)...)
	for _, size := range []int{1, 2, 3, 7, 8, 9, len(said)} {
		uc, c := rawPeer(t, socket)
		for piece := range slices.Chunk(said, size) {
			if _, err := uc.Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		for _, kind := range []wire.Kind{wire.KindHello, wire.KindStatusReply, wire.KindDone, wire.KindDone} {
			if f, _, err := c.Read(); err != nil || f.Kind != kind {
				t.Errorf("in pieces of %d: kind %d, %v; want %d", size, f.Kind, err, kind)
			}
		}
		_ = uc.Close()
	}
}

// TestAnswers_AfterPeerClosedWrite checks that answers are written before the connection ends, even if the peer has
// closed its writing side.
func TestAnswers_AfterPeerClosedWrite(t *testing.T) {
	socket, _ := start(t)
	uc, c := rawPeer(t, socket)
	said := helloOf(wire.RoleTool)
	const asked = 200
	for i := range asked {
		said = wire.AppendFrame(said, &wire.Status{Req: uint64(i + 1)}, 0)
	}
	if _, err := uc.Write(said); err != nil {
		t.Fatal(err)
	}
	closeWrite(t, uc)
	if f, _, err := c.Read(); err != nil || f.Kind != wire.KindHello {
		t.Fatalf("greeting of kind %d, %v", f.Kind, err)
	}
	for i := range asked {
		f, _, err := c.Read()
		var m wire.StatusReply
		if err != nil || wire.Decode(f.Payload, &m) != nil || m.Req != uint64(i+1) {
			t.Fatalf("answer %d is for request %d, %v", i+1, m.Req, err)
		}
	}
	if _, _, err := c.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("then %v", err)
	}
}

// TestUnwantedDescriptors_Closed checks that descriptors which a message does not need are closed: with the hello, with a
// request, with an unknown kind.
func TestUnwantedDescriptors_Closed(t *testing.T) {
	socket, _ := start(t)
	_, c := rawPeer(t, socket)
	pipes := make([]*os.File, 3)
	send := func(i int, frame []byte) {
		t.Helper()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		pipes[i] = r
		if err := c.WriteFrame(frame, w, w); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
	}
	send(0, wire.AppendFrame(nil, &wire.Hello{Version: wire.Version, MinVersion: wire.Version, Role: wire.RoleTool}, 2))
	send(1, wire.AppendFrame(nil, &wire.Status{Req: 1}, 2))
	send(2, frame(0, 0x7fff, 2))
	for i, r := range pipes {
		if err := r.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(r); err != nil {
			t.Errorf("descriptors of message %d still open: %v", i, err)
		}
		_ = r.Close()
	}
	if f, _, err := c.Read(); err != nil || f.Kind != wire.KindHello {
		t.Errorf("greeting of kind %d, %v", f.Kind, err)
	}
	if f, _, err := c.Read(); err != nil || f.Kind != wire.KindStatusReply {
		t.Errorf("answer of kind %d, %v", f.Kind, err)
	}
}

// TestPeer_NotReading checks that a peer which does not read its answers blocks no other (K4).
//
// FEATURES: R93
func TestPeer_NotReading(t *testing.T) {
	socket, pid := start(t)
	before := countDescriptors(pid)
	uc, _ := rawPeer(t, socket)
	said := helloOf(wire.RoleDaemon) // notices are sent to it too
	for i := range 5000 {
		said = wire.AppendFrame(said, &wire.Status{Req: uint64(i)}, 0)
	}
	written := make(chan error, 1)
	go func() {
		_, err := uc.Write(said)
		written <- err
	}()
	tool, _ := dial(t, socket, wire.RoleTool)
	for i := range 20 {
		id := fmt.Sprint("s", i)
		if _, err := tool.Spawn(ctx(t), sh(id, "echo x; exit 2")); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "the end of all", func() bool {
		all, err := tool.List(ctx(t))
		return err == nil && len(all) == 20 && !slices.ContainsFunc(all, func(s *wire.Session) bool { return !s.Exited })
	})
	_ = uc.Close()
	<-written
	for i := range 20 {
		if err := tool.Release(ctx(t), fmt.Sprint("s", i)); err != nil {
			t.Fatal(err)
		}
	}
	_ = tool.Close()
	awaitDescriptors(t, pid, before)
}

// TestNotices_GoToNewestDaemon checks that the newest daemon gets the notices and an older one loses its connection.
// Tools get none, and take none from the daemon.
//
// FEATURES: R90
func TestNotices_GoToNewestDaemon(t *testing.T) {
	socket, _ := start(t)
	first, n1 := dial(t, socket, wire.RoleDaemon)
	if _, err := first.Status(ctx(t)); err != nil { // it counts from its first request at the latest
		t.Fatal(err)
	}
	tool, nt := dial(t, socket, wire.RoleTool)
	second, n2 := dial(t, socket, wire.RoleDaemon)
	receive(t, first.Closed(), "end of the first daemon's connection")
	if _, err := second.Status(ctx(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := tool.Spawn(ctx(t), sh("a", "echo x; exit 4")); err != nil {
		t.Fatal(err)
	}
	if ex := n2.exit(t, "a"); ex.Code != 4 {
		t.Errorf("exit %+v", ex)
	}
	n2.close(t, "a")
	if _, err := tool.Status(ctx(t)); err != nil {
		t.Errorf("the tool: %v", err)
	}
	for name, n := range map[string]notices{"the first daemon": n1, "the tool": nt} {
		if len(n.exited)+len(n.closed)+len(n.output) > 0 {
			t.Errorf("%s got %d exits", name, len(n.exited))
		}
	}
	_ = second.Close()
	third, n3 := dial(t, socket, wire.RoleDaemon)
	adopt(t, third, "a")
	n3.exit(t, "a") // repeated on adoption
	n3.close(t, "a")
}

// TestOutputNotice_SentOncePerRead checks that the keeper sends one notice of output until the daemon has read the ring.
func TestOutputNotice_SentOncePerRead(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	m := sh("a", "i=0; while [ $i -lt 200 ]; do echo line; i=$((i+1)); done; read x; echo more; read x")
	m.Pipe, m.Input = true, true
	if _, err := l.Spawn(ctx(t), m); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	await(t, "200 lines", func() bool { return s.ring.Head() == 1000 })
	if _, err := l.Status(ctx(t)); err != nil { // earlier notices have arrived by now
		t.Fatal(err)
	}
	receive(t, n.output, "notice")
	if len(n.output) > 0 {
		t.Errorf("got %d more notices", len(n.output))
	}
	s.ring.ArmNotice()
	if _, err := s.pty.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	receive(t, n.output, "notice after a look")
}

// TestPeers_Concurrent checks that concurrent requests of many peers are each answered to their sender.
//
// FEATURES: R93
func TestPeers_Concurrent(t *testing.T) {
	socket, pid := start(t)
	before := countDescriptors(pid)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			l, err := link.Dial(socket, wire.RoleTool, "test", nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Close()
			for j := range 5 {
				id := fmt.Sprintf("%d-%d", i, j)
				m := sh(id, "read x")
				m.Pipe, m.Input = true, j%2 == 0
				if _, err := l.Spawn(ctx(t), m); err != nil {
					t.Error(err)
				}
				a, err := l.Adopt(ctx(t), id)
				if err != nil || a.ID != id || a.Input != m.Input || (a.PTY != nil) != m.Input {
					t.Errorf("%s: %+v, %v", id, a, err)
				}
				a.Close()
				if err := l.Release(ctx(t), id); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	awaitDescriptors(t, pid, before)
}

// TestConn_Queue checks that queued messages are written in order, and that messages queued after the end are dropped
// with their descriptors.
func TestConn_Queue(t *testing.T) {
	ours, theirs := socketPair(t)
	c := newConn(ours, os.Getuid(), os.Getpid())
	var writer sync.WaitGroup
	writer.Go(c.writeQueue)
	peer := wire.NewConn(theirs)
	for i := range 100 {
		c.send(&wire.Done{Req: uint64(i)})
	}
	for i := range 100 {
		f, _, err := peer.Read()
		var d wire.Done
		if err != nil || wire.Decode(f.Payload, &d) != nil || d.Req != uint64(i) {
			t.Fatalf("message %d is %+v, %v", i, d, err)
		}
	}
	c.send(&wire.Done{Req: 1000})
	close(c.readEnded) // the last message is written before the end
	if f, _, err := peer.Read(); err != nil || f.Kind != wire.KindDone {
		t.Errorf("last message: kind %d, %v", f.Kind, err)
	}
	if _, _, err := peer.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("then %v", err)
	}
	writer.Wait()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := c.sendFiles(&wire.Session{}, w); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if err := r.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); err != nil {
		t.Errorf("a descriptor queued after the end is still open: %v", err)
	}
	if len(c.queue) != 0 {
		t.Errorf("%d messages left in the queue", len(c.queue))
	}
	if err := c.sendFiles(&wire.Session{}, w); err == nil {
		t.Error("a closed file was queued")
	}
}

// TestConn_Queue_WhenPeerDisconnects checks that a peer which disconnects with a full queue leaves no open descriptors.
func TestConn_Queue_WhenPeerDisconnects(t *testing.T) {
	ours, theirs := socketPair(t)
	c := newConn(ours, os.Getuid(), os.Getpid())
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 50 {
		if err := c.sendFiles(&wire.Session{ID: strings.Repeat("x", 10_000)}, w); err != nil {
			t.Fatal(err)
		}
	}
	_ = w.Close()
	_ = theirs.Close()
	c.writeQueue() // ends by itself
	if err := r.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); err != nil {
		t.Errorf("descriptors still open: %v", err)
	}
}
