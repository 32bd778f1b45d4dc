//go:build unix

package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/color"
	"image/png"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// stream is a client of a session, with its messages and drawings.
type stream struct {
	t     *testing.T
	ws    *websocket.Conn
	drawn bytes.Buffer
}

// dial opens a WebSocket, or returns the daemon's answer.
func (r *running) dial(path string) (*websocket.Conn, *http.Response, error) {
	d := websocket.Dialer{NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", r.dirs.Socket())
	}}
	return d.DialContext(r.t.Context(), fmt.Sprintf("ws://daemon%s%s", api.Version, path), nil)
}

// stream opens a client's stream, which the test or its end closes.
func (r *running) stream(t *testing.T, path string) *stream {
	t.Helper()
	ws, _, err := r.dial(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	return &stream{t: t, ws: ws}
}

func (s *stream) types(b string) {
	s.t.Helper()
	if err := s.ws.WriteMessage(websocket.BinaryMessage, []byte(b)); err != nil {
		s.t.Fatal(err)
	}
}

// says sends a message of the protocol, or raw text.
func (s *stream) says(v any) {
	s.t.Helper()
	b, isText := v.(string)
	if !isText {
		made, err := json.Marshal(v)
		if err != nil {
			s.t.Fatal(err)
		}
		b = string(made)
	}
	if err := s.ws.WriteMessage(websocket.TextMessage, []byte(b)); err != nil {
		s.t.Fatal(err)
	}
}

// until reads until messages or drawings match.
func (s *stream) until(what string, so func(told []byte) bool) {
	s.t.Helper()
	for {
		kind, b, err := s.ws.ReadMessage()
		if err != nil {
			s.t.Fatalf("no %s: %v; drawn: %q", what, err, s.drawn.Bytes())
		}
		if kind == websocket.BinaryMessage {
			s.drawn.Write(b)
			b = nil
		}
		if so(b) {
			return
		}
	}
}

func (s *stream) draws(text string) {
	s.t.Helper()
	s.until(text, func([]byte) bool { return strings.Contains(s.drawn.String(), text) })
}

// closed reads to the end, and returns the last message and the close code.
func (s *stream) closed() (last attach.Info, code int) {
	s.t.Helper()
	for {
		kind, b, err := s.ws.ReadMessage()
		if closing, ok := err.(*websocket.CloseError); ok {
			return last, closing.Code
		}
		if err != nil {
			s.t.Fatal(err)
		}
		if kind == websocket.TextMessage {
			if err := json.Unmarshal(b, &last); err != nil {
				s.t.Errorf("%v in %s", err, b)
			}
		}
	}
}

// size is a session's size.
func (r *running) size(session string) string {
	r.t.Helper()
	s := get[api.Session](r, "GET", "/sessions/"+session, nil)
	return fmt.Sprint(s.Cols, "×", s.Rows)
}

// TestAttachedClients checks that an attached client types and gets the drawing of the output. Invalid messages change
// nothing. It gets the program's end with its status, and then the stream's.
//
// FEATURES: R75 R96
func TestAttachedClients(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	start := func(name, script string) {
		get[api.Session](r, "POST", "/sessions", api.NewSession{Name: name, Cwd: dir, Argv: []string{"sh", "-c", script}})
	}
	start("asks", `echo begun; read x; echo "<$x>"; read x; exit 7`)
	c := r.stream(t, "/sessions/asks/attach?cols=90&rows=30")
	c.draws("begun")
	if got := r.size("asks"); got != "90×30" {
		t.Errorf("the size is %s", got)
	}
	for _, nonsense := range []any{"", "{", "[]", `{"cols":-1,"rows":-1}`, `{"cols":100000,"rows":1}`, `{"cols":"a"}`, strings.Repeat("[", 10000)} {
		c.says(nonsense)
	}
	c.types("one\r")
	c.draws("<one>")
	if got := r.size("asks"); got != "90×30" {
		t.Errorf("nonsense changed the size to %s", got)
	}
	looks := r.stream(t, "/sessions/asks/attach?cols=20&rows=5&read_only=true")
	looks.draws("<one>")
	looks.types("not mine\r")
	looks.says(attach.Control{Cols: 30, Rows: 10})
	c.says(attach.Control{Cols: 100, Rows: 40})
	for r.size("asks") != "100×40" { // the client's message takes another way than ours
	}
	c.types("end\r")
	for name, s := range map[string]*stream{"the client": c, "who looks on": looks} {
		info, code := s.closed()
		if code != websocket.CloseNormalClosure || !info.Ended || info.Code == nil || *info.Code != 7 || info.State != "exited" {
			t.Errorf("%s got %+v, closed with %d", name, info, code)
		}
	}
	if out := get[api.OutputText](r, "GET", "/sessions/asks/output/text?max_output=1000", nil).Text; strings.Contains(out, "not mine") {
		t.Errorf("a view-only client typed: %q", out)
	}
	late := r.stream(t, "/sessions/asks/attach?cols=90&rows=30")
	if info, code := late.closed(); code != websocket.CloseNormalClosure || !info.Ended {
		t.Errorf("attached after its end: %+v, closed with %d", info, code)
	}

	start("stays", `echo begun; exec cat`)
	one := r.stream(t, "/sessions/stays/attach?cols=90&rows=30")
	one.draws("begun")
	two := r.stream(t, "/sessions/stays/attach?cols=70&rows=20")
	two.draws("begun")
	for r.size("stays") != "70×20" { // the newest client
	}
	_ = two.ws.Close()
	for r.size("stays") != "90×30" { // and it disconnects without a message
	}
	one.types("still here\r")
	one.draws("still here")
	r.leave()
	if _, code := one.closed(); code != websocket.CloseGoingAway {
		t.Errorf("the daemon ended, and closed with %d", code)
	}
	next := startDaemon(t, r.dirs)
	r.http, r.ended, r.cancel = next.http, next.ended, next.cancel
	again := r.stream(t, "/sessions/stays/attach?cols=90&rows=30&again=true")
	again.draws("still here")
	again.types("and on\r")
	again.draws("and on")
}

// TestDrawingsOfWhatScrolls checks that lines that scroll by during a drawing are in the history of a terminal that
// keeps one: a drawing covers no line that was not printed before. A reconnected client gets what was printed in
// between.
//
// FEATURES: R94 R113
func TestDrawingsOfWhatScrolls(t *testing.T) {
	t.Parallel()
	r := serve(t)
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "counts", Cwd: t.TempDir(), Argv: []string{
		"sh", "-c", `n=0; while read x; do for y in 1 2 3 4 5 6 7 8 9 10; do n=$((n+1)); echo "line $n;"; done; done`,
	}})
	const query = "/sessions/counts/attach?cols=60&rows=12&resume=me"
	screen := vterm.New(vterm.Options{Cols: 60, Rows: 12})
	c := r.stream(t, query)
	read, next, from := 0, uint64(0), uint64(0)
	until := func(n int) {
		c.until(fmt.Sprint("line ", n), func(told []byte) bool {
			if told != nil {
				var info attach.Info
				if err := json.Unmarshal(told, &info); err != nil {
					t.Fatal(err)
				}
				if next = info.Next; next == 0 {
					next = info.Offset
				}
				return false
			}
			_, _ = screen.Write(c.drawn.Bytes()[read:])
			read, from = c.drawn.Len(), next
			return strings.Contains(c.drawn.String(), fmt.Sprintf("line %d;", n))
		})
	}
	const rounds = 60
	for i := 1; i <= rounds; i++ {
		c.types("\r")
		c.says(attach.Control{Cols: 60, Rows: 12}) // requests a drawing
		until(10 * i)
		if i%10 == 5 {
			_ = c.ws.Close()
			c, read = r.stream(t, fmt.Sprintf("%s&again=true&typed=%d&from=%d", query, i, from)), 0
		}
	}
	var text []byte
	var f vterm.Frame
	h := screen.History()
	screen.Frame(&f, vterm.Query{})
	for i := range h.Len() {
		var l vterm.Line
		h.Line(i, &l)
		for _, cell := range l.Cells {
			text = f.AppendText(text, cell)
		}
	}
	for i := range f.Lines {
		for _, cell := range f.Lines[i].Cells {
			text = f.AppendText(text, cell)
		}
	}
	for i := 1; i <= 10*rounds; i++ {
		if n := bytes.Count(text, fmt.Appendf(nil, "line %d;", i)); n != 1 {
			t.Errorf("line %d is there %d times", i, n)
		}
	}
}

