//go:build unix

package viewsource

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// viewerGC has garbage collected when there is so much more of it than of what is used, in percent. A viewer uses a few
// megabytes, each cell that a flood changes leaves some garbage, and it is drawing that is held up while that is collected.
const viewerGC = 400

// Tune has the process run as a viewer does, until leave is called: on one processor, until more is called. A key and its echo
// pass through half a dozen goroutines of the viewer, each of which has next to nothing to do: with more processors the runtime
// wakes a thread for each of them, which costs more than all that they do, most of all where others want the processor too.
// Drawing is one goroutine's work, and is not put off by what comes meanwhile.
func Tune() (more, leave func()) {
	percent := debug.SetGCPercent(viewerGC)
	runtime.GOMAXPROCS(1)
	more = sync.OnceFunc(runtime.SetDefaultGOMAXPROCS)
	return more, func() {
		more()
		debug.SetGCPercent(percent)
	}
}
