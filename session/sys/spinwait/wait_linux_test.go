package spinwait

import (
	"os"
	"runtime"
	"testing"
)

// TestWaitReadable checks that a readable descriptor is reported, an unreadable one ends the wait after Period, and one
// goroutine waits at a time.
func TestWaitReadable(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fd := int(r.Fd())
	if WaitReadable(fd) {
		t.Error("got an empty pipe as readable")
	}
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if !WaitReadable(fd) {
		t.Error("got a pipe with a byte as unreadable")
	}
	isWaiting.Store(true)
	if WaitReadable(fd) || CanWait() {
		t.Error("got a second waiting goroutine")
	}
	isWaiting.Store(false)
	runtime.GOMAXPROCS(1)
	if WaitReadable(fd) {
		t.Error("got a wait with one processor")
	}
	runtime.GOMAXPROCS(2)
	if WaitReadable(-1) {
		t.Error("got a readable descriptor of none")
	}
	// The garbage collector stops all threads, also a waiting one.
	came := make(chan bool)
	other, otherW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go func() { came <- WaitReadable(int(other.Fd())) }()
	for range 100 {
		runtime.GC()
	}
	_ = otherW.Close() // the end of input counts as readable
	<-came
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if isWaiting.Load() {
		t.Error("got no wait after another one")
	}
}
