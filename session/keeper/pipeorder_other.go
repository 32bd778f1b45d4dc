//go:build unix && !linux

package keeper

import "github.com/longterm-dev/longterm/session/ring"

// pipeOrder is unknown on this system: output is read from the pipes in turn.
type pipeOrder struct{}

// newPipeOrder returns the order of two streams.
func newPipeOrder([]*stream) pipeOrder { return pipeOrder{} }

// firstReady reports that the order is unknown.
func (pipeOrder) firstReady() (ring.Stream, bool) { return 0, false }
func (pipeOrder) close()                          {}
