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

// Keys that were refused for want of room are not followed by later ones, until there is a connection.
//
// FEATURES: R7
func TestKeptInOrder(t *testing.T) {
	at := newDaemon(t).attached("")
	at.Host = "far"
	at.begins("")
	for _, read := range []string{"begin", strings.Repeat("x", maxKept), "end"} {
		at.passing++
		if err := at.keep([]byte(read), maxKept); err != nil {
			t.Fatal(err)
		}
	}
	if string(at.out.kept) != "begin" || !at.out.refused || at.passing != 0 {
		t.Errorf("kept %q, refused %v, %d on their way", at.out.kept, at.out.refused, at.passing)
	}
	at.out.note([]byte("before"))
	if n := at.far.unsent(&at.mu); n != len("begin")+maxKept+len("end") {
		t.Errorf("with a connection %d bytes are not sent", n)
	}
	at.far.gone(&at.mu)
	if n := at.far.unsent(&at.mu); n != len("before")+len("begin")+maxKept+len("end") {
		t.Errorf("%d bytes are not sent", n)
	}
	at.out.typed = nil
	at.out.kept = nil
	if err := at.out.again(nil); err != nil || at.out.refused {
		t.Errorf("%v, refused %v", err, at.out.refused)
	}
	if err := at.keep([]byte("one\x1cntwo\x1cdthree"), maxKept); !errors.Is(err, errDetached) || string(at.out.kept) != "one" {
		t.Errorf("%v, kept %q", err, at.out.kept)
	}
}

// attachedFar serves the daemon as one of another host, to a client whose first drawing is there.
func (d *daemon) attachedFar(t *testing.T, patience time.Duration) (at *attachment, drawn <-chan string, ended chan error) {
	t.Helper()
	d.serve()
	at = d.attached("a")
	at.Host = "far"
	at.begins("")
	at.far.patience = patience
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

// Where nothing arrives, what is typed waits and the key that leaves does so; what waited is typed as soon as
// something arrived.
//
// FEATURES: R7
func TestDetachWhileNothingArrives(t *testing.T) {
	d := newDaemon(t, running("a"))
	typed, arrives := make(chan string, 1000), make(chan struct{})
	d.converse = func(ws *websocket.Conn, _ *http.Request) {
		say(ws, "hello", attach.Info{State: "running"})
		go func() {
			<-arrives
			say(ws, "arrived", attach.Info{State: "running", Taken: maxTyped})
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
		for range maxTyped {
			read("x")
		}
		for range maxTyped {
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
	for range maxTyped {
		read("y")
	}
	read("three\x1cd")
	if err := <-ended; !errors.Is(err, errDetached) {
		t.Errorf("left with %v", err)
	}
}

// Nothing answers what is typed, though there is a connection: the person is told. Once it is answered all is drawn anew, and
// who leaves before that is told what may not have arrived.
//
// FEATURES: R7, R113
func TestSilenceIsTold(t *testing.T) {
	d := newDaemon(t, running("a"))
	typed, arrives := make(chan string, 10), make(chan struct{})
	var begun atomic.Int32
	d.converse = func(ws *websocket.Conn, _ *http.Request) {
		if begun.Add(1) == 1 {
			say(ws, "hello", attach.Info{State: "running"})
			go func() {
				<-arrives
				say(ws, "arrived", attach.Info{State: "running", Taken: 1})
			}()
		} else {
			say(ws, "drawn anew", attach.Info{State: "running", Taken: 1})
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
	if n := at.far.unsent(&at.mu); n != 3 {
		t.Errorf("%d bytes are told as not sent", n)
	}
	if a, b := <-typed, <-typed; a != "x" || b != "abc" {
		t.Errorf("typed %q, %q", a, b)
	}
}

// Once the terminal is about to be given back nothing is drawn ahead any more.
//
// FEATURES: R94
func TestNothingAheadAtTheEnd(t *testing.T) {
	var none *ahead
	none.end()
	at := newDaemon(t).attached("")
	drawn := person(t, at)
	a := newAhead(at.t, true)
	if err := a.show([]byte("$ ")); err != nil {
		t.Fatal(err)
	}
	echo := func(text string) {
		if err := a.show([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	a.typed([]byte("a"), 1)
	echo("a")
	a.typed([]byte("b"), 2)
	drawnUntil(t, drawn, "\x1b[4mb")
	echo("b")
	a.taken(2)
	a.end()
	a.end()
	a.typed([]byte("c"), 3)
	echo("c")
	a.typed([]byte("d"), 4)
	if err := at.t.Draw([]byte("given back")); err != nil {
		t.Fatal(err)
	}
	if rest := drawnUntil(t, drawn, "given back"); strings.Contains(rest, "\x1b[4m") {
		t.Errorf("drawn after the end: %q", rest)
	}
}
