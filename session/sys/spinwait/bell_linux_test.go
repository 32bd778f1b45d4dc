package spinwait

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// A bell rings when it is on, and when it is switched on and there is something already. Who waits can be woken.
func TestBell(t *testing.T) {
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	w := os.NewFile(uintptr(p[1]), "w")
	defer w.Close()
	defer syscall.Close(p[0])
	b, err := NewBell(p[0])
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
			t.Fatal("it does not ring")
		}
	}
	look(false)
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	look(false) // it was on
	b.Wake()
	look(false)
	if err := b.Set(false); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("y")); err != nil {
		t.Fatal(err)
	}
	b.Wake() // what rings before it would be looked for twice
	look(false)
	if err := b.Set(true); err != nil {
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
		t.Error("it is waited at a bell that is closed")
	}
}