// TestWatchingClients checks that a watching client gets rows, and that its actions become the bytes that the program's
// modes require.
//
// FEATURES: R35 R76
func TestWatchingClients(t *testing.T) {
	t.Parallel()
	r := serve(t)
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "modes", Argv: []string{
		"sh", "-c", `stty raw -echo; printf '\033[?1h\033[?2004h\033[?1003h\033[?1006h\033[?1004hready'; exec cat -v`,
	}})
	w := r.stream(t, "/sessions/modes/watch?cols=80&rows=24")
	shown := func(text string) {
		t.Helper()
		rows := map[int]string{}
		w.until(text, func(told []byte) bool {
			var f attach.Frame
			if err := json.Unmarshal(told, &f); err != nil {
				t.Errorf("%v in %.200s", err, told)
			}
			for i, l := range f.Screen.Lines {
				row := i
				if f.Screen.Delta {
					row = l.Row
				}
				rows[row] = l.Text
			}
			all := ""
			for row := range 24 {
				all += rows[row]
			}
			return strings.Contains(all, text)
		})
	}
	shown("ready")
	w.says("{")
	w.says(`{"cols":-4,"rows":1000000}`)
	w.says("{}")
	paste, focus := "a\x1b[201~b", true
	for _, c := range []struct {
		act  attach.Act
		want string
	}{
		{attach.Act{Key: &input.Key{Code: input.KeyUp}}, "^[OA"},
		{attach.Act{Key: &input.Key{Code: input.KeyF1 + 4}}, "^[[15~"},
		{attach.Act{Mouse: &input.Mouse{Row: 2, Col: 4, Button: input.ButtonLeft}}, "^[[<0;5;3M"},
		{attach.Act{Focus: &focus}, "^[[I"},
		{attach.Act{Text: "wörd"}, "wM-CM-6rd"},
		{attach.Act{Paste: &paste}, "^[[200~a"},
		{attach.Act{Text: "last", Cols: 60, Rows: 20}, "last"},
	} {
		w.says(c.act)
		if got := get[api.Waited](r, "POST", "/sessions/modes/wait", api.Wait{Since: new(uint64), TimeoutMS: 10_000, Conds: []api.Condition{{Kind: "text", Text: c.want}}}); got.Outcome != "fired" {
			t.Errorf("%+v: no %q", c.act, c.want)
		}
	}
	shown("last")
	if got := r.size("modes"); got != "60×20" {
		t.Errorf("the size is %s", got)
	}
	if out := get[api.OutputText](r, "GET", "/sessions/modes/output/text?max_output=1000", nil).Text; strings.Count(out, "^[[201~") != 1 {
		t.Errorf("a paste ended itself: %q", out)
	}
	looks := r.stream(t, "/sessions/modes/watch?read_only=true")
	looks.says(attach.Act{Text: "not mine", Cols: 10, Rows: 10})
	get[api.Session](r, "POST", "/sessions/modes/kill", api.Kill{GraceMS: 50})
	for _, s := range []*stream{w, looks} {
		s.until("end", func(told []byte) bool {
			return bytes.Contains(told, []byte(`"state":"exited"`)) || bytes.Contains(told, []byte(`"state":"signalled"`))
		})
	}
	if out := get[api.OutputText](r, "GET", "/sessions/modes/output/text?max_output=1000", nil).Text; strings.Contains(out, "not mine") || r.size("modes") != "60×20" {
		t.Errorf("a view-only client typed, or changed the size %s: %q", r.size("modes"), out)
	}
}

