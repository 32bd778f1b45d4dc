// Package memrelease returns memory to the system that a burst of work has left in a process that then waits for days,
// including grown stacks. It starts no goroutine: its process calls it at intervals, from one goroutine.
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
	freed        uint64 // allocated bytes at the last release
	last         uint64 // allocated bytes at the last call
	pending      int    // collections to run
	releasedIdle bool   // memory was released since the process became idle
}

const (
	// burst is the least allocation for which a release is worthwhile. tick is what an idle process allocates between
	// two calls, in bytes or as a fraction (part) of the heap: many idle sessions are many that are probed. most is a
	// heap that is too large to be scanned for it.
	burst, tick, part, most = 2 << 20, 512 << 10, 8, 256 << 20
	// crumbs is the slowly accumulated garbage that is worth one collection, in bytes or as a fraction of the heap. A
	// small heap is collected by itself only after it has grown by 4 MiB, which is 20 KiB for each of 200 idle
	// sessions.
	crumbs, crumbsPart = 512 << 10, 16
	// grains is the garbage that is worth one collection each time that the process becomes idle: its space will not be
	// reused.
	grains, grainsPart = 128 << 10, 64
	// small is a heap that its first collection would not make smaller: what the runtime writes down then, four lists of spans for
	// each size of object, takes more than is given back, and stays.
	small = 2 << 20
	// runs is how many collections there are: each halves the stacks that are too large.
	runs = 3
)

// due reports whether a collection must run now: given the total allocation, the heap in use, whether a collection ran
// before, and whether the process is idle.
func (m *Memory) due(allocated, live uint64, collected, rests bool) bool {
	moved := allocated - m.last
	m.last = allocated
	m.releasedIdle = m.releasedIdle && rests
	switch left := allocated - m.freed; {
	case m.freed == 0 || left >= burst: // its start is one
		m.pending = runs
	case m.pending == 0 && left >= max(crumbs, live/crumbsPart):
		m.pending = 1
	case m.pending == 0 && rests && !m.releasedIdle && left >= max(grains, live/grainsPart):
		m.pending, m.releasedIdle = 1, true
	}
	if m.pending == 0 || moved > max(tick, live/part) || live > most || !collected && live < small {
		return false
	}
	m.pending--
	m.freed = allocated
	return true
}

// MaybeRelease releases memory if it is worthwhile. It must be called every few seconds, with the idle state of the
// process. It reports whether memory was released: the process is then idle with a minimal heap.
func (m *Memory) MaybeRelease(rests bool) (given bool) {
	var is runtime.MemStats // package runtime/metrics would cost every verb 0.1 ms at its start
	runtime.ReadMemStats(&is)
	for m.due(is.TotalAlloc, is.HeapAlloc, is.NumGC > 0 || given, rests) {
		freeOSMemory()
		given = true
	}
	return given
}
