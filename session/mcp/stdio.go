//go:build unix

package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio is a transport over standard input and output that answers pending requests after its input has ended: a script
// may write its requests and close the pipe.
//
// It answers an invalid line with an error and reads the next one.
func Stdio() sdk.Transport {
	out := &lockedWriter{to: os.Stdout}
	return &drainingTransport{Transport: &sdk.IOTransport{Reader: newLineFilter(os.Stdin, out), Writer: out}}
}

// lockedWriter writes each message in one Write.
type lockedWriter struct {
	mu sync.Mutex
	to io.WriteCloser
}

// Write implements io.Writer.
func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

func (w *lockedWriter) Close() error { return w.to.Close() }

// Bounds of a message.
const (
	maxMessage = 16 << 20 // bytes
	maxDepth   = 500      // nesting of arrays and objects
)

// lineFilter passes lines on that are messages, and answers the others: the SDK would end at the first of those.
type lineFilter struct {
	in            io.ReadCloser
	buf           *bufio.Reader
	out           io.Writer
	unread        []byte // part of the current line that was not read yet
	allowsBatches bool   // the client started with a revision that has batches
}

// newLineFilter returns a filter of in that answers on out.
func newLineFilter(in io.ReadCloser, out io.Writer) *lineFilter {
	return &lineFilter{in: in, buf: bufio.NewReaderSize(in, 64<<10), out: out}
}

func (l *lineFilter) Close() error { return l.in.Close() }

// Read returns the next valid messages.
func (l *lineFilter) Read(p []byte) (int, error) {
	for len(l.unread) == 0 {
		line, long, err := l.line()
		if err != nil && len(line) == 0 {
			return 0, err
		}
		why, code, id := "", jsonrpc.CodeParseError, "null"
		switch {
		case len(bytes.TrimSpace(line)) == 0 && !long:
			continue
		case long:
			why = fmt.Sprintf("a message has %d bytes at most", maxMessage)
		case !json.Valid(line):
			why = "the line is no JSON; a message is one line"
		case depth(line) > maxDepth:
			why = fmt.Sprintf("a message has %d levels at most", maxDepth)
		default:
			if id, why = l.checkMessage(line); why == "" {
				l.unread = line
				continue
			}
			code = jsonrpc.CodeInvalidRequest
		}
		said, _ := json.Marshal(why) // a text
		answer := fmt.Sprintf(answerWithError, id, code, said)
		if _, err := io.WriteString(l.out, answer); err != nil {
			return 0, err
		}
	}
	n := copy(p, l.unread)
	l.unread = l.unread[n:]
	return n, nil
}

// line returns the next line with its end, or the start of an overlong one, whose remainder it skips.
func (l *lineFilter) line() (line []byte, long bool, err error) {
	for {
		part, err := l.buf.ReadSlice('\n')
		if !long {
			line = append(line, part...)
		}
		if len(line) > maxMessage {
			line, long = line[:64], true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if err != nil && len(line) > 0 { // the last line may have no end
				line = append(line, '\n')
			}
			return line, long, err
		}
	}
}

// depth returns the nesting depth of valid JSON.
func depth(text []byte) (deepest int) {
	d, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			d++
			deepest = max(deepest, d)
		case c == ']' || c == '}':
			d--
		}
	}
	return deepest
}

// drainTimeout is how long calls in progress may take after the input has ended.
const drainTimeout = 15 * time.Second

// shutdownTimeout is how long pending answers may take after a request to end the server.
const shutdownTimeout = 2 * time.Second

// drainingTransport is a transport that answers pending calls before it ends.
type drainingTransport struct {
	sdk.Transport
	stop <-chan struct{} // closed by a request to end the server; nil: never
}

// Connect implements sdk.Transport.
func (p *drainingTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConn{Connection: c, stop: p.stop, drained: make(chan struct{}, 1), openCalls: map[jsonrpc.ID]bool{}}, nil
}

// drainingConn tracks the calls without an answer. A call that its client has canceled gets none.
type drainingConn struct {
	sdk.Connection
	stop    <-chan struct{}
	drained chan struct{} // signals that no call may be left

	mu        sync.Mutex
	openCalls map[jsonrpc.ID]bool // by id; true: the call was canceled
}

// Read returns the next message of the client. It implements sdk.Connection.
func (c *drainingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.next(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && err == nil {
		c.noteRequest(r)
	}
	if err != nil {
		c.drain(ctx)
	}
	return m, err
}

// next returns the next message, or io.EOF also when the server was asked to end.
func (c *drainingConn) next(ctx context.Context) (jsonrpc.Message, error) {
	type read struct {
		m   jsonrpc.Message
		err error
	}
	came := make(chan read, 1)
	go func() {
		m, err := c.Connection.Read(ctx)
		came <- read{m, err}
	}()
	select {
	case r := <-came:
		return r.m, r.err
	case <-c.stop: // later input is discarded: the program ends
		return nil, io.EOF
	}
}

// drain waits until all calls are answered.
func (c *drainingConn) drain(ctx context.Context) {
	t := time.NewTimer(drainTimeout)
	defer t.Stop()
	ends := c.stop
	for c.hasOpenCalls() {
		select {
		case <-c.drained:
		case <-ends:
			ends = nil
			t.Reset(shutdownTimeout)
		case <-ctx.Done():
			return
		case <-t.C:
			return
		}
	}
}

// Write sends a message and records the answers in it. It implements sdk.Connection.
func (c *drainingConn) Write(ctx context.Context, m jsonrpc.Message) error {
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, m)
	}
	defer c.noteAnswer(r.ID)
	c.mu.Lock()
	cancelled := c.openCalls[r.ID]
	c.mu.Unlock()
	if cancelled {
		return nil
	}
	return c.Connection.Write(ctx, m)
}

// noteRequest records a call or its cancellation.
func (c *drainingConn) noteRequest(r *jsonrpc.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.IsCall() {
		c.openCalls[r.ID] = false
		return
	}
	var of struct {
		RequestID any `json:"requestId"`
	}
	if r.Method != "notifications/cancelled" || json.Unmarshal(r.Params, &of) != nil {
		return
	}
	if id, err := jsonrpc.MakeID(of.RequestID); err == nil {
		if _, open := c.openCalls[id]; open {
			c.openCalls[id] = true
		}
	}
}

// noteAnswer records an answer.
func (c *drainingConn) noteAnswer(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if delete(c.openCalls, id); len(c.openCalls) > 0 {
		return
	}
	select {
	case c.drained <- struct{}{}:
	default:
	}
}

// hasOpenCalls reports whether a call is unanswered.
func (c *drainingConn) hasOpenCalls() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.openCalls) > 0
}
