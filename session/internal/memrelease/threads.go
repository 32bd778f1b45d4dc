package memrelease

import (
	"runtime"
	"sync"
)

// idleThreads is the number of threads that an idle process keeps: one for each processor's work, the runtime's own, one
// for signals, and some for calls that block in the kernel.
const idleThreads = 10

// EndThreads ends surplus threads of the given number after a burst of calls that blocked in the kernel. The runtime
// keeps each thread that it ever started, with two stacks. Children that must end with their parent (prctl(2),
// PR_SET_PDEATHSIG) end with the thread that started them: a process with such children must not call this.
func EndThreads(threads int) {
	var bound sync.WaitGroup
	end := make(chan struct{})
	for range threads - idleThreads {
		bound.Add(1)
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
			bound.Done()
			<-end
		}()
	}
	bound.Wait() // each goroutine has locked a thread, an idle one if available
	close(end)
}
