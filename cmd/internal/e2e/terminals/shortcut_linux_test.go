package terminals

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"
	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/fastpath"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// onePicture is a fake daemon that sends one drawing to an attached client, accepts input, and reports the session's
// end.
type onePicture struct {
	i *e2e.Instance

	mu    sync.Mutex
	shows picture  // guarded by mu
	asked []string // guarded by mu
	typed string   // guarded by mu
}

// picture is the drawing of onePicture.
type picture struct {
	name  string
	drawn string // empty: the session does not exist
	texts int    // messages before the drawing
}

func (d *onePicture) show(p picture) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shows = p
}

func newOnePicture(t *testing.T) *onePicture {
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "run", "daemon.sock"))
	if err != nil {
		t.Fatal(err)
	}
	d := &onePicture{
		i: &e2e.Instance{T: t, Dir: dir, Exe: e2e.Program(t), Env: append(os.Environ(), "LONGTERM_DIR="+dir, "LONGTERM_SESSION=", "TERM=dumb")}, // attach sends no queries to a dumb terminal
	}
	s := httptest.NewUnstartedServer(d)
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return d
}

// resumes returns the unique key of each stream.
var resumes = regexp.MustCompile(`resume=[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)

func (d *onePicture) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.asked = append(d.asked, r.Method+" "+resumes.ReplaceAllString(r.RequestURI, "resume=KEY")+" "+r.Host+" "+r.Header.Get("Sec-WebSocket-Version"))
	show := d.shows
	d.mu.Unlock()
	if show.drawn == "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"code":"not_found","message":"there is no session s"}`)
		return
	}
	up := websocket.Upgrader{}
	ws, err := up.Upgrade(w, r, http.Header{attach.IDHeader: {"s-1"}, attach.NameHeader: {show.name}})
	if err != nil {
		d.i.T.Error(err)
		return
	}
	defer ws.Close()
	for range show.texts {
		_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"cols":60,"rows":15,"state":"running"}`))
	}
	_ = ws.WriteMessage(websocket.BinaryMessage, []byte(show.drawn))
	_, typed, _ := ws.ReadMessage()
	d.mu.Lock()
	d.typed += string(typed)
	d.mu.Unlock()
	_ = ws.WriteMessage(websocket.BinaryMessage, []byte("after"))
	_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"state":"exited","exit_code":3,"ended":true}`))
	_ = ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
}

// attach attaches on a terminal, types when all is drawn, and returns all output of the terminal.
func (d *onePicture) attach(env ...string) (printed, asked, typed string) {
	t := d.i.T
	t.Helper()
	d.mu.Lock()
	d.asked, d.typed = nil, ""
	told := d.shows.drawn == ""
	d.mu.Unlock()
	cmd := exec.CommandContext(t.Context(), d.i.Exe, "attach", "s")
	cmd.Env = append(slices.Clone(d.i.Env), env...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 60, Rows: 15})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	var all bytes.Buffer
	buf := make([]byte, 4096)
	for {
		n, err := tty.Read(buf)
		all.Write(buf[:n])
		if !told && bytes.HasSuffix(all.Bytes(), []byte("THE END")) {
			told = true
			if _, err := tty.WriteString("k"); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait() // its status is no part of this
	d.mu.Lock()
	defer d.mu.Unlock()
	return all.String(), strings.Join(d.asked, "\n"), d.typed
}

// TestAttachBeforeTheProgram compares the fast path of attach with the verb: one request, and the same bytes on the
// terminal, for small and large drawings, escaped names, drawings that change colours, and missing sessions.
//
// FEATURES: R75, R90
func TestAttachBeforeTheProgram(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	d := newOnePicture(t)
	for _, c := range []struct {
		what, name, drawn string
		texts             int
	}{
		{"a screen", "s", "\x1b[Hhello THE END", 1},
		{"no text before it", "s", "THE END", 0},
		{"many texts before it", "s", "THE END", 5},
		{"125 bytes", "s", strings.Repeat("x", 118) + "THE END", 1},
		{"126 bytes", "s", strings.Repeat("x", 119) + "THE END", 1},
		{"a large screen", "s", strings.Repeat("\x1b[31mcolour\x1b[m ", 6000) + "THE END", 1},
		{"64 KiB", "s", strings.Repeat("x", 1<<16-7) + "THE END", 1},
		{"colours of the terminal", "s", "\x1b]4;1;#ff0000\x1b\\THE END", 1},
		{"a name with a blank", "a%20b", "THE END", 1},
		{"another name", "s-1", "THE END", 1},
		{"no session", "s", "", 1},
	} {
		d.show(picture{name: c.name, drawn: c.drawn, texts: c.texts})
		printed, asked, typed := d.attach()
		want, wantAsked, wantTyped := d.attach(fastpath.DisableEnv + "=1")
		if printed != want || c.drawn != "" && !strings.Contains(printed, "after") {
			t.Errorf("%s: printed\n%q\nwant\n%q", c.what, e2e.Tail([]byte(printed), 600), e2e.Tail([]byte(want), 600))
		}
		if asked != wantAsked || strings.Count(asked, "GET") != 1 {
			t.Errorf("%s: requests %q, want %q", c.what, asked, wantAsked)
		}
		if typed != wantTyped || c.drawn != "" && typed != "k" {
			t.Errorf("%s: typed %q, want %q", c.what, typed, wantTyped)
		}
	}
}

// TestAttachDrawsFirst checks that the first drawing precedes the initialisation of unrelated packages.
func TestAttachDrawsFirst(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	d := newOnePicture(t)
	d.show(picture{name: "s", drawn: "drawn and THE END", texts: 1})
	cmd := exec.CommandContext(t.Context(), d.i.Exe, "attach", "s")
	cmd.Env = append(d.i.Env, "GODEBUG=inittrace=1") // to the same terminal
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 60, Rows: 15})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	all, buf, typed := "", make([]byte, 4096), false
	for err = nil; err == nil; {
		var n int
		n, err = tty.Read(buf)
		all += string(buf[:n])
		if !typed && strings.Contains(all, "THE END") && strings.Contains(all, "init main ") {
			typed = true
			_, _ = tty.WriteString("k")
		}
	}
	_ = cmd.Wait()
	before, _, ok := strings.Cut(all, "drawn and THE END")
	if !ok {
		t.Fatalf("not drawn: %q", all)
	}
	for _, late := range []string{"init net/http ", "init github.com/longterm-dev/longterm/session/daemon/httpapi ", "init github.com/longterm-dev/longterm/render/view "} {
		if strings.Contains(before, late) {
			t.Errorf("before the drawing: %s", late)
		}
	}
	if !strings.Contains(all, "init net/http ") {
		t.Errorf("no trace of initialisation: %q", all)
	}
}
