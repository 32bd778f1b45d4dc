//go:build unix

package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/web"
	"github.com/longterm-dev/longterm/session/web/wire"
)

// browser is a logged-in page, as far as its server can know.
type browser struct {
	*running
	url, origin, key string
	http             *http.Client
}

// openWeb makes a daemon serve the page, and opens a link of it.
func (r *running) openWeb(o api.OpenWeb) *browser {
	r.t.Helper()
	o.Listen = "127.0.0.1:0"
	if at := get[api.Web](r, "GET", "/web", nil); at.On {
		o.Listen = ""
	}
	v := get[api.WebLink](r, "POST", "/web", o)
	b := r.browser(v.URL)
	if code := b.login("code", strings.SplitN(v.Link, "#login=", 2)[1]); code != http.StatusOK {
		r.t.Fatalf("login: %d", code)
	}
	return b
}

func (r *running) browser(at string) *browser {
	r.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	b := &browser{running: r, url: at, origin: strings.TrimSuffix(at, "/"), http: &http.Client{Jar: jar, Transport: &http.Transport{}}}
	r.t.Cleanup(b.http.CloseIdleConnections)
	return b
}

// login shows a code or a token.
func (b *browser) login(kind, secret string) int {
	b.t.Helper()
	got := b.do("POST", "web/login", map[string]string{kind: secret})
	var me struct{ Key string }
	if json.Unmarshal(got.body, &me) == nil && me.Key != "" {
		b.key = me.Key
	}
	return got.status
}

