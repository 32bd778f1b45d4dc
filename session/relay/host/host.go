// Package host is a daemon's end of a relay: it keeps a shared session's room open, and serves its readers the
// requests and the socket that their token allows, sealed (docs/web-protocol.md, "Relay protocol").
//
// A share has one goroutine that keeps the room. Each reader has one that receives messages, one for its socket, and
// one for each running request. A write to a slow reader fails after writeTime.
package host

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session/relay"
	"github.com/longterm-dev/longterm/session/relay/sealed"
)

// Share is a session that is shared through a relay. Its JSON is stored in a file.
type Share struct {
	Token string `json:"token"` // name of the token that limits the readers
	Relay string `json:"relay"`
	Owner string `json:"owner"` // secret that proves to the relay that the daemon hosts the room
	Key   string `json:"key"`   // encryption key that the readers' link contains, base64
}

// New returns a share with new secrets.
func New(token, at string) (Share, error) {
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return Share{}, fmt.Errorf("%q is not a relay address: use the form https://relay.example.org", at)
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return Share{}, fmt.Errorf("%s has no TLS: browsers open sealed links at https addresses only", at)
	}
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	key := make([]byte, sealed.KeySize)
	_, _ = rand.Read(key) // it does not fail
	return Share{Token: token, Relay: u.String(), Owner: rand.Text(), Key: base64.RawURLEncoding.EncodeToString(key)}, nil
}

// Link returns the address that opens the share in a browser. Browsers never send the part after #.
func (s Share) Link() string { return s.Relay + "#relay=" + relay.Room(s.Owner) + "." + s.Key }

// dial opens a WebSocket to the relay; reader names the reader that it serves, or is empty.
func (s Share) dial(ctx context.Context, path, reader string) (*websocket.Conn, error) {
	h := http.Header{"Authorization": {"Bearer " + s.Owner}}
	if reader != "" {
		h.Set(relay.ReaderHeader, reader)
	}
	d := websocket.Dialer{
		Proxy: http.ProxyFromEnvironment, HandshakeTimeout: dialTime, Subprotocols: []string{relay.Protocol},
		ReadBufferSize: 4096, WriteBufferSize: 4096,
	}
	ws, resp, err := d.DialContext(ctx, "ws"+strings.TrimPrefix(s.Relay, "http")+path, h)
	if err == nil {
		ws.SetReadLimit(relay.MaxMessage)
		return ws, nil
	}
	if resp != nil && resp.Body != nil {
		var told struct{ Message string }
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		if json.Unmarshal(b, &told) != nil || told.Message == "" {
			told.Message = "not a relay"
		}
		return nil, fmt.Errorf("relay %s rejected the connection: %s: %s", s.Relay, resp.Status, told.Message)
	}
	return nil, err
}

const (
	dialTime  = 10 * time.Second
	writeTime = 60 * time.Second
	deadAfter = 80 * time.Second // without a ping of the relay, the connection is lost
	greetTime = 15 * time.Second // limit of a reader's handshake
	leastWait = time.Second
	mostWait  = time.Minute

	maxReaders = 32 // served at a time; the relay's further ones are ignored
)

// pong answers a ping, unless a long write is in progress: that also proves the connection, so reading continues.
func pong(ws *websocket.Conn, data string) error {
	err := ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
	var busy net.Error
	if errors.As(err, &busy) && busy.Timeout() {
		return nil
	}
	return err
}

// Host keeps a share's room open at the relay, and serves its readers.
type Host struct {
	Share
	// Serve handles the readers' requests within the rights of the share's token.
	Serve http.Handler
	Log   *slog.Logger
	// Stubborn makes Run retry even if the first connection to the relay fails.
	Stubborn bool

	inside *inside       // serves requests in this process
	slots  chan struct{} // one for each served reader
}

// ErrEnded is the cancellation cause of a Run whose share ended. It logs the readers out.
var ErrEnded = errors.New("the share has ended")

var errRefused = errors.New("rejected by the relay")

// Run keeps the room until ctx ends. It calls ready once: with nil when the room is open, or with the error that ends
// Run.
func (h *Host) Run(ctx context.Context, ready func(error)) {
	h.inside, h.slots = newInside(h.Serve), make(chan struct{}, maxReaders)
	defer h.inside.close()
	told := false
	say := func(err error) {
		if !told {
			told = true
			ready(err)
		}
	}
	var readers sync.WaitGroup
	defer readers.Wait()
	wait, kept := leastWait, false
	for ctx.Err() == nil {
		err := h.keep(ctx, &readers, func() {
			wait, kept = leastWait, true
			say(nil)
		})
		if !kept && !h.Stubborn {
			say(err)
			return
		}
		h.Log.Info("relay disconnected; retrying", "relay", h.Relay, "err", err, "in", wait)
		late := time.NewTimer(wait)
		select {
		case <-late.C:
		case <-ctx.Done():
			late.Stop()
		}
		wait = min(2*wait, mostWait)
	}
}

// keep keeps the room open until the connection ends. It calls kept when the relay has opened the room.
func (h *Host) keep(ctx context.Context, readers *sync.WaitGroup, kept func()) error {
	ws, err := h.dial(ctx, "relay/host", "")
	if err != nil {
		return err
	}
	defer ws.Close()
	stop := context.AfterFunc(ctx, func() { _ = ws.Close() })
	defer stop()
	heard := func() { _ = ws.SetReadDeadline(time.Now().Add(deadAfter)) }
	ws.SetPingHandler(func(data string) error {
		heard()
		return pong(ws, data)
	})
	for {
		heard()
		var told relay.HostNotice
		if err := ws.ReadJSON(&told); err != nil {
			var closed *websocket.CloseError
			if errors.As(err, &closed) && closed.Text != "" {
				return fmt.Errorf("%w: %s", errRefused, closed.Text)
			}
			return err
		}
		switch {
		case told.Room == relay.Room(h.Owner):
			kept()
		case told.Reader != "" && len(told.Reader) <= 64:
			select {
			case h.slots <- struct{}{}:
			default:
				h.Log.Info("too many readers through a relay", "relay", h.Relay)
				continue
			}
			readers.Go(func() {
				defer func() { <-h.slots }()
				if err := h.reader(ctx, told.Reader); err != nil && ctx.Err() == nil {
					h.Log.Debug("a reader through a relay", "relay", h.Relay, "err", err)
				}
			})
		}
	}
}
