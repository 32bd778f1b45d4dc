//go:build unix

package client

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

// PrefetchedRequest is a request that was sent before the client existed, on its own connection. The client's first
// equal request takes its response, as if the client had sent it.
type PrefetchedRequest struct {
	Method, URI string
	Response    io.ReadCloser // response bytes, from the first one
	Conn        net.Conn      // connection of the response, for a stream to continue on; nil: lost

	isTaken atomic.Bool // a request took the response, or it was dropped
}

// take reports, at most once, whether the given request is the prefetched one.
func (b *PrefetchedRequest) take(method, uri string) bool {
	return b != nil && method == b.Method && uri == b.URI && b.isTaken.CompareAndSwap(false, true)
}

// prefetchTransport is the HTTP transport of a client with a prefetched request.
type prefetchTransport struct {
	*http.Transport
	prefetched *PrefetchedRequest
}

// RoundTrip returns the prefetched response for the prefetched request.
func (g *prefetchTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	b := g.prefetched
	if !b.take(r.Method, r.URL.RequestURI()) {
		return g.Transport.RoundTrip(r)
	}
	if r.Body != nil {
		_ = r.Body.Close() // already sent
	}
	stop := context.AfterFunc(r.Context(), func() { _ = b.Response.Close() })
	resp, err := http.ReadResponse(bufio.NewReader(b.Response), r)
	if err != nil {
		stop()
		_ = b.Response.Close()
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	resp.Body = &prefetchedBody{resp.Body, b, stop}
	return resp, nil
}

// prefetchedBody is the body of a prefetched response. Closing it closes the connection.
type prefetchedBody struct {
	io.ReadCloser
	prefetched *PrefetchedRequest
	stop       func() bool // stops closing the connection at the end of the context
}

// Close closes the body and the connection.
func (b *prefetchedBody) Close() error {
	b.stop()
	_ = b.ReadCloser.Close() // its error concerns unread data
	return b.prefetched.Response.Close()
}

// dialPrefetched returns the connection of the prefetched request if that opened the stream at uri, or else dials. It
// closes a prefetched connection for another purpose.
func (c *Client) dialPrefetched(ctx context.Context, network, addr, uri string) (net.Conn, error) {
	if b := c.options.Prefetched; b != nil && b.Conn != nil {
		if b.take(http.MethodGet, uri) {
			return &prefetchedConn{Conn: b.Conn, response: bufio.NewReader(b.Response)}, nil
		}
		if b.isTaken.CompareAndSwap(false, true) {
			_ = b.Conn.Close()
		}
	}
	return c.dial(ctx, network, addr)
}

// prefetchedConn is the connection of a WebSocket whose handshake was prefetched. The WebSocket library sends the
// handshake again: prefetchedConn discards that and returns the existing response with the key of the new handshake
// (RFC 6455, 4.2.2).
type prefetchedConn struct {
	net.Conn
	response      *bufio.Reader
	handshake     []byte // request of the WebSocket library
	handshakeSent bool   // the handshake is complete
	responseHead  []byte // unread rest of the response; nil before it was parsed
}

var headEnd = []byte("\r\n\r\n")

// Write stores the handshake; later data is sent.
func (s *prefetchedConn) Write(p []byte) (int, error) {
	if s.handshakeSent {
		return s.Conn.Write(p)
	}
	s.handshake = append(s.handshake, p...)
	s.handshakeSent = bytes.HasSuffix(s.handshake, headEnd)
	return len(p), nil
}

// Read returns the response to the handshake, then data from the connection.
func (s *prefetchedConn) Read(p []byte) (int, error) {
	if s.responseHead == nil {
		if err := s.readHead(); err != nil {
			return 0, err
		}
	}
	if len(s.responseHead) > 0 {
		n := copy(p, s.responseHead)
		s.responseHead = s.responseHead[n:]
		return n, nil
	}
	return s.response.Read(p)
}

// readHead reads the head of the response, and replaces its accept key.
func (s *prefetchedConn) readHead() error {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(s.handshake)))
	if err != nil {
		return fmt.Errorf("open the stream: %w", err)
	}
	const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + guid))
	const accept = "Sec-WebSocket-Accept: "
	head := []byte{}
	for !bytes.HasSuffix(head, headEnd) {
		line, err := s.response.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		if len(line) > len(accept) && bytes.EqualFold(line[:len(accept)], []byte(accept)) {
			line = fmt.Appendf(nil, "%s%s\r\n", accept, base64.StdEncoding.EncodeToString(sum[:]))
		}
		head = append(head, line...)
	}
	s.responseHead, s.handshake = head, nil
	return nil
}
