//go:build unix

package registry

import (
	"runtime/debug"
	"runtime/metrics"
)

// calm says when memory is given back: what a burst of work left behind stays with the process for as long as nothing
// more is done, stacks that grew in it among it.
type calm struct {
	freed   uint64 // allocated up to when memory was given back last, bytes
	last    uint64 // up to the last look
	pending int    // collections to go
}

const (
	// calmBurst is how much has to be allocated for it to be worth while, calmTick what is allocated between two looks
	// where nothing goes on, and calmMost a heap that is too large to be gone through for that, bytes.
	calmBurst, calmTick, calmMost = 2 << 20, 512 << 10, 256 << 20
	// calmRuns is how many collections there are: each halves the stacks that are too large.
	calmRuns = 3
)

// due says at a look that memory is to be given back, by what was allocated ever and what is in use.
func (c *calm) due(allocated, live uint64) bool {
	moved := allocated - c.last
	c.last = allocated
	if allocated-c.freed >= calmBurst {
		c.pending = calmRuns
	}
	if c.pending == 0 || moved > calmTick || live > calmMost {
		return false
	}
	c.pending--
	c.freed = allocated
	return true
}

// look is to be called every now and then.
func (c *calm) look() {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	if c.due(s[0].Value.Uint64(), s[1].Value.Uint64()) {
		debug.FreeOSMemory()
	}
}
