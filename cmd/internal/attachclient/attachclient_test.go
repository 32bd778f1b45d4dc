//go:build unix

package attachclient

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// daemon is a fake daemon whose sessions and streams a test scripts.
type daemon struct {
	t    *testing.T
	dirs paths.Dirs

	mu       sync.Mutex
	list     []api.Session
	refuse   *api.Error                                // joining is answered with it
	converse func(ws *websocket.Conn, r *http.Request) // one that was joined
	instead  func(r *http.Request)                     // of an answer
	joins    int
	tell     http.Header // with the answer that opens a conversation
}

func newDaemon(t *testing.T, sessions ...api.Session) *daemon {
	t.Helper()
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	d := &daemon{t: t, dirs: paths.Dirs{Run: dir + "/run", State: dir + "/state", Config: dir}, list: sessions}
	if err := d.dirs.Make(); err != nil {
		t.Fatal(err)
	}
	return d
}

// serve starts to answer.
func (d *daemon) serve() {
	d.t.Helper()
	l, err := netsock.Listen(d.dirs.Socket())
	if err != nil {
		d.t.Fatal(err)
	}
	srv := &http.Server{Handler: d}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	d.t.Cleanup(func() {
		_ = srv.Close()
		<-done
	})
}

func (d *daemon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	list, refuse, converse := d.list, d.refuse, d.converse
	d.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, api.Version+"/sessions")
	w.Header().Set("Content-Type", "application/json")
	if d.instead != nil {
		d.instead(r)
		return
	}
	switch {
	case strings.HasSuffix(path, "/attach") && refuse != nil:
		w.WriteHeader(refuse.GetStatus())
		_ = json.NewEncoder(w).Encode(refuse)
	case strings.HasSuffix(path, "/attach"):
		d.mu.Lock()
		d.joins++
		d.mu.Unlock()
		up := websocket.Upgrader{}
		ws, err := up.Upgrade(w, r, d.tell)
		if err != nil {
			d.t.Error(err)
			return
		}
		defer ws.Close()
		converse(ws, r)
	case path == "":
		_ = json.NewEncoder(w).Encode(list)
	default:
		for _, s := range list {
			if s.Name == path[1:] || s.ID == path[1:] {
				_ = json.NewEncoder(w).Encode(s)
				return
			}
		}
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(api.Errorf(api.CodeNotFound, "no session %q", path))
	}
}

// attached is a client of the daemon that shows a session.
func (d *daemon) attached(name string) *attachment {
	d.t.Helper()
	c := client.New(client.Options{Dirs: d.dirs, Build: func() string { return "test" }})
	d.t.Cleanup(c.Close)
	var chords attach.Chords
	for key, action := range map[string]attach.Action{"C-\\ d": attach.Detach, "C-\\ n": attach.Next, "C-\\ p": attach.Previous} {
		if err := chords.Bind(key, action); err != nil {
			d.t.Fatal(err)
		}
	}
	at := &attachment{Options: Options{Client: c, Stderr: io.Discard, Chords: &chords}, keys: make(chan []byte)}
	at.startSession("")
	if name != "" {
		if err := at.choose(d.t.Context(), c.Session(name)); err != nil {
			d.t.Fatal(err)
		}
	}
	return at
}

func running(id string) api.Session { return api.Session{ID: id, Name: "n-" + id, State: "running"} }

