package spinwait

import (
	"os"
	"runtime"
	"testing"
)

// What can be read is said so; what cannot, nobody waits for for long; and one goroutine waits at a time.
func TestFor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fd := int(r.Fd())
	if For(fd) {
		t.Error("an empty pipe can be read")
	}
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if !For(fd) {
		t.Error("a byte that is there was not noticed")
	}
	lingering.Store(true)
	if For(fd) || Can() {
		t.Error("a second one waited")
	}
	lingering.Store(false)
	runtime.GOMAXPROCS(1)
	if For(fd) {
		t.Error("waited with the only processor there is")
	}
	runtime.GOMAXPROCS(2)
	if For(-1) {
		t.Error("no descriptor can be read")
	}
	// The collector stops all threads, and a waiting one with them.
	came := make(chan bool)
	other, otherW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go func() { came <- For(int(other.Fd())) }()
	for range 100 {
		runtime.GC()
	}
	_ = otherW.Close() // an end can be read, too
	<-came
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if lingering.Load() {
		t.Error("who waited does not any more")
	}
}
