package listen

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/sys"
)

func create(t *testing.T) *Slots {
	t.Helper()
	s, err := Create()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// One process hears a listener at a time: who has slots of the same file gets the lock when the other one lets go, or ends.
//
// FEATURES: R107
func TestOneHears(t *testing.T) {
	ours := create(t)
	theirs, err := Open(ours.File())
	if err != nil {
		t.Fatal(err)
	}
	if err := theirs.Lock(); !errors.Is(err, ErrHeard) {
		t.Errorf("a second one hears: %v", err)
	}
	if err := errors.Join(ours.Unlock(), theirs.Lock()); err != nil {
		t.Fatal(err)
	}
	if err := ours.Lock(); !errors.Is(err, ErrHeard) {
		t.Errorf("a second one hears: %v", err)
	}
	if err := errors.Join(theirs.Close(), ours.Lock()); err != nil {
		t.Error(err)
	}
	if _, err := theirs.Take(0); !errors.Is(err, os.ErrClosed) {
		t.Errorf("it hears on: %v", err)
	}
}

// What stands in the slots is found by who has the file, and only that counts as room.
//
// FEATURES: R107
func TestLeftInSlots(t *testing.T) {
	s := create(t)
	write := func(slot int, id uint64) {
		t.Helper()
		b := binary.NativeEndian.AppendUint64(nil, id)
		if _, err := s.File().WriteAt(b, int64(slot)*sys.NotificationBytes); err != nil {
			t.Fatal(err)
		}
	}
	for slot := range Most {
		write(slot, uint64(slot+1))
	}
	write(7, 0)
	left, err := s.Left()
	if err != nil || len(left) != Most-1 || left[7].ID != 9 {
		t.Errorf("%d left, %v", len(left), err)
	}
	write(7, 8)
	if _, err := s.Take(int(os.Stdin.Fd())); !errors.Is(err, ErrNoRoom) {
		t.Errorf("a call was taken without room: %v", err)
	}
	if err := s.Clear(); err != nil {
		t.Fatal(err)
	}
	if left, err := s.Left(); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	if s.Done(1) {
		t.Error("a call of another process was ours")
	}
	file, err := os.Create(t.TempDir() + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := Open(file); err == nil {
		t.Error("an empty file has slots")
	}
}