// do makes a request as the page does; change alters it.
func (b *browser) do(method, path string, body any, change ...func(*http.Request)) answer {
	b.t.Helper()
	var in io.Reader
	if body != nil {
		made, err := json.Marshal(body)
		if err != nil {
			b.t.Fatal(err)
		}
		in = bytes.NewReader(made)
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, in)
	if err != nil {
		b.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if method != "GET" {
		req.Header.Set("Origin", b.origin)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if b.key != "" {
		req.Header.Set("Longterm-Page", b.key)
	}
	for _, f := range change {
		f(req)
	}
	resp, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, got}
}

// ticket is one for a socket.
func (b *browser) ticket() string {
	b.t.Helper()
	got := b.do("POST", "web/ticket", nil)
	var v struct{ Ticket string }
	if err := json.Unmarshal(got.body, &v); err != nil || v.Ticket == "" {
		b.t.Fatalf("%d %s", got.status, got.body)
	}
	return v.Ticket
}

// dial opens the socket with a ticket.
func (b *browser) dial(ticket string, change ...func(http.Header)) (*websocket.Conn, int) {
	b.t.Helper()
	at, err := url.Parse(b.url)
	if err != nil {
		b.t.Fatal(err)
	}
	h := http.Header{"Origin": {b.origin}}
	for _, c := range b.http.Jar.Cookies(at) {
		h.Add("Cookie", c.String())
	}
	for _, f := range change {
		f(h)
	}
	d := websocket.Dialer{Subprotocols: []string{"longterm.page.1", "ticket." + ticket}, EnableCompression: true, HandshakeTimeout: time.Minute}
	ws, resp, err := d.DialContext(b.t.Context(), "ws"+strings.TrimPrefix(b.url, "http")+"web/socket", h)
	if err != nil && resp == nil {
		b.t.Fatal(err)
	}
	if ws != nil {
		b.t.Cleanup(func() { _ = ws.Close() })
		_ = ws.SetReadDeadline(time.Now().Add(2 * time.Minute))
	}
	return ws, resp.StatusCode
}

// tab is a page's socket, with the screens it shows.
type tab struct {
	*browser
	ws      *websocket.Conn
	hello   map[string]any
	screens map[int]*wire.Mirror
	styles  map[int]wire.MirrorStyle
	mute    bool // frames are not acknowledged
	frames  int
	seq     uint64
	last    string // session of the last event
}

type said struct {
	T       string
	ID      int
	Q       int64
	Code    api.Code
	Message string
	List    []json.RawMessage
	Event   *api.Event
	S       string
	Behind  int64
	Full    bool
	At      *uint64
	Rows    [][]any
}

func (b *browser) open(after uint64) *tab {
	b.t.Helper()
	ws, status := b.dial(b.ticket())
	if ws == nil {
		b.t.Fatalf("no socket: %d", status)
	}
	t := &tab{browser: b, ws: ws, screens: map[int]*wire.Mirror{}, styles: map[int]wire.MirrorStyle{}}
	t.say(map[string]any{"t": "hello", "after": after, "brief": true})
	return t
}

func (t *tab) say(v any) {
	t.t.Helper()
	if err := t.ws.WriteJSON(v); err != nil {
		t.t.Fatal(err)
	}
}

// next is the next message; frames are drawn and acknowledged.
func (t *tab) next() (said, error) {
	t.t.Helper()
	_, b, err := t.ws.ReadMessage()
	if err != nil {
		return said{}, err
	}
	var m said
	id, thin := wire.ThinID(b)
	if m.T, m.ID = "f", id; !thin {
		m = said{}
		if err := json.Unmarshal(b, &m); err != nil {
			t.t.Fatalf("%v in %s", err, b)
		}
	}
	switch {
	case m.T == "hello":
		_ = json.Unmarshal(b, &t.hello)
	case m.Event != nil:
		if t.seq = m.Event.Seq; m.S != "" {
			t.last = m.S
		}
		if s := m.Event.Session; m.T == "e" {
			s.ID = t.last
		} else if s != nil {
			t.last = s.ID
		}
	case m.T == "f":
		t.frames++
		s := t.screens[m.ID]
		if s == nil {
			s = &wire.Mirror{}
			t.screens[m.ID] = s
		}
		take := s.Apply
		if thin {
			take = s.ApplyThin
		}
		n, err := take(b, t.styles)
		if err != nil {
			t.t.Fatalf("%v in %s", err, b)
		}
		if !t.mute {
			t.say(map[string]any{"t": "ack", "id": m.ID, "n": n})
		}
	}
	return m, nil
}

// until reads until a message matches.
func (t *tab) until(what string, ok func(said) bool) said {
	t.t.Helper()
	var last said
	for {
		m, err := t.next()
		if err != nil {
			t.t.Fatalf("%s did not arrive: %v; last %+v, screens %v", what, err, last, t.texts())
		}
		if ok(m) {
			return m
		}
		last = m
	}
}

// shows reads until a screen shows a text.
func (t *tab) shows(id int, text string) {
	t.t.Helper()
	if !strings.Contains(t.text(id), text) {
		t.until(text, func(said) bool { return strings.Contains(t.text(id), text) })
	}
}

func (t *tab) text(id int) string {
	s := t.screens[id]
	if s == nil {
		return ""
	}
	var b strings.Builder
	for _, l := range s.Lines {
		b.WriteString(strings.TrimRight(l.Text(), " ") + "\n")
	}
	return b.String()
}

func (t *tab) texts() map[int]string {
	all := map[int]string{}
	for id := range t.screens {
		all[id] = t.text(id)
	}
	return all
}

// closed reads to the end of the socket, and returns how it was closed.
func (t *tab) closed() int {
	t.t.Helper()
	return t.ends().Code
}

func (t *tab) ends() *websocket.CloseError {
	t.t.Helper()
	for {
		if _, err := t.next(); err != nil {
			if e, ok := err.(*websocket.CloseError); ok {
				return e
			}
			t.t.Fatal(err)
		}
	}
}

// TestPageInABrowser checks that a page shows a session, types into it with keys, text and a paste, and the session
// keeps its size. After a broken connection it gets the changes and events since.
//
// FEATURES: R83 R96 R112
func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, testDirs(t))
	s := get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "one", Argv: []string{"sh", "-c", "PS1='$ ' exec sh -i"}, Cols: 80, Rows: 24})
	b := d.openWeb(api.OpenWeb{})
	page := b.open(0)
	page.until("the list", func(m said) bool { return m.T == "sessions" && len(m.List) == 1 })
	page.until("approvals", func(m said) bool { return m.T == "approvals" })
	page.say(map[string]any{"t": "sub", "id": 7, "s": "one"})
	page.shows(7, "$")
	page.say(map[string]any{"t": "text", "id": 7, "text": "echo a$((20+2))é"})
	page.say(map[string]any{"t": "key", "id": 7, "k": "Enter", "q": 1, "u": "first"})
	page.until("ok", func(m said) bool { return m.T == "ok" && m.Q == 1 })
	page.shows(7, "a22é")
	page.say(map[string]any{"t": "paste", "id": 7, "text": "printf '%s\\n' pasted$((4*11))\r", "q": 2})
	page.shows(7, "pasted44")
	page.say(map[string]any{"t": "key", "id": 7, "k": "Enter", "q": 3, "u": "first"}) // repeated: typed once
	page.until("ok", func(m said) bool { return m.T == "ok" && m.Q == 3 })
	before := page.screens[7]
	_ = page.ws.Close()

	d.ask("POST", "/sessions/one/input", api.Input{Text: "echo meanwhile$((1+1))", Enter: true})
	get[api.Waited](d, "POST", "/sessions/one/wait", api.Wait{Conds: []api.Condition{{Kind: "text", Text: "meanwhile2"}}})
	again := b.open(page.seq)
	again.screens[7] = before
	again.say(map[string]any{"t": "sub", "id": 7, "s": s.ID, "v": before.Version, "e": before.Epoch})
	first := again.until("a frame", func(m said) bool { return m.T == "f" })
	if first.Full || len(first.Rows) > 6 {
		t.Errorf("after the connection broke all is sent again: %d rows", len(first.Rows))
	}
	again.shows(7, "meanwhile2")
	if now := get[api.Session](d, "GET", "/sessions/one", nil); now.Cols != 80 || now.Rows != 24 {
		t.Errorf("the page changed the size: %d×%d", now.Cols, now.Rows)
	}
	again.say(map[string]any{"t": "resize", "id": 7, "cols": 100, "rows": 30, "q": 4})
	again.until("another size", func(said) bool { return again.screens[7].Cols == 100 && again.screens[7].Rows == 30 })

	want := get[struct {
		Lines []struct{ Text string }
	}](d, "GET", "/sessions/one/screen", nil)
	for i, l := range want.Lines {
		if got := strings.TrimRight(again.screens[7].Lines[i].Text(), " "); got != strings.TrimRight(l.Text, " ") {
			t.Errorf("row %d: %q, want %q", i, got, l.Text)
		}
	}
	again.say(map[string]any{"t": "sub", "id": 8, "s": "one", "at": 0})
	if m := again.until("the past", func(m said) bool { return m.T == "f" && m.ID == 8 }); m.At == nil || *m.At != 0 || strings.Contains(again.text(8), "a22") {
		t.Errorf("%+v, %q", m, again.text(8))
	}
	again.say(map[string]any{"t": "sub", "id": 8, "s": "one", "at": "nonsense"})
	again.until("what is wrong", func(m said) bool { return m.T == "err" && m.ID == 8 && m.Code == api.CodeInvalid })
	again.say(map[string]any{"t": "sub", "id": 9, "s": "nobody"})
	again.until("no such session", func(m said) bool { return m.T == "gone" && m.ID == 9 && m.Code == api.CodeNotFound })
}

