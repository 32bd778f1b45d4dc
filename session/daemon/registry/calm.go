//go:build unix

package registry

import (
	"runtime"
	"runtime/debug"
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
	var m runtime.MemStats // package runtime/metrics costs every verb 0.1 ms before it begins
	runtime.ReadMemStats(&m)
	if c.due(m.TotalAlloc, m.HeapAlloc) {
		debug.FreeOSMemory()
	}
}
