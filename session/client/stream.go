//go:build unix

package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/render/termimage"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/sys/rawio/netconn"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
	"github.com/longterm-dev/longterm/vterm"
)

// maxMessage bounds one message of a stream, in bytes: a drawing of the largest screen.
const maxMessage = 256 << 20

// Stream is an open WebSocket to a session. One goroutine may read and another write.
type Stream struct {
	ID, Name     string // of the session, if the daemon sends them: saves a request
	IsPrefetched bool   // the stream is the prefetched one (Options.Prefetched)
	Ended        bool   // the session had already ended, if the daemon reports it

	ws     *websocket.Conn
	stop   func() bool // stops closing the connection at the end of the context
	frames attach.FrameReader
}

// handshakeTimeout bounds opening a stream.
const handshakeTimeout = 10 * time.Second

// StreamOptions configure how a client joins a session.
type StreamOptions struct {
	Cols, Rows int // of the client, in cells; 0 leaves the session's size alone
	ReadOnly   bool
	// Size is the session's size policy: latest, largest, smallest, fixed, or none to ignore this client's size. Empty
	// keeps the current policy.
	Size string
	// OwnScreen keeps the drawing on the alternate screen of the client's terminal.
	OwnScreen bool
	// History is how many lines of scrollback are printed before the drawing, for terminals that keep them.
	History int
	// AlreadyShown is set if the client's terminal already shows the session.
	AlreadyShown bool
	// DetachOthers detaches all other terminals from the session.
	DetachOthers bool
	// Resume, if it has a key, continues a lost stream of this client.
	Resume attach.Resume
	// Blocks draws images in frames as coloured half blocks, for text-only clients.
	Blocks bool
	// Pictures also adds the keys of these images to lines; Act requests them by key.
	Pictures bool
	// Inside lists the ids of the session that the client runs in, if any, and of the sessions that display this session.
	Inside []string
}

// Attach joins a session for a user's terminal. Stream.Read returns drawing and Infos.
func (s *Session) Attach(ctx context.Context, o StreamOptions) (*Stream, error) {
	return s.openStream(ctx, "/attach", o)
}

// Watch joins a session to show it. Stream.NextFrame returns the rows that changed.
func (s *Session) Watch(ctx context.Context, o StreamOptions) (*Stream, error) {
	return s.openStream(ctx, "/watch", o)
}

// openStream opens the WebSocket of a path, and starts the daemon if none runs.
func (s *Session) openStream(ctx context.Context, path string, o StreamOptions) (*Stream, error) {
	q := url.Values{}
	if o.Cols > 0 && o.Rows > 0 {
		q.Set("cols", strconv.Itoa(o.Cols))
		q.Set("rows", strconv.Itoa(o.Rows))
	}
	if o.ReadOnly {
		q.Set("read_only", "true")
	}
	if o.Size != "" {
		q.Set("size", o.Size)
	}
	if o.OwnScreen {
		q.Set("screen", "own")
	}
	if o.AlreadyShown {
		q.Set("again", "true")
	}
	if o.History > 0 {
		q.Set("history", strconv.Itoa(o.History))
	}
	if o.DetachOthers {
		q.Set("detach_others", "true")
	}
	if o.Blocks {
		q.Set("images", "blocks")
	}
	if o.Pictures {
		q.Set("pictures", "true")
	}
	for _, id := range o.Inside {
		q.Add("inside", id)
	}
	if o.Resume.Key != "" {
		q.Set("resume", o.Resume.Key)
		if o.Resume.AcksLate {
			q.Set("taken", "late")
		}
		for name, n := range map[string]uint64{"typed": o.Resume.Acknowledged, "from": o.Resume.From} {
			if n > 0 {
				q.Set(name, strconv.FormatUint(n, 10))
			}
		}
	}
	uri := api.Version + s.path + path + "?" + q.Encode()
	stop, isPrefetched := func() bool { return false }, false
	dialer := websocket.Dialer{HandshakeTimeout: handshakeTimeout, NetDialContext: func(dialing context.Context, network, addr string) (net.Conn, error) {
		conn, err := s.client.dialPrefetched(dialing, network, addr, uri)
		_, isPrefetched = conn.(*prefetchedConn)
		if err != nil {
			return nil, err
		}
		stop = context.AfterFunc(ctx, func() { _ = conn.Close() }) // the end of ctx ends the opening, reads and writes
		return netconn.Wrap(conn), nil
	}}
	p := newRetryPolicy()
	for try := 0; ; {
		ws, resp, err := dialer.DialContext(ctx, "ws://longterm"+uri, s.client.callerHeaders())
		if err == nil {
			ws.SetReadLimit(maxMessage)
			st := &Stream{ws: ws, stop: stop, IsPrefetched: isPrefetched, ID: resp.Header.Get(attach.IDHeader), Ended: resp.Header.Get(attach.EndedHeader) != ""}
			st.Name, _ = url.PathUnescape(resp.Header.Get(attach.NameHeader))
			return st, nil
		}
		stop()
		silent := s.client.unresponsiveError(ctx, err)
		switch {
		case resp != nil && resp.StatusCode >= 400:
			return nil, readError(resp)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, unixsock.ErrForeign):
			return nil, newForeignSocketError(err)
		case silent != nil:
			return nil, silent
		// the daemon died during the request: it was not executed
		case s.client.options.Remote == nil && resp == nil && isDisconnect(err) && p.pauseWithin(ctx, shortRetryTime):
			continue
		case try > 2 || !isNotServed(err):
			return nil, newUnavailableError(err, s.client.options.Dirs)
		}
		try++
		if err := s.client.Ensure(ctx); err != nil {
			if isPermanent(err) || !s.client.shouldRetryStart(ctx, p) {
				return nil, err
			}
			try = 0
		}
	}
}