// TestImagesAsBlocks checks that a client that draws text only may get images as blocks; for all others the cells of an
// image are blank, as in the text.
//
// FEATURES: R36
func TestImagesAsBlocks(t *testing.T) {
	t.Parallel()
	r := serve(t)
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "pic", Argv: []string{
		"sh", "-c", `printf 'x\033_Ga=T,f=24,s=1,v=2,c=3,r=1;/wAAAAD/\033\\ready'; exec cat`,
	}})
	for query, want := range map[string]string{"": "   ", "images=blocks": "▀▀▀", "images=other": "   "} {
		w := r.stream(t, "/sessions/pic/watch?"+query)
		w.until("the image with "+query, func(told []byte) bool {
			var f attach.Frame
			if err := json.Unmarshal(told, &f); err != nil {
				t.Errorf("%v in %.200s", err, told)
			}
			for _, l := range f.Screen.Lines {
				if !strings.HasSuffix(l.Text, "ready") {
					continue
				}
				if s := l.Spans[1]; s.Text != want || s.Col != 1 || l.Text != "x   ready" || want != "   " && (s.FG != "#ff0000" || s.BG != "#0000ff") {
					t.Errorf("%q: %+v in %q", query, s, l.Text)
				}
				return true
			}
			return false
		})
	}
}

