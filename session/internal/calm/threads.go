package calm

import (
	"runtime"
	"sync"
)

// fewThreads is how many threads a process at rest keeps: one for each processor's work, the runtime's own, one for signals, and some
// for calls that wait in the kernel.
const fewThreads = 10

// EndThreads ends those of a process's threads that a burst of calls that waited in the kernel has left behind. The runtime keeps each that
// it ever began, with two stacks. Children that are to end with their parent (prctl(2), PR_SET_PDEATHSIG) end with the thread that
// began them: a process that has such may not call this.
func EndThreads(are int) {
	var bound sync.WaitGroup
	end := make(chan struct{})
	for range are - fewThreads {
		bound.Add(1)
		go func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
			bound.Done()
			<-end
		}()
	}
	bound.Wait() // each has a thread of its own, which did nothing before, if there was one
	close(end)
}
