//go:build unix

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/creack/pty"
	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session/web"
	"github.com/longterm-dev/longterm/session/web/wire"
)

// counted counts the bytes of its connections.
type counted struct{ in, out atomic.Int64 }

func (c *counted) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	return countedConn{conn, c}, err
}

type countedConn struct {
	net.Conn
	c *counted
}

func (c countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.c.in.Add(int64(n))
	return n, err
}

func (c countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.c.out.Add(int64(n))
	return n, err
}

// webPage acts as a page in a browser: it reads frames and acknowledges them at 60 a second.
type webPage struct {
	conn counted
	ws   *websocket.Conn
	sub  int
	keys int64 // number of typed keys
	// began makes this run's input differ from that of other runs.
	began int64

	writing sync.Mutex

	mu      sync.Mutex  // guards what follows
	mirror  wire.Mirror // the screen as the page would show it
	styles  map[int]wire.MirrorStyle
	frames  int
	failed  error
	changed chan struct{} // receives a value when the state changes
}

// firstScreen loads everything that a browser without a cache needs to show a session.
func (b *webBench) firstScreen(ctx context.Context, v *webFigures) (*webPage, error) {
	if _, err := b.lt(ctx, "new", "-n", "first", "--cols", fmt.Sprint(webCols), "--rows", fmt.Sprint(webRows), "--", "sh", "-c", "ls -l /usr/bin | head -n 60; exec sleep 100000"); err != nil {
		return nil, err
	}
	if _, err := b.lt(ctx, "wait", "first", "--for", "text=root", "--timeout", "10s"); err != nil {
		return nil, err
	}
	at, code, ok := strings.Cut(b.link, "#login=")
	u, err := url.Parse(at)
	if err != nil || !ok {
		return nil, fmt.Errorf("link %q", b.link)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	p := &webPage{began: time.Now().UnixNano(), styles: map[int]wire.MirrorStyle{}, changed: make(chan struct{}, 1)}
	client := &http.Client{Jar: jar, Transport: &http.Transport{DialContext: p.conn.dial, DisableCompression: true}}
	defer client.CloseIdleConnections()
	origin, key := strings.TrimSuffix(at, "/"), ""
	do := func(method, path string, body any) ([]byte, error) {
		v.First.Requests++
		made, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		req, err := http.NewRequestWithContext(ctx, method, at+path, bytes.NewReader(made))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Accept-Encoding", "gzip")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		if method == http.MethodPost {
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Origin", origin)
		}
		if key != "" {
			req.Header.Set(web.KeyHeader, key)
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s %s: %s", method, path, resp.Status)
		}
		return b, err
	}
	began := time.Now()
	for _, f := range web.Embedded().InitialPaths() {
		if _, err := do(http.MethodGet, f, nil); err != nil {
			return nil, err
		}
	}
	v.First.Script = p.conn.in.Load()
	var me struct{ Key string }
	got, err := do(http.MethodPost, "web/login", map[string]string{"code": code})
	if err == nil {
		err = json.Unmarshal(got, &me)
	}
	if err != nil {
		return nil, err
	}
	key = me.Key
	var t struct{ Ticket string }
	got, err = do(http.MethodPost, "web/ticket", struct{}{})
	if err == nil {
		err = json.Unmarshal(got, &t)
	}
	if err != nil {
		return nil, err
	}
	h := http.Header{"Origin": {origin}}
	for _, c := range jar.Cookies(u) {
		h.Add("Cookie", c.Name+"="+c.Value)
	}
	d := websocket.Dialer{NetDialContext: p.conn.dial, EnableCompression: true, Subprotocols: []string{web.Protocol, "ticket." + t.Ticket}}
	v.First.Requests++
	if p.ws, _, err = d.DialContext(ctx, "ws"+strings.TrimPrefix(at, "http")+"web/socket", h); err != nil {
		return nil, err
	}
	go p.listen()
	err = p.send(map[string]any{"t": "hello", "brief": true, "terse": true})
	if err == nil {
		err = p.show("first")
	}
	if err == nil {
		err = p.wait(ctx, func() bool { return p.frames > 0 })
	}
	v.First.Millis, v.First.Bytes = float64(time.Since(began).Microseconds())/1000, p.conn.in.Load()
	if err != nil {
		p.close()
	}
	return p, err
}

func (p *webPage) close() { _ = p.ws.Close() }

// send sends a message to the daemon.
func (p *webPage) send(m any) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	return p.ws.WriteJSON(m)
}

// key types as the page does, and requests an acknowledgement.
func (p *webPage) key(k string) error {
	p.keys++
	m := map[string]any{"t": "text", "id": p.sub, "q": p.keys, "u": fmt.Sprint(p.began, ":", p.keys)}
	if m["text"] = k; k == "\n" {
		m["t"], m["k"] = "key", "Enter"
		delete(m, "text")
	}
	return p.send(m)
}

// show switches to another session.
func (p *webPage) show(name string) error {
	if p.sub > 0 {
		_ = p.send(map[string]any{"t": "unsub", "id": p.sub}) // show reports a broken connection
	}
	p.mu.Lock()
	p.sub++
	p.mirror, p.frames = wire.Mirror{}, 0
	p.mu.Unlock()
	return p.send(map[string]any{"t": "sub", "id": p.sub, "s": name})
}

