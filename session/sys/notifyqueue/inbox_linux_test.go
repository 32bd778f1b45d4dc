package notifyqueue

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/longterm-dev/longterm/session/sys"
)

// put is what the kernel does.
func put(b *Inbox, place int, number uint64, pid uint32) {
	binary.NativeEndian.PutUint32(b.place(place)[8:], pid)
	b.number(place).Store(number)
}

// What one process was given the other one finds, until it is cleared; and where there is no room nothing is taken.
func TestInbox(t *testing.T) {
	theirs, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	ours, err := Map(theirs.File())
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	put(ours, 0, 7, 70)
	put(ours, 3, 9, 90)
	left, err := theirs.Pending()
	if err != nil || len(left) != 2 || left[0] != (sys.Notification{ID: 7, PID: 70}) || left[1] != (sys.Notification{ID: 9, PID: 90}) {
		t.Errorf("%+v, %v", left, err)
	}
	if n, ok := theirs.Find(9); !ok || n.PID != 90 {
		t.Errorf("%+v, %v", n, ok)
	}
	theirs.Clear(9)
	theirs.Clear(0)
	if n, ok := ours.Find(9); ok {
		t.Errorf("%+v is there still", n)
	}
	for _, b := range ours.place(3) {
		if b != 0 {
			t.Fatal("a place that is free has to be empty: the kernel asks for that")
		}
	}
	if _, ok := ours.Find(0); ok {
		t.Error("an empty place holds a call")
	}
	for i := range places {
		put(ours, i, uint64(i+1), 1)
	}
	theirs.Grant(os.Getpid())
	if _, err := theirs.Receive(-1); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
}

// One process takes at a time. One that was killed while it did is no hindrance.
func TestOneTakesAtATime(t *testing.T) {
	b, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.Grant(os.Getpid())
	b.taker().Store(int32(os.Getppid()))
	if _, err := b.Receive(-1); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	if _, err := b.Pending(); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	if _, err := b.Take(-1); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	other := exec.Command("/proc/self/exe", "-test.run=^$")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	b.taker().Store(int32(other.Process.Pid))
	if _, err := other.Process.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Pending(); err != nil {
		t.Error(err)
	}
	if b.taker().Load() != 0 {
		t.Error("it is not free again")
	}
}

// Who was not granted it, or is not any more, takes nothing into a place.
func TestGrant(t *testing.T) {
	b, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, pid := range []int{0, os.Getppid()} {
		b.Grant(pid)
		if _, err := b.Receive(-1); !errors.Is(err, ErrBusy) {
			t.Errorf("granted to %d: %v", pid, err)
		}
	}
	b.Grant(os.Getpid())
	if _, err := b.Receive(-1); err == nil || errors.Is(err, ErrBusy) {
		t.Errorf("no listener, and granted: %v", err)
	}
}

// A file that is no inbox is not mapped: memory beyond its end would be the end of who looks there.
func TestMap_RejectsOtherFiles(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := Map(f); err == nil {
		t.Error("an empty file was mapped")
	}
}
