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

// Begun is a request that was made before there was a client, with a connection of its own. It is not made again: the
// client's first request for the same takes its answer, and what becomes of it is as if the client had made it.
type Begun struct {
	Method, URI string
	Answer      io.ReadCloser // the answer, from its first byte
	Conn        net.Conn      // that it comes by, for a stream to go on with; nil: it broke

	taken atomic.Bool
}

// take says that a request is the one that was begun, once.
func (b *Begun) take(method, uri string) bool {
	return b != nil && method == b.Method && uri == b.URI && b.taken.CompareAndSwap(false, true)
}

// goesOn is the transport of a client with a request that was begun.
type goesOn struct {
	*http.Transport
	begun *Begun
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
	begun *Begun
	stop  func() bool
}

func (b *begunBody) Close() error {
	b.stop()
	_ = b.ReadCloser.Close() // of what is read no more
	return b.begun.Answer.Close()
}

// dialBegun is dial for the stream at uri, or the connection of the one that was begun. One that was begun for something
// else is given up.
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

// begunStream is the connection of a WebSocket whose opening was asked for and maybe answered. Who opens it asks once
// more: that goes nowhere, and the answer is the one that there is, to the key that was shown here (RFC 6455, 4.2.2).
type begunStream struct {
	net.Conn
	answer *bufio.Reader
	asked  []byte
	opened bool   // all was asked
	head   []byte // of the answer, as far as it is still to be read; nil: it was not looked at
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
