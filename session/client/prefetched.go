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
	Answer      io.ReadCloser // the answer, from its first byte
	Conn        net.Conn      // the connection of the response, for a stream to continue on; nil: it broke

	taken atomic.Bool
}

// take reports, once, whether the given request is the prefetched one.
func (b *PrefetchedRequest) take(method, uri string) bool {
	return b != nil && method == b.Method && uri == b.URI && b.taken.CompareAndSwap(false, true)
}

// goesOn is the HTTP transport of a client with a prefetched request.
type goesOn struct {
	*http.Transport
	begun *PrefetchedRequest
}

func (g *goesOn) RoundTrip(r *http.Request) (*http.Response, error) {
	b := g.begun
	if !b.take(r.Method, r.URL.RequestURI()) {
		return g.Transport.RoundTrip(r)
	}
	if r.Body != nil {
		_ = r.Body.Close() // it was sent
	}
	stop := context.AfterFunc(r.Context(), func() { _ = b.Answer.Close() })
	resp, err := http.ReadResponse(bufio.NewReader(b.Answer), r)
	if err != nil {
		stop()
		_ = b.Answer.Close()
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	resp.Body = &begunBody{resp.Body, b, stop}
	return resp, nil
}

// begunBody is the body of an answer whose connection ends with it.
type begunBody struct {
	io.ReadCloser
	begun *PrefetchedRequest
	stop  func() bool
}

func (b *begunBody) Close() error {
	b.stop()
	_ = b.ReadCloser.Close() // of the response that is no longer read
	return b.begun.Answer.Close()
}

// dialBegun dials for the stream at uri, or returns the connection of the prefetched request. It closes a prefetched
// one for another purpose.
func (c *Client) dialBegun(ctx context.Context, network, addr, uri string) (net.Conn, error) {
	if b := c.o.Begun; b != nil && b.Conn != nil {
		if b.take(http.MethodGet, uri) {
			return &begunStream{Conn: b.Conn, answer: bufio.NewReader(b.Answer)}, nil
		}
		if b.taken.CompareAndSwap(false, true) {
			_ = b.Conn.Close()
		}
	}
	return c.dial(ctx, network, addr)
}

// begunStream is the connection of a WebSocket whose handshake was prefetched. The WebSocket library sends the
// handshake again: begunStream discards that and returns the existing response with the key of the new handshake (RFC
// 6455, 4.2.2).
type begunStream struct {
	net.Conn
	answer *bufio.Reader
	asked  []byte
	opened bool   // the handshake was sent completely
	head   []byte // the unread rest of the response; nil before it was parsed
}

var headEnd = []byte("\r\n\r\n")

func (s *begunStream) Write(p []byte) (int, error) {
	if s.opened {
		return s.Conn.Write(p)
	}
	s.asked = append(s.asked, p...)
	s.opened = bytes.HasSuffix(s.asked, headEnd)
	return len(p), nil
}

func (s *begunStream) Read(p []byte) (int, error) {
	if s.head == nil {
		if err := s.readHead(); err != nil {
			return 0, err
		}
	}
	if len(s.head) > 0 {
		n := copy(p, s.head)
		s.head = s.head[n:]
		return n, nil
	}
	return s.answer.Read(p)
}

// readHead reads the answer's head, and has it answer our key.
func (s *begunStream) readHead() error {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(s.asked)))
	if err != nil {
		return fmt.Errorf("open the stream: %w", err)
	}
	const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + guid))
	const accept = "Sec-WebSocket-Accept: "
	head := []byte{}
	for !bytes.HasSuffix(head, headEnd) {
		line, err := s.answer.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		if len(line) > len(accept) && bytes.EqualFold(line[:len(accept)], []byte(accept)) {
			line = fmt.Appendf(nil, "%s%s\r\n", accept, base64.StdEncoding.EncodeToString(sum[:]))
		}
		head = append(head, line...)
	}
	s.head, s.asked = head, nil
	return nil
}
