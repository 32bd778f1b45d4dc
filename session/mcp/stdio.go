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
	return &drainingTransport{Transport: &sdk.IOTransport{Reader: newLines(os.Stdin, out), Writer: out}}
}

// lockedWriter writes messages whole, each in one Write.
type lockedWriter struct {
	mu sync.Mutex
	to io.WriteCloser
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

func (w *lockedWriter) Close() error { return w.to.Close() }

// Bounds of a message.
const (
	maxMessage = 16 << 20 // bytes
	maxDepth   = 500      // of arrays and objects within each other
)

// lines passes lines on that are messages, and answers the others: the SDK ends at the first of those.
type lines struct {
	in    io.ReadCloser
	buf   *bufio.Reader
	out   io.Writer
	rest  []byte
	batch bool // the client began with a revision that has batches
}

func newLines(in io.ReadCloser, out io.Writer) *lines {
	return &lines{in: in, buf: bufio.NewReaderSize(in, 64<<10), out: out}
}

func (l *lines) Close() error { return l.in.Close() }

func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
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
			if id, why = l.message(line); why == "" {
				l.rest = line
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
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// line returns the next line with its end, or the start of an overlong one, whose rest it skips.
func (l *lines) line() (line []byte, long bool, err error) {
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

// lastAnswers is how long calls under way may take when the input has ended.
const lastAnswers = 15 * time.Second

// lastMoment is how long pending answers may take after the server was asked to end.
const lastMoment = 2 * time.Second

// drainingTransport is a transport that answers pending calls before it ends.
type drainingTransport struct {
	sdk.Transport
	ends <-chan struct{} // closed when the server is asked to end; nil: never
}

func (p *drainingTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConn{Connection: c, ends: p.ends, drained: make(chan struct{}, 1), open: map[jsonrpc.ID]bool{}}, nil
}

// drainingConn tracks the calls without an answer. A call that its client has canceled gets none.
type drainingConn struct {
	sdk.Connection
	ends    <-chan struct{}
	drained chan struct{} // signals that no call may be left

	mu   sync.Mutex
	open map[jsonrpc.ID]bool // true: it was cancelled
}

func (c *drainingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.next(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && err == nil {
		c.noteRequest(r)
	}
	if err != nil {
		c.finish(ctx)
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
	case <-c.ends: // later input is discarded: the program ends
		return nil, io.EOF
	}
}

// finish waits until all is answered.
func (c *drainingConn) finish(ctx context.Context) {
	t := time.NewTimer(lastAnswers)
	defer t.Stop()
	ends := c.ends
	for c.waits() {
		select {
		case <-c.drained:
		case <-ends:
			ends = nil
			t.Reset(lastMoment)
		case <-ctx.Done():
			return
		case <-t.C:
			return
		}
	}
}

func (c *drainingConn) Write(ctx context.Context, m jsonrpc.Message) error {
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, m)
	}
	defer c.noteAnswer(r.ID)
	c.mu.Lock()
	cancelled := c.open[r.ID]
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
		c.open[r.ID] = false
		return
	}
	var of struct {
		RequestID any `json:"requestId"`
	}
	if r.Method != "notifications/cancelled" || json.Unmarshal(r.Params, &of) != nil {
		return
	}
	if id, err := jsonrpc.MakeID(of.RequestID); err == nil {
		if _, open := c.open[id]; open {
			c.open[id] = true
		}
	}
}

func (c *drainingConn) noteAnswer(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if delete(c.open, id); len(c.open) > 0 {
		return
	}
	select {
	case c.drained <- struct{}{}:
	default:
	}
}

// waits reports whether a call is unanswered.
func (c *drainingConn) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) > 0
}