// TestMove checks that the keys for the next and the previous session cycle through the running ones, without the one
// that the client itself runs in. Without another session, or a daemon, the client stays.
//
// FEATURES: R7
func TestMove(t *testing.T) {
	t.Setenv("LONGTERM_SESSION", "self")
	d := newDaemon(t, running("a"), running("self"), api.Session{ID: "over", State: "exited"}, running("b"), running("c"))
	d.serve()
	at := d.attached("a")
	for i, c := range []struct {
		do   attach.Action
		want string
	}{{attach.Next, "b"}, {attach.Next, "c"}, {attach.Next, "a"}, {attach.Previous, "c"}, {attach.Previous, "b"}} {
		if err := at.move(t.Context(), c.do); !errors.Is(err, errSwitched) || at.id != c.want || at.name != "n-"+c.want {
			t.Errorf("step %d: %s, %v; want %s", i, at.id, err, c.want)
		}
	}
	over := d.attached("b")
	over.id = "over" // it has ended: it is in the list, and the cycle continues from it
	if err := over.move(t.Context(), attach.Next); !errors.Is(err, errSwitched) || over.id != "b" {
		t.Errorf("from one that ended: %s, %v", over.id, err)
	}
	gone := d.attached("b")
	gone.id = "gone"
	if err := gone.move(t.Context(), attach.Next); err != nil || gone.id != "gone" {
		t.Errorf("from one that is no more: %s, %v", gone.id, err)
	}
	alone := newDaemon(t, running("a"), running("self"))
	alone.serve()
	if at := alone.attached("a"); at.move(t.Context(), attach.Next) != nil || at.id != "a" {
		t.Errorf("alone: %s", at.id)
	}
	away := newDaemon(t)
	if at := away.attached(""); at.move(t.Context(), attach.Next) != nil {
		t.Error("without a daemon the user is sent away")
	}
}

// TestChoose checks that a missing session is reported before the terminal is changed.
func TestChoose(t *testing.T) {
	d := newDaemon(t, running("a"))
	d.serve()
	at := d.attached("")
	var e *api.Error
	if err := at.choose(t.Context(), at.Client.Session("none")); !errors.As(err, &e) || e.Code != api.CodeNotFound {
		t.Errorf("%v", err)
	}
	if err := at.choose(t.Context(), at.Client.Session("n-a")); err != nil || at.id != "a" || at.name != "n-a" {
		t.Errorf("%s, %v", at.id, err)
	}
}

func TestEndText(t *testing.T) {
	three := 3
	for want, i := range map[string]attach.Info{
		"ended by SIGKILL": {Signal: "SIGKILL", State: "exited"}, "exited with 3": {Code: &three, State: "exited"}, "lost": {State: "lost"},
	} {
		if got := endText(&i); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// person gives an attachment a terminal; its output is sent to the channel.
func person(t *testing.T, at *attachment) (drawn <-chan string) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal: %v", err)
	}
	t.Cleanup(func() { _ = tty.Close(); _ = master.Close() })
	if at.t, err = termio.Open(tty, tty); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { at.t.Restore(false) })
	out := make(chan string, 100)
	go func() {
		defer close(out)
		for buf := make([]byte, 1<<12); ; {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			out <- string(buf[:n])
		}
	}()
	return out
}

// drawnUntil returns the output up to a text.
func drawnUntil(t *testing.T, drawn <-chan string, text string) (all string) {
	t.Helper()
	for !strings.Contains(all, text) {
		select {
		case s, ok := <-drawn:
			if all += s; !ok {
				t.Fatalf("%q was never drawn: %q", text, all)
			}
		case <-t.Context().Done():
			t.Fatalf("%q was never drawn: %q", text, all)
		}
	}
	return all
}

// say sends a message that starts or ends a session's stream.
func say(ws *websocket.Conn, draw string, info attach.Info) {
	b, _ := json.Marshal(info)
	_ = ws.WriteMessage(websocket.TextMessage, b)
	_ = ws.WriteMessage(websocket.BinaryMessage, []byte(draw))
}

func over(ws *websocket.Conn) {
	_ = ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
}

// TestConverse checks that typed text reaches the session and its output the terminal, and that the session's end ends
// the attachment, with the status.
//
// FEATURES: R7
func TestConverse(t *testing.T) {
	d := newDaemon(t, running("a"))
	d.converse = func(ws *websocket.Conn, _ *http.Request) {
		say(ws, "hello\r\n", attach.Info{State: "running"})
		_, typed, err := ws.ReadMessage()
		if err != nil {
			t.Error(err)
		}
		three := 3
		say(ws, "you typed "+string(typed)+".", attach.Info{State: "exited", Ended: true, Code: &three})
		over(ws)
		_, _, _ = ws.ReadMessage()
	}
	d.serve()
	at := d.attached("a")
	drawn := person(t, at)
	st, err := at.join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- at.run(t.Context(), st) }()
	drawnUntil(t, drawn, "hello")
	at.keys <- []byte("ls")
	drawnUntil(t, drawn, "you typed ls.")
	if err := <-ended; err != nil || endText(&at.info) != "exited with 3" {
		t.Errorf("%v, %+v", err, at.info)
	}
}