// TestPicturesOfAStream checks that a client that may be able to draw images gets their places, and the images that
// were shown when it requests them.
//
// FEATURES: R120
func TestPicturesOfAStream(t *testing.T) {
	t.Parallel()
	r := serve(t)
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "pic", Argv: []string{
		"sh", "-c", `printf 'x\033_Ga=T,f=24,s=1,v=2,c=3,r=1;/wAAAAD/\033\\ready'; exec cat`,
	}})
	w := r.stream(t, "/sessions/pic/watch?images=blocks&pictures=true")
	var got render.Picture
	w.until("the image", func(told []byte) bool {
		var f attach.Frame
		if err := json.Unmarshal(told, &f); err != nil {
			t.Errorf("%v in %.200s", err, told)
		}
		for _, l := range f.Screen.Lines {
			if strings.HasSuffix(l.Text, "ready") && len(l.Pictures) == 1 && l.Spans[1].Text == "▀▀▀" {
				got = l.Pictures[0]
			}
		}
		return got.Key != ""
	})
	if want := (render.Picture{Key: got.Key, Col: 1, Width: 3, Cols: 3, Rows: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	other := strings.Repeat("0", len(got.Key))
	for _, key := range []string{"short", other, got.Key} {
		w.says(attach.Act{Picture: key})
	}
	w.until("answers", func([]byte) bool { return w.drawn.Len() > len(other+got.Key) })
	rest, ok := bytes.CutPrefix(w.drawn.Bytes(), []byte(other+got.Key)) // no image of the other session is sent
	pic, err := png.Decode(bytes.NewReader(rest))
	if err != nil || !ok {
		t.Fatalf("%v in %q", err, w.drawn.Bytes())
	}
	if c := color.NRGBAModel.Convert(pic.At(0, 1)); pic.Bounds().Dx() != 1 || pic.Bounds().Dy() != 2 || c != (color.NRGBA{0, 0, 255, 255}) {
		t.Errorf("%v, its second pixel %v", pic.Bounds(), c)
	}
}

// TestPicturesAboveTheScreen checks that images that scrolled away are listed with the lines of history, and can be
// requested by key too.
//
// FEATURES: R120
func TestPicturesAboveTheScreen(t *testing.T) {
	t.Parallel()
	r := serve(t)
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "pic", Cols: 40, Rows: 5, Argv: []string{
		"sh", "-c", `printf 'x\033_Ga=T,f=24,s=1,v=2,c=3,r=1;/wAAAAD/\033\\ready'; seq 20; exec cat`,
	}})
	if w := r.wait("pic", api.Condition{Kind: "text", Text: "20"}); w.Outcome != "fired" {
		t.Fatalf("%+v", w)
	}
	line := func(query string) render.Line {
		t.Helper()
		s := get[render.Screen](r, "GET", "/sessions/pic/screen?scrollback=:"+query, nil)
		if len(s.Scrollback) == 0 || s.Scrollback[0].Text != "x   ready1" || len(s.Scrollback[0].Spans) != 3 {
			t.Fatalf("%s: %+v", query, s.Scrollback)
		}
		return s.Scrollback[0]
	}
	if l := line(""); l.Spans[1].Text != "   " || l.Pictures != nil {
		t.Errorf("%+v was not requested", l)
	}
	if l := line("&images=blocks"); l.Spans[1].Text != "▀▀▀" || l.Pictures != nil {
		t.Errorf("as blocks: %+v", l)
	}
	l := line("&images=blocks&pictures=true")
	if l.Spans[1].Text != "▀▀▀" || len(l.Pictures) != 1 {
		t.Fatalf("with images: %+v", l)
	}
	key := l.Pictures[0].Key
	w := r.stream(t, "/sessions/pic/watch?images=blocks&pictures=true")
	other := strings.Repeat("0", len(key))
	w.says(attach.Act{Picture: other})
	w.says(attach.Act{Picture: key})
	w.until("the image", func([]byte) bool { return w.drawn.Len() > len(other+key) })
	rest, ok := bytes.CutPrefix(w.drawn.Bytes(), []byte(other+key))
	if pic, err := png.Decode(bytes.NewReader(rest)); err != nil || !ok || pic.Bounds().Dy() != 2 {
		t.Fatalf("%v in %q", err, w.drawn.Bytes())
	}
}

