// Package calm gives memory back to the system that a burst of work has left with a process which then waits for days, stacks
// that grew in it among it. It starts nothing by itself: its process looks every now and then, from one goroutine.
package calm

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

// freeOSMemory is debug.FreeOSMemory. Package runtime gives it to runtime/debug by this name; that one cannot be imported here:
// a keeper begins before it is initialised.
//
//go:linkname freeOSMemory runtime/debug.freeOSMemory
func freeOSMemory()

// Memory is what is known of a process's own. The zero value is that of one that has just begun.
type Memory struct {
	freed   uint64 // allocated up to when memory was given back last, bytes
	last    uint64 // up to the last look
	pending int    // collections to go
	rested  bool   // memory was given back since the process has come to rest
}

const (
	// burst is how much has to be allocated for it to be worth while, tick what is allocated between two looks
	// where nothing goes on, in bytes or as a part of what is in use: many sessions at rest are many that are looked at. most is
	// a heap that is too large to be gone through for that.
	burst, tick, part, most = 2 << 20, 512 << 10, 8, 256 << 20
	// crumbs is how much that was left behind bit by bit is worth one collection, in bytes or as a part of what is in use: a small
	// heap is collected by itself only once it has grown by 4 MiB, which is 20 KiB for each of 200 sessions at rest.
	crumbs, crumbsPart = 512 << 10, 16
	// grains is how much that is, once each time that the process comes to rest: nothing will be made of the room between what stays.
	grains, grainsPart = 128 << 10, 64
	// small is a heap that its first collection would not make smaller: what the runtime writes down then, four lists of spans for
	// each size of object, takes more than is given back, and stays.
	small = 2 << 20
	// runs is how many collections there are: each halves the stacks that are too large.
	runs = 3
)

// due says, by what was allocated ever, what is in use, whether there was a collection before and whether the process is at rest,
// that there is to be one now.
func (m *Memory) due(allocated, live uint64, collected, rests bool) bool {
	moved := allocated - m.last
	m.last = allocated
	m.rested = m.rested && rests
	switch left := allocated - m.freed; {
	case m.freed == 0 || left >= burst: // its start is one
		m.pending = runs
	case m.pending == 0 && left >= max(crumbs, live/crumbsPart):
		m.pending = 1
	case m.pending == 0 && rests && !m.rested && left >= max(grains, live/grainsPart):
		m.pending, m.rested = 1, true
	}
	if m.pending == 0 || moved > max(tick, live/part) || live > most || !collected && live < small {
		return false
	}
	m.pending--
	m.freed = allocated
	return true
}

// Look gives memory back if it is time to. It is to be called every few seconds, and told whether nothing has happened for a while.
// given: the process is calm, and all that it had was given back just now.
func (m *Memory) Look(rests bool) (given bool) {
	var is runtime.MemStats // package runtime/metrics costs every verb 0.1 ms before it begins
	runtime.ReadMemStats(&is)
	for m.due(is.TotalAlloc, is.HeapAlloc, is.NumGC > 0 || given, rests) {
		freeOSMemory()
		given = true
	}
	return given
}