// TestDetachAndSwitch checks that detaching leaves at once and types nothing, and that another session takes over the
// terminal. Keys typed after the switch key go to it.
//
// FEATURES: R7
func TestDetachAndSwitch(t *testing.T) {
	d := newDaemon(t, running("a"), running("b"))
	typed := make(chan string, 10)
	d.converse = func(ws *websocket.Conn, r *http.Request) {
		name := strings.Split(r.URL.Path, "/")[3]
		say(ws, "this is "+name+".", attach.Info{State: "running"})
		for {
			kind, b, err := ws.ReadMessage()
			if err != nil {
				return
			}
			if kind == websocket.BinaryMessage {
				typed <- name + ":" + string(b)
			}
		}
	}
	d.serve()
	at := d.attached("a")
	drawn := person(t, at)
	st, err := at.join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- at.run(t.Context(), st) }()
	drawnUntil(t, drawn, "this is a.")
	at.keys <- []byte("one\x1cntwo")
	drawnUntil(t, drawn, "this is b.")
	at.keys <- []byte("\x1cdthree")
	if err := <-ended; !errors.Is(err, errDetached) {
		t.Errorf("left with %v", err)
	}
	if got := <-typed + " " + <-typed; got != "a:one b:two" || len(typed) > 0 {
		t.Errorf("typed: %s, and %d more", got, len(typed))
	}
}

// TestReadsOnTheirWay checks that a read is finished once its bytes are typed, kept or passed to the next session:
// later ones are typed at once again.
//
// FEATURES: R7
func TestReadsOnTheirWay(t *testing.T) {
	d := newDaemon(t, running("a"), running("b"))
	d.converse = func(ws *websocket.Conn, r *http.Request) {
		say(ws, "this is "+strings.Split(r.URL.Path, "/")[3]+".", attach.Info{State: "running"})
		for {
			if _, _, err := ws.ReadMessage(); err != nil {
				return
			}
		}
	}
	d.serve()
	at := d.attached("a")
	drawn := person(t, at)
	st, err := at.join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- at.run(t.Context(), st) }()
	read := func(b string) {
		if !at.typeAtOnce([]byte(b)) {
			at.keys <- []byte(b)
		}
	}
	for _, c := range [][2]string{{"\x1cn", "b"}, {"one\x1cntwo", "a"}} {
		read(c[0])
		drawnUntil(t, drawn, "this is "+c[1]+".")
	}
	d.mu.Lock()
	d.list = d.list[:1] // the only session
	d.mu.Unlock()
	read("\x1cnthree")
	read("\x1cd")
	if err := <-ended; !errors.Is(err, errDetached) {
		t.Errorf("left with %v", err)
	}
	if at.queuedReads != 0 {
		t.Errorf("%d reads never finish", at.queuedReads)
	}
}