// TestSlowPage checks that a page that acknowledges nothing delays no other and gets no queue: its next frame is the
// newest.
//
// FEATURES: R83
func TestSlowPage(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, testDirs(t))
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "flood", Argv: []string{"sh", "-c", "read x; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo line $i; done; echo the end; exec sleep 600"}})
	page := d.openWeb(api.OpenWeb{}).open(0)
	page.mute = true
	page.say(map[string]any{"t": "sub", "id": 1, "s": "flood"})
	page.until("a frame", func(m said) bool { return m.T == "f" })
	d.ask("POST", "/sessions/flood/input", api.Input{Enter: true})
	get[api.Waited](d, "POST", "/sessions/flood/wait", api.Wait{Conds: []api.Condition{{Kind: "text", Text: "the end"}}, Since: new(uint64)})
	page.say(map[string]any{"t": "sub", "id": 2, "s": "nobody"}) // an answer that arrives after all earlier frames
	page.until("the answer", func(m said) bool { return m.T == "gone" && m.ID == 2 })
	if page.frames > 2 {
		t.Errorf("%d frames were sent and none acknowledged: %q", page.frames, page.text(1))
	}
	page.mute = false
	page.say(map[string]any{"t": "ack", "id": 1, "n": 2})
	was := page.frames
	page.shows(1, "the end")
	if page.frames > was+1 {
		t.Errorf("%d of the frames in between arrived", page.frames-was-1)
	}
}

