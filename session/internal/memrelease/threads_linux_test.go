package memrelease

import (
	"runtime"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/threads"
	"github.com/longterm-dev/longterm/session/sys"
)

// TestEndThreads starts a burst of calls that block in the kernel, and checks that its threads end once they are idle.
// Only those of the burst are counted: how many threads the runtime adds depends on the load.
//
// FEATURES: R97
func TestEndThreads(t *testing.T) {
	const many = 40
	left := threads.Burst(t, many)
	for left() > idleThreads { // the kernel needs a moment to end a thread, and the runtime to mark it idle
		EndThreads(sys.ThreadCount())
		runtime.Gosched()
	}
	EndThreads(sys.ThreadCount()) // few threads: nothing to do
	EndThreads(0)
}
