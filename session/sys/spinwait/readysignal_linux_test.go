package spinwait

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// TestReadySignal checks that a ReadySignal signals while enabled, and when enabled with a readable descriptor. Wake
// ends a wait.
func TestReadySignal(t *testing.T) {
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	w := os.NewFile(uintptr(p[1]), "w")
	defer w.Close()
	defer syscall.Close(p[0])
	b, err := NewReadySignal(p[0])
	if err != nil {
		t.Fatal(err)
	}
	looks, rings, ended := make(chan struct{}), make(chan bool), make(chan error)
	go func() {
		ended <- b.Wait(func() bool {
			looks <- struct{}{}
			return <-rings
		})
	}()
	look := func(enough bool) {
		t.Helper()
		select {
		case <-looks:
			rings <- enough
		case <-time.After(time.Minute):
			t.Fatal("got no signal")
		}
	}
	look(false)
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	look(false) // still enabled
	b.Wake()
	look(false)
	if err := b.SetEnabled(false); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("y")); err != nil {
		t.Fatal(err)
	}
	b.Wake() // an earlier signal would be counted twice
	look(false)
	if err := b.SetEnabled(true); err != nil {
		t.Fatal(err)
	}
	look(true)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := b.Wait(func() bool { return false }); err == nil {
		t.Error("got a wait at a closed signal")
	}
}