// TestScopesOfAPage checks that a login sees and does what its scope allows, on the socket as by requests. When it is
// revoked, its socket ends at once.
//
// FEATURES: R83 R86
func TestScopesOfAPage(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, testDirs(t))
	for _, name := range []string{"mine", "other"} {
		get[api.Session](d, "POST", "/sessions", api.NewSession{Name: name, Argv: []string{"cat"}})
	}
	d.openWeb(api.OpenWeb{})
	shared := get[api.Shared](d, "POST", "/sessions/mine/share", api.Share{})
	at, secret, _ := strings.Cut(shared.Link, "#token=")
	guest := d.browser(at)
	if code := guest.login("token", secret); code != http.StatusOK {
		t.Fatal(code)
	}
	page := guest.open(0)
	list := page.until("the list", func(m said) bool { return m.T == "sessions" })
	if len(list.List) != 1 || !bytes.Contains(list.List[0], []byte(`"mine"`)) {
		t.Errorf("%s", list.List)
	}
	if fmt.Sprint(page.hello["may"]) != "[look]" || page.hello["masked"] != true || page.hello["page"] != web.Embedded().Hash() {
		t.Errorf("%v", page.hello)
	}
	page.say(map[string]any{"t": "sub", "id": 1, "s": "other"})
	page.until("a refusal", func(m said) bool { return m.T == "gone" && m.Code == api.CodeNotFound })
	page.say(map[string]any{"t": "sub", "id": 2, "s": "mine"})
	page.until("a frame", func(m said) bool { return m.T == "f" && m.ID == 2 })
	for i, m := range []map[string]any{{"t": "key", "k": "a"}, {"t": "text", "text": "a"}, {"t": "paste", "text": "a"}, {"t": "mouse", "b": "left", "a": "press"}, {"t": "focus", "on": true}, {"t": "resize", "cols": 10, "rows": 10}} {
		m["id"], m["q"] = 2, i+1
		page.say(m)
		page.until("a refusal", func(m said) bool { return m.T == "err" && m.Q == int64(i+1) && m.Code == api.CodeDenied })
	}
	for path, want := range map[string]int{"v1/sessions/mine": 200, "v1/sessions/other": 404, "v1/status": 403, "v1/tokens": 403, "v1/fleet/hosts": 403, "v1/fleet/sessions": 403} {
		if got := guest.do("GET", path, nil); got.status != want {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := guest.do("POST", "v1/sessions/mine/input", api.Input{Text: "x"}); got.status != http.StatusForbidden {
		t.Errorf("%d %s", got.status, got.body)
	}
	get[struct{}](d, "DELETE", "/tokens/"+shared.Token.Name, nil)
	if code := page.closed(); code != 4001 {
		t.Errorf("the socket of a login that was revoked: %d", code)
	}
	if got := guest.do("GET", "v1/sessions/mine", nil); got.status != http.StatusUnauthorized {
		t.Errorf("%d", got.status)
	}
}

// TestHostilePage checks that an invalid or too large message ends its socket.
//
// FEATURES: R83
func TestHostilePage(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, testDirs(t))
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "one", Argv: []string{"cat"}})
	b := d.openWeb(api.OpenWeb{})
	other := b.open(0)
	tooLarge := fmt.Appendf(nil, `{"t":"text","id":1,"text":"%s"}`, strings.Repeat("x", wire.MaxMessage))
	for name, c := range map[string]struct {
		do   func(p *tab)
		want int
	}{
		"no JSON": {func(p *tab) { _ = p.ws.WriteMessage(websocket.TextMessage, []byte("hello")) }, 4002},
		"bytes":   {func(p *tab) { _ = p.ws.WriteMessage(websocket.BinaryMessage, []byte(`{"t":"tick"}`)) }, 4002},
		"too large": {func(p *tab) {
			p.ws.EnableWriteCompression(false)
			_ = p.ws.WriteMessage(websocket.TextMessage, tooLarge)
		}, websocket.CloseMessageTooBig},
		"too large, packed": {func(p *tab) { _ = p.ws.WriteMessage(websocket.TextMessage, tooLarge) }, websocket.CloseMessageTooBig},
	} {
		p := b.open(0)
		p.say(map[string]any{"t": "sub", "id": 1, "s": "one"})
		p.until("a frame", func(m said) bool { return m.T == "f" })
		p.mute = true // the socket has one writer
		go c.do(p)
		if end := p.ends(); end.Code != c.want || end.Text == "" {
			t.Errorf("%s: closed with %v, want %d and a reason", name, end, c.want)
		}
	}
	page := b.open(0)
	for i := range wire.MaxSubs + 1 {
		page.say(map[string]any{"t": "sub", "id": i + 1, "s": "one", "kind": "thumb"})
	}
	page.until("a limit", func(m said) bool { return m.T == "gone" && m.ID == wire.MaxSubs+1 && m.Code == api.CodeLimit })
	other.say(map[string]any{"t": "sub", "id": 1, "s": "one"})
	other.until("a frame: others go on", func(m said) bool { return m.T == "f" })
}

// TestPageOutlivesTheDaemon checks that the next daemon serves the page at the same address, and that its login stays
// valid.
//
// FEATURES: R83
func TestPageOutlivesTheDaemon(t *testing.T) {
	t.Parallel()
	dirs := testDirs(t)
	d := startDaemon(t, dirs)
	b := d.openWeb(api.OpenWeb{})
	page := b.open(0)
	page.until("hello", func(m said) bool { return m.T == "hello" })
	d.cancel()
	if code := page.closed(); code != websocket.CloseGoingAway {
		t.Errorf("closed with %d", code)
	}
	<-d.ended
	d.ended <- nil
	next := startDaemon(t, dirs)
	b.running = next
	if at := get[api.Web](next, "GET", "/web", nil); at.URL != b.url {
		t.Fatalf("%+v, not at %s", at, b.url)
	}
	if got := b.do("GET", "web/me", nil); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	b.open(0).until("the list", func(m said) bool { return m.T == "sessions" })
	get[struct{}](next, "DELETE", "/web", nil)
	if at := get[api.Web](next, "GET", "/web", nil); at.On {
		t.Errorf("%+v", at)
	}
	if _, err := b.http.Get(b.url); err == nil {
		t.Error("the page is served though it was closed")
	}
}
