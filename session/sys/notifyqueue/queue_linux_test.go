package notifyqueue

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/longterm-dev/longterm/session/sys"
)

// storeCall writes a call into a slot, as the kernel does.
func storeCall(b *Queue, place int, number uint64, pid uint32) {
	binary.NativeEndian.PutUint32(b.slot(place)[8:], pid)
	b.slotID(place).Store(number)
}

// TestQueue checks that a call that one process received is visible to the other until it is cleared; a full queue
// receives nothing.
func TestQueue(t *testing.T) {
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
	storeCall(ours, 0, 7, 70)
	storeCall(ours, 3, 9, 90)
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
		t.Errorf("got %+v after Clear", n)
	}
	for _, b := range ours.slot(3) {
		if b != 0 {
			t.Fatal("got a free slot that is not empty")
		}
	}
	if _, ok := ours.Find(0); ok {
		t.Error("got a call in an empty slot")
	}
	for i := range slotCount {
		storeCall(ours, i, uint64(i+1), 1)
	}
	theirs.Grant(os.Getpid())
	if _, err := theirs.Receive(-1); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
}

// TestQueue_OneReceiverAtATime checks that only one process receives at a time. A killed receiver does not block
// others.
func TestQueue_OneReceiverAtATime(t *testing.T) {
	b, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.Grant(os.Getpid())
	b.lockHolder().Store(int32(os.Getppid()))
	if _, err := b.Receive(-1); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	if _, err := b.Pending(); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	if _, err := b.ReceiveUnstored(-1); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	other := exec.Command("/proc/self/exe", "-test.run=^$")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	b.lockHolder().Store(int32(other.Process.Pid))
	if _, err := other.Process.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Pending(); err != nil {
		t.Error(err)
	}
	if b.lockHolder().Load() != 0 {
		t.Error("got a locked queue after the receiver's death")
	}
}

// TestQueue_Grant checks that only the granted process may receive into a slot.
func TestQueue_Grant(t *testing.T) {
	b, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, pid := range []int{0, os.Getppid()} {
		b.Grant(pid)
		if _, err := b.Receive(-1); !errors.Is(err, ErrBusy) {
			t.Errorf("granted to %d: got %v", pid, err)
		}
	}
	b.Grant(os.Getpid())
	if _, err := b.Receive(-1); err == nil || errors.Is(err, ErrBusy) {
		t.Errorf("no listener, and granted: %v", err)
	}
}

// TestMap_RejectsOtherFiles checks that a file of another size is not mapped: access beyond its end would kill the
// process.
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
