//go:build unix

package attachclient

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session/attach"
)

// TestRejectedKeys_BlockLaterOnes_UntilConnected checks that no later keys are typed after keys that were rejected for
// lack of space, until there is a connection.
//
// FEATURES: R7
func TestRejectedKeys_BlockLaterOnes_UntilConnected(t *testing.T) {
	at := newDaemon(t).attached("")
	at.Host = "far"
	at.startSession("")
	for _, read := range []string{"begin", strings.Repeat("x", maxQueued), "end"} {
		at.queuedReads++
		if err := at.keep([]byte(read), maxQueued); err != nil {
			t.Fatal(err)
		}
	}
	if string(at.out.queued) != "begin" || !at.out.rejecting || at.queuedReads != 0 {
		t.Errorf("kept %q, rejected %v, %d unacknowledged", at.out.queued, at.out.rejecting, at.queuedReads)
	}
	at.out.note([]byte("before"))
	if n := at.reconnector.unsent(&at.mu); n != len("begin")+maxQueued+len("end") {
		t.Errorf("with a connection %d bytes are not sent", n)
	}
	at.reconnector.markLost(&at.mu)
	if n := at.reconnector.unsent(&at.mu); n != len("before")+len("begin")+maxQueued+len("end") {
		t.Errorf("%d bytes are not sent", n)
	}
	at.out.unacked = nil
	at.out.queued = nil
	if err := at.out.resend(nil); err != nil || at.out.rejecting {
		t.Errorf("%v, refused %v", err, at.out.rejecting)
	}
	if err := at.keep([]byte("one\x1cntwo\x1cdthree"), maxQueued); !errors.Is(err, errDetached) || string(at.out.queued) != "one" {
		t.Errorf("%v, kept %q", err, at.out.queued)
	}
}

// attachedFar serves the daemon as that of a remote host, to a client that has its first drawing.
func (d *daemon) attachedFar(t *testing.T, patience time.Duration) (at *attachment, drawn <-chan string, ended chan error) {
	t.Helper()
	d.serve()
	at = d.attached("a")
	at.Host = "far"
	at.startSession("")
	at.reconnector.silenceLimit = patience
	drawn = person(t, at)
	st, err := at.join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	go func() { ended <- at.run(t.Context(), st) }()
	drawnUntil(t, drawn, "hello")
	return at, drawn, ended
}

// TestDetachWhileNothingArrives checks that typed keys wait while no output arrives, and the detach key works. They are
// typed once output arrives.
//
// FEATURES: R7
func TestDetachWhileNothingArrives(t *testing.T) {
	d := newDaemon(t, running("a"))
	typed, arrives := make(chan string, 1000), make(chan struct{})
	d.converse = func(ws *websocket.Conn, _ *http.Request) {
		say(ws, "hello", attach.Info{State: "running"})
		go func() {
			<-arrives
			say(ws, "arrived", attach.Info{State: "running", Accepted: maxUnackedRemote})
		}()
		for {
			kind, b, err := ws.ReadMessage()
			if err != nil {
				return
			}
			if kind == websocket.BinaryMessage {
				typed <- string(b)
			}
		}
	}
	at, _, ended := d.attachedFar(t, answerTime)
	read := func(b string) {
		if !at.typeAtOnce([]byte(b)) {
			at.keys <- []byte(b)
		}
	}
	fill := func() {
		for range maxUnackedRemote {
			read("x")
		}
		for range maxUnackedRemote {
			<-typed
		}
	}
	fill()
	read("one")
	read("two")
	close(arrives)
	if got := <-typed; got != "onetwo" {
		t.Errorf("typed %q", got)
	}
	for range maxUnackedRemote {
		read("y")
	}
	read("three\x1cd")
	if err := <-ended; !errors.Is(err, errDetached) {
		t.Errorf("left with %v", err)
	}
}

// TestUnresponsiveHost_Reported checks that the user is notified when input gets no answer on an open connection. When
// it is answered the screen is redrawn; a user who detaches before learns what may not have arrived.
//
// FEATURES: R7, R113
func TestUnresponsiveHost_Reported(t *testing.T) {
	d := newDaemon(t, running("a"))
	typed, arrives := make(chan string, 10), make(chan struct{})
	var begun atomic.Int32
	d.converse = func(ws *websocket.Conn, _ *http.Request) {
		if begun.Add(1) == 1 {
			say(ws, "hello", attach.Info{State: "running"})
			go func() {
				<-arrives
				say(ws, "arrived", attach.Info{State: "running", Accepted: 1})
			}()
		} else {
			say(ws, "drawn anew", attach.Info{State: "running", Accepted: 1})
		}
		for {
			kind, b, err := ws.ReadMessage()
			if err != nil {
				return
			}
			if kind == websocket.BinaryMessage {
				typed <- string(b)
			}
		}
	}
	at, drawn, ended := d.attachedFar(t, 30*time.Millisecond)
	at.keys <- []byte("x")
	drawnUntil(t, drawn, " s; what is typed waits")
	close(arrives)
	drawnUntil(t, drawn, "drawn anew")
	at.keys <- []byte("abc")
	at.keys <- []byte("\x1cd")
	if err := <-ended; !errors.Is(err, errDetached) {
		t.Errorf("left with %v", err)
	}
	if n := at.reconnector.unsent(&at.mu); n != 3 {
		t.Errorf("%d bytes are reported as not sent", n)
	}
	if a, b := <-typed, <-typed; a != "x" || b != "abc" {
		t.Errorf("typed %q, %q", a, b)
	}
}

// TestNothingAheadAtTheEnd checks that nothing is drawn early once the terminal is about to be restored.
//
// FEATURES: R94
func TestNothingAheadAtTheEnd(t *testing.T) {
	var none *localEcho
	none.end()
	at := newDaemon(t).attached("")
	drawn := person(t, at)
	a := newLocalEcho(at.t, true)
	if err := a.show([]byte("$ ")); err != nil {
		t.Fatal(err)
	}
	echo := func(text string) {
		if err := a.show([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	a.predict([]byte("a"), 1)
	echo("a")
	a.predict([]byte("b"), 2)
	drawnUntil(t, drawn, "\x1b[4mb")
	echo("b")
	a.acknowledge(2)
	a.end()
	a.end()
	a.predict([]byte("c"), 3)
	echo("c")
	a.predict([]byte("d"), 4)
	if err := at.t.Draw([]byte("given back")); err != nil {
		t.Fatal(err)
	}
	if rest := drawnUntil(t, drawn, "given back"); strings.Contains(rest, "\x1b[4m") {
		t.Errorf("drawn after the end: %q", rest)
	}
}
