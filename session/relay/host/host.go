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
		Proxy: http.ProxyFromEnvironment, HandshakeTimeout: dialTimeout, Subprotocols: []string{relay.Protocol},
		ReadBufferSize: 4096, WriteBufferSize: 4096,
	}
	ws, resp, err := d.DialContext(ctx, "ws"+strings.TrimPrefix(s.Relay, "http")+path, h)
	if err == nil {
		ws.SetReadLimit(relay.MaxMessage)
		return ws, nil
	}
	if resp != nil && resp.Body != nil {
		var answer struct{ Message string }
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		if json.Unmarshal(b, &answer) != nil || answer.Message == "" {
			answer.Message = "not a relay"
		}
		return nil, fmt.Errorf("relay %s rejected the connection: %s: %s", s.Relay, resp.Status, answer.Message)
	}
	return nil, err
}

const (
	dialTimeout      = 10 * time.Second
	writeTimeout     = 60 * time.Second
	pingTimeout      = 80 * time.Second // without a ping of the relay, the connection is lost
	handshakeTimeout = 15 * time.Second // limit of a reader's handshake
	minBackoff       = time.Second
	maxBackoff       = time.Minute

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
	// RetryFirst makes Run retry even if the first connection to the relay fails.
	RetryFirst bool

	server      *inProcessServer // serves requests in this process
	readerSlots chan struct{}    // one for each served reader
}

// ErrEnded is the cancellation cause of a Run whose share ended. It logs the readers out.
var ErrEnded = errors.New("the share has ended")

var errRejected = errors.New("rejected by the relay")

// Run keeps the room until ctx ends. It calls ready once: with nil when the room is open, or with the error that ends
// Run.
func (h *Host) Run(ctx context.Context, ready func(error)) {
	h.server, h.readerSlots = newInProcessServer(h.Serve), make(chan struct{}, maxReaders)
	defer h.server.close()
	isReported := false
	report := func(err error) {
		if !isReported {
			isReported = true
			ready(err)
		}
	}
	var readers sync.WaitGroup
	defer readers.Wait()
	wait, kept := minBackoff, false
	for ctx.Err() == nil {
		err := h.keepRoom(ctx, &readers, func() {
			wait, kept = minBackoff, true
			report(nil)
		})
		if !kept && !h.RetryFirst {
			report(err)
			return
		}
		h.Log.Info("relay disconnected; retrying", "relay", h.Relay, "err", err, "in", wait)
		late := time.NewTimer(wait)
		select {
		case <-late.C:
		case <-ctx.Done():
			late.Stop()
		}
		wait = min(2*wait, maxBackoff)
	}
}

// keepRoom keeps the room open until the connection ends. It calls kept when the relay has opened the room.
func (h *Host) keepRoom(ctx context.Context, readers *sync.WaitGroup, kept func()) error {
	ws, err := h.dial(ctx, "relay/host", "")
	if err != nil {
		return err
	}
	defer ws.Close()
	stop := context.AfterFunc(ctx, func() { _ = ws.Close() })
	defer stop()
	heard := func() { _ = ws.SetReadDeadline(time.Now().Add(pingTimeout)) }
	ws.SetPingHandler(func(data string) error {
		heard()
		return pong(ws, data)
	})
	for {
		heard()
		var notice relay.HostNotice
		if err := ws.ReadJSON(&notice); err != nil {
			var closed *websocket.CloseError
			if errors.As(err, &closed) && closed.Text != "" {
				return fmt.Errorf("%w: %s", errRejected, closed.Text)
			}
			return err
		}
		switch {
		case notice.Room == relay.Room(h.Owner):
			kept()
		case notice.Reader != "" && len(notice.Reader) <= 64:
			select {
			case h.readerSlots <- struct{}{}:
			default:
				h.Log.Info("too many readers through a relay", "relay", h.Relay)
				continue
			}
			readers.Go(func() {
				defer func() { <-h.readerSlots }()
				if err := h.serveReader(ctx, notice.Reader); err != nil && ctx.Err() == nil {
					h.Log.Debug("a reader through a relay", "relay", h.Relay, "err", err)
				}
			})
		}
	}
}
