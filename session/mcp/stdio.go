//go:build unix

package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio is a transport over standard input and output that answers what was asked before its input ended:
// a script may write its requests and close the pipe.
func Stdio() sdk.Transport { return &patient{&sdk.StdioTransport{}} }

// lastAnswers is how long calls under way may take when the input has ended.
const lastAnswers = 15 * time.Second

type patient struct{ sdk.Transport }

func (p *patient) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &patientConn{Connection: c, none: make(chan struct{}, 1)}, nil
}

// patientConn counts calls that have no answer yet.
type patientConn struct {
	sdk.Connection
	none chan struct{} // there may be none

	mu   sync.Mutex
	open int
}

func (c *patientConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && err == nil && r.IsCall() {
		c.count(1)
	}
	if err != nil {
		c.finish(ctx)
	}
	return m, err
}

// finish waits until all is answered.
func (c *patientConn) finish(ctx context.Context) {
	t := time.NewTimer(lastAnswers)
	defer t.Stop()
	for c.count(0) > 0 {
		select {
		case <-c.none:
		case <-ctx.Done():
			return
		case <-t.C:
			return
		}
	}
}

func (c *patientConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if _, ok := m.(*jsonrpc.Response); ok {
		c.count(-1)
	}
	return err
}

func (c *patientConn) count(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open += n; c.open == 0 {
		select {
		case c.none <- struct{}{}:
		default:
		}
	}
	return c.open
}
