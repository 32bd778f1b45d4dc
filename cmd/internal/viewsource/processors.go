//go:build unix

package viewsource

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// viewerGC is the GC percentage of the viewer. The viewer uses only a few megabytes, and a collection during a flood of
// output would delay drawing.
const viewerGC = 400

// Tune configures this process as a viewer until leave is called: it uses one processor, until more is called. A key
// and its echo pass through half a dozen goroutines that each do little. With more processors the runtime wakes a
// thread for each of them, which costs more than their work, most of all on a busy machine. Drawing is the work of one
// goroutine, and new output does not delay it.
func Tune() (more, leave func()) {
	percent := debug.SetGCPercent(viewerGC)
	runtime.GOMAXPROCS(1)
	more = sync.OnceFunc(runtime.SetDefaultGOMAXPROCS)
	return more, func() {
		more()
		debug.SetGCPercent(percent)
	}
}
