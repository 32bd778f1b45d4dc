// Package memrelease returns memory to the system that a burst of work has left in a process, which may then be idle for
// days. That includes grown stacks. It starts no goroutine: its process calls it at intervals, from one goroutine.
package memrelease

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

// freeOSMemory works like debug.FreeOSMemory. Package runtime exports it to runtime/debug by this name. That package cannot be
// imported here: a keeper starts before it is initialized.
//
//go:linkname freeOSMemory runtime/debug.freeOSMemory
func freeOSMemory()

// Memory tracks a process's own allocations. The zero value is that of a process that has just started.
type Memory struct {
	allocatedAtRelease  uint64 // allocated bytes at the last release
	allocatedAtLastCall uint64 // allocated bytes at the last call
	pending             int    // collections that are still to run
	releasedIdle        bool   // memory was released since the process became idle
}

const (
	// minBurst is the allocation in bytes after which a release is worthwhile.
	minBurst = 2 << 20
	// idleAllocation is what an idle process allocates at most between two calls, in bytes, idleAllocationPart the same
	// as a fraction of the heap: probes of many idle sessions allocate more.
	idleAllocation, idleAllocationPart = 512 << 10, 8
	// maxScannedHeap is the largest heap that is scanned to release memory.
	maxScannedHeap = 256 << 20
	// slowGarbage is the slowly accumulated garbage that is worth one collection, in bytes, slowGarbagePart the same as
	// a fraction of the heap. A small heap is collected by itself only after it has grown by 4 MiB, which is 20 KiB for
	// each of 200 idle sessions.
	slowGarbage, slowGarbagePart = 512 << 10, 16
	// idleGarbage is the garbage that is worth one collection each time the process becomes idle, as its space will not
	// be reused, idleGarbagePart the same as a fraction of the heap.
	idleGarbage, idleGarbagePart = 128 << 10, 64
	// smallHeap is a heap that its first collection would not make smaller. The runtime's lists of spans, four for each
	// size of object, then take more than is released, and stay.
	smallHeap = 2 << 20
	// collections is how many collections run: each halves the stacks that are too large.
	collections = 3
)

// isDue reports whether a collection must run now. allocated is the total allocation, live the heap in use. collected
// reports whether a collection ran before, idle whether the process is idle.
func (m *Memory) isDue(allocated, live uint64, collected, idle bool) bool {
	moved := allocated - m.allocatedAtLastCall
	m.allocatedAtLastCall = allocated
	m.releasedIdle = m.releasedIdle && idle
	switch left := allocated - m.allocatedAtRelease; {
	case m.allocatedAtRelease == 0 || left >= minBurst: // the process's start counts as a burst
		m.pending = collections
	case m.pending == 0 && left >= max(slowGarbage, live/slowGarbagePart):
		m.pending = 1
	case m.pending == 0 && idle && !m.releasedIdle && left >= max(idleGarbage, live/idleGarbagePart):
		m.pending, m.releasedIdle = 1, true
	}
	if m.pending == 0 || moved > max(idleAllocation, live/idleAllocationPart) || live > maxScannedHeap || !collected && live < smallHeap {
		return false
	}
	m.pending--
	m.allocatedAtRelease = allocated
	return true
}

// MaybeRelease releases memory if that is worthwhile. It must be called every few seconds, with the idle state of the
// process. released reports that memory was released: the process is then idle with a minimal heap.
func (m *Memory) MaybeRelease(idle bool) (released bool) {
	var stats runtime.MemStats // package runtime/metrics would add 0.1 ms to each start of the program
	runtime.ReadMemStats(&stats)
	for m.isDue(stats.TotalAlloc, stats.HeapAlloc, stats.NumGC > 0 || released, idle) {
		freeOSMemory()
		released = true
	}
	return released
}
