package session

import (
	"testing"

	"github.com/longterm-dev/longterm/store/journal"
)

// Bytes that the ring gave back before this owner had them are a counted gap in the history,
// and what comes after them is there once.
//
// FAULT: A12
func TestBytesGivenBackUnreadAreAGap(t *testing.T) {
	f := newFixture(t, journal.Options{})
	f.print(f.Session, "before ")
	waitText(t, f.Session, "before")
	err := f.do(testContext(t), func() { // the owner is busy: it does not look meanwhile
		f.fake.ring.Publish(copy(f.fake.ring.Room(), "lost "))
		f.fake.ring.Ack(f.fake.ring.Head())
		f.fake.ring.Publish(copy(f.fake.ring.Room(), "after"))
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Notice()
	waitText(t, f.Session, "after")
	buf := make([]byte, 100)
	n, next, gap, err := f.journal.ReadAt(7, buf)
	if err != nil || string(buf[:n]) != "after" || gap != 5 || next != 17 {
		t.Errorf("%q to %d after a gap of %d, %v", buf[:n], next, gap, err)
	}
}
