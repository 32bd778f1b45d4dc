//go:build unix

package attachclient

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// keyed is a session whose daemons are killed, each at another point. Its ring and the typed input outlive them, as in
// the keeper and the kernel.
type keyed struct {
	t    *testing.T
	file *os.File
	all  int // messages

	mu     sync.Mutex
	points []string // of the later daemons; those after them live
	keys   map[string]bool
	typed  []byte
	whole  chan struct{}
}

// killed is the end of a daemon.
type killed struct{}

// deviceAt is the terminal of a daemon that is killed at a point.
type deviceAt struct {
	k     *keyed
	point string
}

// TypePiece implements ring.Device: out of a file as the kernel does it.
func (d deviceAt) TypePiece(f *os.File, p []byte, _ bool) (int, error) {
	if d.point == "before it is typed" {
		panic(killed{})
	}
	if f != nil {
		at, err := f.Seek(int64(len(p)), io.SeekCurrent)
		if err != nil {
			return 0, err
		}
		b := make([]byte, len(p))
		if _, err := f.ReadAt(b, at-int64(len(p))); err != nil {
			return 0, err
		}
		p = b
	}
	d.k.typed = append(d.k.typed, p...)
	if d.point == "after it is typed" {
		panic(killed{})
	}
	return len(p), nil
}

// converse is a daemon's end of a stream, until it is killed.
func (k *keyed) converse(ws *websocket.Conn, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock() // one daemon at a time
	defer func() {
		if p := recover(); p != nil && p != (killed{}) {
			panic(p)
		}
	}()
	point := ""
	if len(k.points) > 0 {
		point, k.points = k.points[0], k.points[1:]
	}
	q := r.URL.Query()
	k.keys[q.Get("resume")] = true
	n, _ := strconv.ParseUint(q.Get("typed"), 10, 64)
	memory, err := ring.Map(k.file)
	if err != nil {
		k.t.Error(err)
		return
	}
	defer memory.Close()
	if err := memory.AdoptFile(dup(k.t, k.file)); err != nil {
		k.t.Error(err)
	}
	in := memory.Inputs()
	defer in.Close()
	say(ws, "here", attach.Info{State: "running", Accepted: n})
	if point == "before it is read" {
		return
	}
	for {
		kind, b, err := ws.ReadMessage()
		if err != nil {
			return
		}
		if kind != websocket.BinaryMessage {
			continue
		}
		dies := ""
		next, part, _ := in.Next(1)
		if n >= next { // else it was typed
			if n >= 2 {
				dies = point
			}
			if dies == "after it is read" {
				return
			}
			if _, err := in.StartInput(1, n, part, uint64(len(b))).Type(deviceAt{k, dies}, b[part:], true); err != nil {
				k.t.Error(err)
			}
		}
		if n++; dies == "before it is told" {
			return
		}
		say(ws, "", attach.Info{State: "running", Accepted: n})
		if dies == "after it is told" {
			return
		}
		if n == uint64(k.all) {
			close(k.whole)
		}
	}
}

func dup(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), f.Name())
}

// TestTypedOnceOverKills checks that input reaches the session once and in order, wherever its daemon and the next one
// are killed.
//
// FAULT: A23
// FEATURES: R5, R7, R90
func TestTypedOnceOverKills(t *testing.T) {
	tier.Full(t)
	points := []string{
		"", "before it is read", "after it is read", "before it is typed", "after it is typed", "before it is told", "after it is told",
	}
	for _, first := range points {
		for _, second := range points {
			for _, third := range []string{"", "after it is read", "after it is typed"} {
				testTypedOnce(t, first, second, third)
			}
		}
	}
}

func testTypedOnce(t *testing.T, points ...string) {
	t.Helper()
	memory, f, err := ring.Create(ring.MinSize)
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	defer f.Close()
	const keys = 8
	k := &keyed{t: t, file: f, all: keys, points: points, keys: map[string]bool{}, whole: make(chan struct{})}
	d := newDaemon(t, running("a"))
	d.converse = k.converse
	d.serve()
	at := d.attached("a")
	at.startSession("")
	drawn := person(t, at)
	st, err := at.join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- at.run(t.Context(), st) }()
	drawnUntil(t, drawn, "here")
	want := ""
	for i := range keys {
		key := fmt.Sprintf("<%d>", i)
		if want += key; !at.typeAtOnce([]byte(key)) {
			at.keys <- []byte(key)
		}
	}
	select {
	case <-k.whole:
	case <-t.Context().Done():
	}
	close(at.keys) // the terminal is closed
	<-ended
	k.mu.Lock()
	defer k.mu.Unlock()
	if string(k.typed) != want || len(k.keys) != 1 {
		t.Errorf("killed %s: typed %q by %d clients", strings.Join(points, ", then "), k.typed, len(k.keys))
	}
}

// TestOutboxIsBounded checks that a daemon that never acknowledges does not block typing, and that with one that does
// no more input is unacknowledged than it can recognise.
func TestOutboxIsBounded(t *testing.T) {
	var mu sync.Mutex
	o := newOutbox("", "a-key")
	for n := range uint64(2 * maxUnackedLocal) {
		if got := o.note([]byte("x")); got != n+1 || o.mustWait() {
			t.Fatalf("message %d has number %d, waits: %v", n, got, o.mustWait())
		}
	}
	if o.resumeAt.Key != "a-key" || o.resumeAt.Acknowledged != maxUnackedLocal || len(o.unacked) != maxUnackedLocal {
		t.Errorf("%+v, %d on their way", o.resumeAt, len(o.unacked))
	}
	o.acknowledge(&mu, 2*maxUnackedLocal-1)
	for range maxUnackedLocal - 1 {
		o.note([]byte("x"))
	}
	if !o.mustWait() || len(o.unacked) != maxUnackedLocal {
		t.Errorf("%d on their way, waits: %v", len(o.unacked), o.mustWait())
	}
}
