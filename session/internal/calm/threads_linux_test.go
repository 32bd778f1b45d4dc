package calm

import (
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

func threads(t *testing.T) int {
	t.Helper()
	l, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Skip(err)
	}
	return len(l)
}

// A burst of calls that wait in the kernel leaves threads behind, which end at rest.
//
// FEATURES: R97
func TestThreadsEnd(t *testing.T) {
	const burst = 40
	var waiting sync.WaitGroup
	var pipes [burst][2]int
	for i := range pipes {
		if err := syscall.Pipe(pipes[i][:]); err != nil {
			t.Fatal(err)
		}
		waiting.Go(func() {
			_, _ = syscall.Read(pipes[i][0], make([]byte, 1)) // a thread waits
			_ = syscall.Close(pipes[i][0])
		})
	}
	for threads(t) < burst {
		runtime.Gosched()
	}
	for i := range pipes {
		_ = syscall.Close(pipes[i][1])
	}
	waiting.Wait()
	most := threads(t)
	EndThreads(most)
	for until := time.Now().Add(time.Minute); threads(t) > fewThreads+runtime.GOMAXPROCS(0); runtime.Gosched() { // a thread's end takes a moment
		if time.Now().After(until) {
			t.Fatalf("%d of %d threads are there still", threads(t), most)
		}
	}
	EndThreads(threads(t)) // few: nothing to do
	EndThreads(0)
}
