package ring

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// TestSharedFile_SizeIsSealed checks that the size of the mapped file cannot be changed, however it is opened. Its
// pages can still be released.
// FEATURES: R93
func TestSharedFile_SizeIsSealed(t *testing.T) {
	w, f, err := Create(MinSize)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(w.Close(), f.Close()); err != nil {
			t.Error(err)
		}
	}()
	other, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, size := range []int64{0, headerSize, headerSize + 2*MinSize} {
		if err := other.Truncate(size); !errors.Is(err, syscall.EPERM) {
			t.Errorf("truncation to %d: got error %v", size, err)
		}
	}
	if _, err := os.OpenFile(other.Name(), os.O_RDWR|os.O_TRUNC, 0); !errors.Is(err, syscall.EPERM) {
		t.Errorf("open with truncation: got error %v", err)
	}
	writeAll(t, w, []byte("abc"))
	w.Ack(3)
	if err := w.Trim(); err != nil {
		t.Error(err)
	}
}
