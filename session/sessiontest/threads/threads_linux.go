// Package threads makes a process start idle threads, for tests that it releases them.
package threads

import (
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Burst blocks n goroutines in system calls at the same time, each on its own thread, and lets them end. left returns how many
// of the n threads still exist.
func Burst(t testing.TB, n int) (left func() int) {
	t.Helper()
	tids := make([]int, n)
	pipes := make([][2]int, n)
	var locked, ended sync.WaitGroup
	locked.Add(n)
	for i := range n {
		if err := syscall.Pipe(pipes[i][:]); err != nil {
			t.Fatal(err)
		}
		ended.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread() // the runtime keeps the thread
			tids[i] = syscall.Gettid()
			locked.Done()
			_, _ = syscall.Read(pipes[i][0], make([]byte, 1)) // until the other end is closed
			_ = syscall.Close(pipes[i][0])
		})
	}
	locked.Wait() // all have a thread at the same time, so no two the same
	for i := range n {
		_ = syscall.Close(pipes[i][1])
	}
	ended.Wait()
	return func() int {
		count := 0
		for _, tid := range tids {
			if unix.Tgkill(os.Getpid(), tid, 0) == nil {
				count++
			}
		}
		return count
	}
}
