package session

import (
	"io/fs"
	"os"
	"testing"

	"github.com/longterm-dev/longterm/store/journal"
)

// TestReleasedUnreadBytes_AreGap checks that bytes which the ring released before this owner read them are a counted
// gap in the history, and that later bytes are recorded once.
//
// FAULT: A12
func TestReleasedUnreadBytes_AreGap(t *testing.T) {
	f := newFixture(t, journal.Options{})
	f.print(f.Session, "before ")
	waitText(t, f.Session, "before")
	err := f.do(testContext(t), func() { // the owner is busy and does not read
		f.fakeDevice.ring.Publish(copy(f.fakeDevice.ring.Room(), "lost "))
		f.fakeDevice.ring.Ack(f.fakeDevice.ring.Head())
		f.fakeDevice.ring.Publish(copy(f.fakeDevice.ring.Room(), "after"))
	})
	if err != nil {
		t.Fatal(err)
	}
	f.NotifyOutput()
	waitText(t, f.Session, "after")
	buf := make([]byte, 100)
	n, next, gap, err := f.journal.ReadAt(7, buf)
	if err != nil || string(buf[:n]) != "after" || gap != 5 || next != 17 {
		t.Errorf("%q to %d after a gap of %d, %v", buf[:n], next, gap, err)
	}
}

// hookedDisk calls a function before each write.
type hookedDisk struct{ write func() }

func (d hookedDisk) OpenFile(name string, flag int, perm fs.FileMode) (journal.File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return hookedFile{f, d.write}, nil
}
func (d hookedDisk) ReadDir(dir string) ([]fs.DirEntry, error)   { return os.ReadDir(dir) }
func (d hookedDisk) MkdirAll(dir string, perm fs.FileMode) error { return os.MkdirAll(dir, perm) }
func (d hookedDisk) Rename(from, to string) error                { return os.Rename(from, to) }
func (d hookedDisk) Remove(name string) error                    { return os.Remove(name) }

// hookedFile is a file of a hookedDisk.
type hookedFile struct {
	*os.File
	write func()
}

func (f hookedFile) WriteAt(p []byte, off int64) (int, error) {
	f.write()
	return f.File.WriteAt(p, off)
}

// TestFollowers_NotifiedOfBytesReadByBusyOwner checks bytes that the owner read along with others: printed while it was
// busy, after the followers had checked, and without a notice because one was pending.
//
// FEATURES: R86
func TestFollowers_NotifiedOfBytesReadByBusyOwner(t *testing.T) {
	var f *fixture
	var w *Watch
	came := 0
	write := func() {
		if w == nil {
			return
		}
		ring := f.fakeDevice.ring
		switch came++; came {
		case 1: // printed with a notice; the followers check
			ring.Publish(copy(ring.Room(), "one "))
			if !ring.ShouldNotify() {
				t.Error("the first notice is missing")
			}
			f.NotifyOutput()
			<-w.Output
		case 2:
			ring.Publish(copy(ring.Room(), "two"))
			if ring.ShouldNotify() {
				t.Error("test ineffective: the owner was not busy")
			}
		}
	}
	f = newFixture(t, journal.Options{FS: hookedDisk{func() { write() }}})
	if err := f.do(testContext(t), func() { w = f.Watch(); <-w.Output }); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	f.print(f.Session, "zero ")
	if err := f.do(testContext(t), func() {}); err != nil {
		t.Fatal(err)
	}
	waitText(t, f.Session, "two")
	if err := f.do(testContext(t), func() {}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.Output:
	default:
		t.Error("followers not notified")
	}
}