// TestDeadPeers checks that peers that disconnect within a message, do not speak HTTP, request too much or never read
// block no other peer, and leave nothing behind.
//
// FEATURES: R93
func TestDeadPeers(t *testing.T) {
	t.Parallel()
	tier.Full(t)
	r := serve(t)
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "cat", Argv: []string{"cat"}})
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "flood", Argv: []string{"sh", "-c", "while :; do echo 0123456789012345678901234567890123456789; done"}})
	begin := "POST " + api.Version + "/sessions HTTP/1.1\r\nHost: daemon\r\nContent-Type: application/json\r\n"
	attaches := "GET " + api.Version + "/sessions/flood/attach?cols=80&rows=24 HTTP/1.1\r\nHost: daemon\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
	handshake := attaches + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
	for _, c := range []struct {
		sends string
		want  string // it is answered with
		then  string // it continues with
		stays bool   // it stays connected, and sends nothing
	}{
		{stays: true},
		{sends: "GET", stays: true},
		{sends: begin, stays: true},
		{sends: begin + "Content-Length: 1000000\r\n\r\n{\"argv\":[\"sleep\""},
		{sends: begin + "Content-Length: 1000000\r\n\r\n{\"argv\":[\"sleep\"", stays: true},
		{sends: begin + "Content-Length: 99999999999\r\n\r\n{}"},
		{sends: begin + "Content-Length: -1\r\n\r\n", want: "HTTP/1.1 400"},
		{sends: begin + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", want: "HTTP/1.1 422"},
		{sends: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", stays: true},
		{sends: "\x00\xff\x00\xff\r\n\r\n", want: "HTTP/1.1 400"},
		{sends: "GET /" + strings.Repeat("a", 2<<20)},
		{sends: begin + "X-Long: " + strings.Repeat("a", 2<<20) + "\r\n\r\n"},
		{sends: attaches + "\r\n", want: "HTTP/1.1 4"},
		{sends: handshake, want: "HTTP/1.1 101", stays: true},
		{sends: handshake, want: "HTTP/1.1 101"},
		{sends: handshake, want: "HTTP/1.1 101", then: "\x81\xfe", stays: true},                                     // half a frame
		{sends: handshake, want: "HTTP/1.1 101", then: "\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff0000", stays: true}, // one of 2⁶³ bytes
		{sends: handshake, want: "HTTP/1.1 101", then: "\xf1\x80....", stays: true},                                 // reserved bits
		{sends: handshake, want: "HTTP/1.1 101", then: "hello"},                                                     // no frame
	} {
		conn, err := net.Dial("unix", r.dirs.Socket())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte(c.sends)) // it may be refused before it was all sent
		if c.want != "" {
			answer := make([]byte, 100)
			if n, err := conn.Read(answer); err != nil || !strings.HasPrefix(string(answer[:n]), c.want) {
				t.Errorf("%.80q was answered %q, %v, want %s", c.sends, answer[:n], err, c.want)
			}
		}
		_, _ = conn.Write([]byte(c.then))
		if c.stays {
			defer conn.Close()
		} else if err := conn.Close(); err != nil {
			t.Error(err)
		}
		get[api.Status](r, "GET", "/status", nil)
	}
	get[api.Typed](r, "POST", "/sessions/cat/input", api.Input{Text: "on", Enter: true})
	if w := r.wait("cat", api.Condition{Kind: "text", Text: "on"}); w.Outcome != "fired" {
		t.Errorf("another session: %+v", w)
	}
	get[api.Session](r, "POST", "/sessions/flood/kill", api.Kill{GraceMS: 50})
	if n := len(get[[]api.Session](r, "GET", "/sessions", nil)); n != 2 {
		t.Errorf("there are %d sessions, want 2", n)
	}
}

