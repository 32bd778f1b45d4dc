package memrelease

import (
	"runtime"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/threads"
	"github.com/longterm-dev/longterm/session/sys"
)

// A burst of calls that wait in the kernel leaves threads behind. EndThreads ends them once they are idle. Those of the burst are
// counted, not all: how many threads the runtime adds depends on the load.
//
// FEATURES: R97
func TestThreadsEnd(t *testing.T) {
	const many = 40
	left := threads.Burst(t, many)
	for left() > fewThreads { // a thread's end takes the kernel a moment, as does its way to the idle ones
		EndThreads(sys.Threads())
		runtime.Gosched()
	}
	EndThreads(sys.Threads()) // few: nothing to do
	EndThreads(0)
}
