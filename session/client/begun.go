//go:build unix

package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
)

// Begun is a request that was made before there was a client, with a connection of its own. It is not made again: the
// client's first request for the same takes its answer, and what becomes of it is as if the client had made it.
type Begun struct {
	Method, URI string
	Answer      io.ReadCloser // the answer, from its first byte
}

// goesOn is the transport of a client with a request that was begun.
type goesOn struct {
	*http.Transport
	begun *Begun
	taken atomic.Bool
}

func (g *goesOn) RoundTrip(r *http.Request) (*http.Response, error) {
	b := g.begun
	if r.Method != b.Method || r.URL.RequestURI() != b.URI || !g.taken.CompareAndSwap(false, true) {
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