// TestEventsOfOutput checks that a client that requests it gets events of output too: new output, a changed screen, and
// binary data.
//
// FEATURES: R21 R22
func TestEventsOfOutput(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	// A FIFO each: a shell that is quick would open one a second time before it is closed here, and read its end.
	first, second, third := gate(t, dir, "1"), gate(t, dir, "2"), gate(t, dir, "3")
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "prints", Cwd: dir, Argv: []string{
		"sh", "-c", `echo before; read x < 1; echo after; read x < 2; head -c 20000 /dev/urandom; read x < 3`,
	}})
	r.wait("prints", api.Condition{Kind: "text", Text: "before"})
	with := r.eventsOf(t, "?output=true")
	plain := r.eventsOf(t, "")
	first("on")
	e := until(t, with, "output", func(e *api.Event) bool { return e.Kind == "data" })
	if e.Session == nil || e.Session.Name != "prints" || e.Printed == nil || e.Printed.Start != uint64(len("before\r\n")) || e.Printed.End <= e.Printed.Start || e.Seq != 0 {
		t.Errorf("%+v of %+v", e, e.Session)
	}
	until(t, with, "the screen", func(e *api.Event) bool { return e.Kind == "screen" && e.Version > 0 })
	second("on")
	if e := until(t, with, "no text", func(e *api.Event) bool { return e.Kind == "binary" }); e.Binary == 0 {
		t.Errorf("%+v", e)
	}
	third("on")
	for e := range plain {
		if e.Kind == "data" || e.Kind == "screen" || e.Kind == "binary" {
			t.Errorf("a client that did not request it got %s", e.Kind)
		}
		if e.Kind == "state" && e.Session.State == "exited" {
			break
		}
	}
}

// TestAPersonsLineIsLeftAlone checks that a line that a user at the terminal has started is not cleared by another
// client's: that is rejected until the line ends.
//
// FEATURES: R102
func TestAPersonsLineIsLeftAlone(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	bashSession(t, r, "shell", dir)
	person := r.stream(t, "/sessions/shell/attach?cols=80&rows=24")
	person.types("echo mi")
	person.draws("echo mi")
	for _, wait := range []bool{false, true} {
		if e := r.refused("POST", "/sessions/shell/exec", api.Exec{Line: "echo theirs", Wait: wait}); e.Code != api.CodeBusy || !strings.Contains(e.Hint, "--force") {
			t.Errorf("wait %v: %+v", wait, e)
		}
	}
	person.types("ne\r")
	person.draws("mine")
	r.wait("shell", api.Condition{Kind: "prompt"})
	if res := get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Line: "echo theirs", Wait: true}); res.Output != "theirs\n" || res.Cleared != "" {
		t.Errorf("afterwards: %+v", res)
	}
}

// TestNotificationsAreEvents checks that a program's notifications are published as events, and its effects reach
// watching clients.
//
// FAULT: H11
func TestNotificationsAreEvents(t *testing.T) {
	t.Parallel()
	r := serve(t)
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "notifies", Argv: []string{
		"sh", "-c", `echo ready; read x; printf '\033]777;notify;make;done\007\033]52;c;YQ==\007'; read y`,
	}})
	r.wait("notifies", api.Condition{Kind: "text", Text: "ready"})
	happens := r.eventsOf(t, "")
	watching := r.stream(t, "/sessions/notifies/watch?cols=80&rows=24")
	watching.says(attach.Act{Text: "go\r"})
	e := until(t, happens, "a notification", func(e *api.Event) bool { return e.Kind == "notification" })
	if e.Title != "make" || e.Text != "done" || e.Session.Name != "notifies" {
		t.Errorf("%+v", e)
	}
	watching.until("the effects", func(told []byte) bool {
		return bytes.Contains(told, []byte(`{"kind":"clipboard","title":"c","text":"a"}`))
	})
}
