package session

import (
	"testing"

	"github.com/longterm-dev/longterm/store/journal"
)

// TestFollowers_NotifiedOfUnannouncedBytes checks followers that read before the owner does. Output printed in between
// arrives without a notice, and the owner announces it.
// FEATURES: R24
func TestFollowers_NotifiedOfUnannouncedBytes(t *testing.T) {
	f := newFixture(t, journal.Options{})
	if err := f.WithScreen(testContext(t), func(View) {}); err != nil { // the owner runs
		t.Fatal(err)
	}
	w := f.Watch()
	defer w.Close()
	<-w.Output
	ctx := testContext(t)
	_ = f.WithScreen(ctx, func(View) { // keeps the owner busy
		f.fakeDevice.ring.Publish(copy(f.fakeDevice.ring.Room(), "one"))
		if !f.fakeDevice.ring.ShouldNotify() {
			t.Error("no first notice")
		}
		f.NotifyOutput()
		<-w.Output
		f.fakeDevice.ring.Publish(copy(f.fakeDevice.ring.Room(), "two"))
		if f.fakeDevice.ring.ShouldNotify() {
			t.Error("a second notice before the owner read")
		}
	})
	select {
	case <-w.Output:
	case <-ctx.Done():
		t.Error("the second piece was not announced")
	}
}