// callerHeaders returns the headers that identify the caller.
func (c *Client) callerHeaders() http.Header {
	h := http.Header{}
	c.identify(h)
	return h
}

// Read returns the next message: bytes to draw, or an Info. When the session ends the error is a normal closure (see
// IsSessionEnded).
func (st *Stream) Read() (draw []byte, info *attach.Info, err error) {
	kind, b, err := st.ws.ReadMessage()
	if err != nil {
		return nil, nil, err
	}
	if kind == websocket.BinaryMessage {
		return b, nil, nil
	}
	info = &attach.Info{}
	if err := json.Unmarshal(b, info); err != nil {
		return nil, nil, fmt.Errorf("attach: %w", err)
	}
	return nil, info, nil
}

// NextFrame returns the next frame of a watched session.
func (st *Stream) NextFrame() (*attach.Frame, error) {
	kind, b, err := st.ws.ReadMessage()
	if err != nil {
		return nil, err
	}
	if kind == websocket.BinaryMessage {
		n := min(termimage.KeyLen, len(b))
		return &attach.Frame{Picture: &attach.Picture{Key: string(b[:n]), PNG: b[n:]}}, nil
	}
	return st.frames.Read(b)
}

// Type sends input.
func (st *Stream) Type(b []byte) error {
	return st.ws.WriteMessage(websocket.BinaryMessage, b)
}

// Resize sends the client's new size.
func (st *Stream) Resize(cols, rows int) error {
	return st.sendJSON(attach.Control{Cols: cols, Rows: rows})
}

// Describe sends the description of the client's terminal. The session uses it in answers to the program.
func (st *Stream) Describe(o vterm.Outer) error {
	return st.sendJSON(attach.Control{Outer: &o})
}

// Act sends an action in a watched session.
func (st *Stream) Act(a attach.Act) error {
	b, err := a.AppendJSON(nil)
	if err != nil {
		return err
	}
	return st.ws.WriteMessage(websocket.TextMessage, b)
}

// sendJSON sends a control message.
func (st *Stream) sendJSON(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return st.ws.WriteMessage(websocket.TextMessage, b)
}

// Close closes the stream, which leaves the session.
func (st *Stream) Close() error {
	st.stop()
	return st.ws.Close()
}

// IsDetached reports whether a stream ended because another client detached this one.
func IsDetached(err error) bool { return websocket.IsCloseError(err, attach.CloseDetached) }

// IsSessionEnded reports whether a stream ended because the session ended, not because the daemon disconnected.
func IsSessionEnded(err error) bool { return websocket.IsCloseError(err, websocket.CloseNormalClosure) }