// frameTime is the interval between two frames of a 60 Hz screen.
const frameTime = time.Second / 60

// listen handles frames until the connection ends.
func (p *webPage) listen() {
	for {
		_, b, err := p.ws.ReadMessage()
		if err != nil {
			p.wake(err)
			return
		}
		var m struct {
			T  string
			ID int
			N  uint64
		}
		if len(b) > 0 && strings.IndexByte("=!%", b[0]) >= 0 { // acknowledgement, prompt, progress
			continue
		}
		id, thin := wire.ThinID(b)
		if m.T, m.ID = "f", id; !thin {
			m.T, m.ID = "", 0
			if err := json.Unmarshal(b, &m); err != nil {
				p.wake(err)
				return
			}
		}
		if m.T == "gone" || m.T == "err" {
			p.wake(fmt.Errorf("%s", b))
		}
		if m.T != "f" {
			continue
		}
		p.mu.Lock()
		var into *wire.Mirror
		if m.ID == p.sub {
			into = &p.mirror
			p.frames++
		} else {
			into = &wire.Mirror{}
		}
		if thin {
			m.N, err = into.ApplyThin(b, p.styles)
		} else {
			_, err = into.Apply(b, p.styles)
		}
		p.mu.Unlock()
		if err != nil && m.ID == p.sub {
			p.wake(err)
			return
		}
		now := time.Now()
		time.AfterFunc(now.Truncate(frameTime).Add(frameTime).Sub(now), func() {
			_ = p.send(map[string]any{"t": "ack", "id": m.ID, "n": m.N}) // listen sees it when the connection broke
			p.wake(nil)
		})
	}
}

// wake records an error, if any, and wakes the waiter.
func (p *webPage) wake(err error) {
	p.mu.Lock()
	p.failed = errors.Join(p.failed, err)
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func (p *webPage) framesNow() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frames
}

// text returns the text that the page shows. The caller holds mu.
func (p *webPage) text() string {
	var s strings.Builder
	for _, l := range p.mirror.Lines {
		s.WriteString(l.Text())
	}
	return s.String()
}

// now returns text that the page shows.
func (p *webPage) now() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text()
}

// wait waits until a condition holds, which is checked with mu held.
func (p *webPage) wait(ctx context.Context, holds func() bool) error {
	for {
		p.mu.Lock()
		ok, err := holds(), p.failed
		p.mu.Unlock()
		if ok || err != nil {
			return err
		}
		select {
		case <-p.changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Second):
			return fmt.Errorf("what is waited for did not come in a minute; %d frames came, and this is shown: %.200q", p.framesNow(), p.now())
		}
	}
}

// raw runs a load on a terminal, whose bytes are sent over a WebSocket as they are read. It returns the sizes of the
// output and of the sent data.
func (b *webBench) raw(ctx context.Context, l *webProgram, packed bool) (output, sent int64, err error) {
	cmd := b.command(ctx, "sh", "-c", l.shell())
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: webCols, Rows: webRows})
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = tty.Close()
		_ = cmd.Wait()
	}()
	here, there, err := socketPair(ctx, packed)
	if err != nil {
		return 0, 0, err
	}
	defer here.Close()
	defer there.ws.Close()
	shown := make(chan error, 1)
	go func() { // the page, which takes everything
		var last []byte
		for {
			_, m, err := there.ws.ReadMessage()
			if err != nil {
				shown <- err
				return
			}
			last = append(last, m...)
			if bytes.Contains(last, []byte(marker)) {
				shown <- nil
				return
			}
			last = last[max(0, len(last)-len(marker)):]
		}
	}()
	var read atomic.Int64
	go func() { // ends with the terminal
		buf := make([]byte, 64<<10)
		for {
			n, err := tty.Read(buf)
			if n > 0 && here.WriteMessage(websocket.BinaryMessage, append([]byte{'0'}, buf[:n]...)) != nil || err != nil {
				return
			}
			read.Add(int64(n))
		}
	}()
	if _, err := io.WriteString(tty, "\n"); err != nil {
		return 0, 0, err
	}
	err = b.runLoad(ctx, l, func(k string) error {
		_, err := tty.WriteString(k)
		return err
	}, func() error { return <-shown })
	return read.Load(), there.c.in.Load(), err
}

type countedSocket struct {
	ws *websocket.Conn
	c  *counted
}

// socketPair returns both ends of a WebSocket on this machine: the sender's, and the one whose bytes are counted.
func socketPair(ctx context.Context, packed bool) (*websocket.Conn, countedSocket, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, countedSocket{}, err
	}
	got := make(chan *websocket.Conn, 1)
	up := websocket.Upgrader{EnableCompression: packed}
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ws, err := up.Upgrade(w, r, nil); err == nil {
			got <- ws
		}
	})}
	go func() { _ = srv.Serve(ln) }() // ends with the listener
	defer srv.Close()
	c := &counted{}
	d := websocket.Dialer{NetDialContext: c.dial, EnableCompression: packed}
	ws, _, err := d.DialContext(ctx, "ws://"+ln.Addr().String()+"/", nil)
	if err != nil {
		return nil, countedSocket{}, err
	}
	c.in.Store(0)
	select {
	case here := <-got:
		return here, countedSocket{ws, c}, nil
	case <-ctx.Done():
		return nil, countedSocket{}, errors.Join(ctx.Err(), ws.Close())
	}
}