// TestJoinsAgain checks that a broken connection is reopened, without the history, and that a rejection by the daemon
// is printed.
//
// FEATURES: R5 R7
func TestJoinsAgain(t *testing.T) {
	d := newDaemon(t, running("a"))
	asked := make(chan string, 100)
	d.converse = func(ws *websocket.Conn, r *http.Request) {
		asked <- r.URL.Query().Get("again") + r.URL.Query().Get("history")
		say(ws, "x", attach.Info{State: "running"})
		d.mu.Lock()
		joins := d.joins
		d.mu.Unlock()
		if joins < 3 {
			return // as of a daemon that died
		}
		over(ws)
		_, _, _ = ws.ReadMessage()
	}
	d.serve()
	at := d.attached("a")
	at.Scrollback = true
	drawn := person(t, at)
	go func() {
		for range drawn {
		}
	}()
	st, err := at.join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := at.run(t.Context(), st); err != nil {
		t.Errorf("after two that broke: %v", err)
	}
	close(asked)
	var got []string
	for s := range asked {
		got = append(got, s)
	}
	if strings.Join(got, " ") != "5000 true true" {
		t.Errorf("requested %q", got)
	}

	d.mu.Lock()
	d.refuse = api.Errorf(api.CodeNotFound, "no such session")
	d.mu.Unlock()
	_, err = at.join(t.Context())
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeNotFound {
		t.Errorf("attached to an ended session: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := at.join(ctx); err == nil {
		t.Error("attached, though the caller has left")
	}
}

// TestTypedWhereItIsRead checks that keys are typed in the order in which they were read, whichever way they take: also
// possible chords and the keys that follow them.
//
// FEATURES: R7
func TestTypedWhereItIsRead(t *testing.T) {
	d := newDaemon(t, running("a"))
	typed := make(chan string, 1000)
	d.converse = func(ws *websocket.Conn, _ *http.Request) {
		say(ws, "hello", attach.Info{State: "running"})
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
	d.serve()
	at := d.attached("a")
	drawn := person(t, at)
	if at.typeAtOnce([]byte("early")) {
		t.Error("typed without a stream")
	}
	st, err := at.join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- at.run(t.Context(), st) }()
	drawnUntil(t, drawn, "hello")
	var want strings.Builder
	read := func(b string) { // as the reader of the terminal does
		if !at.typeAtOnce([]byte(b)) {
			at.keys <- []byte(b)
		}
	}
	read("early")
	want.WriteString("early")
	for i := range 300 {
		switch i % 5 {
		case 1:
			read("\x1c") // may be a chord
			read("x")
			want.WriteString("\x1cx")
		case 3:
			at.t.Resized <- os.Interrupt
		default:
			read(string(rune('a' + i%26)))
			want.WriteByte(byte('a' + i%26))
		}
	}
	read("\x1cd")
	if err := <-ended; !errors.Is(err, errDetached) {
		t.Errorf("left with %v", err)
	}
	got := ""
	for len(got) < want.Len() {
		got += <-typed
	}
	if got != want.String() {
		t.Errorf("typed %q\nnot   %q", got, want.String())
	}
	if at.typeAtOnce([]byte("late")) {
		t.Error("typed after the end")
	}
}

// TestAttachIsOneRequest checks that a daemon that names the attached session in its response gets no further request.
func TestAttachIsOneRequest(t *testing.T) {
	d := newDaemon(t) // has no session to describe
	d.tell = http.Header{attach.IDHeader: {"id-1"}, attach.NameHeader: {"caf%C3%A9"}}
	d.converse = func(ws *websocket.Conn, _ *http.Request) {}
	d.serve()
	at := d.attached("")
	at.s = at.Client.Session("c")
	st, err := at.join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if at.id != "id-1" || at.name != "café" || !at.wasShown {
		t.Errorf("%q %q %v", at.id, at.name, at.wasShown)
	}
}

// TestLeftWhileItJoins checks that a signal that arrives while the client attaches ends the client like a later one.
//
// FEATURES: R75
func TestLeftWhileItJoins(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal: %v", err)
	}
	defer master.Close()
	defer tty.Close()
	defer func(out *os.File) { os.Stdout = out }(os.Stdout)
	os.Stdout = tty
	d := newDaemon(t)
	leaving := make(chan os.Signal, 1)
	d.instead = func(r *http.Request) {
		leaving <- syscall.SIGTERM
		<-r.Context().Done() // the client has disconnected
	}
	d.serve()
	at := d.attached("")
	o := at.Options
	o.Leaving, o.Stdin, o.Scrollback = leaving, tty, true
	err = Run(t.Context(), at.Client.Session("c"), o)
	if exit.Status(err) != 128+int(syscall.SIGTERM) || !strings.Contains(err.Error(), "left ") {
		t.Errorf("status %d: %v", exit.Status(err), err)
	}
}
