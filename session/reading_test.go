package session

import (
	"testing"

	"github.com/longterm-dev/longterm/store/journal"
)

// Followers look when they are told, and that may be before the owner does: what is printed
// in between comes without a notice, and is told of by the owner.
// FEATURES: R24
func TestFollowers_NotifiedOfUnannouncedBytes(t *testing.T) {
	f := newFixture(t, journal.Options{})
	if err := f.WithScreen(testContext(t), func(View) {}); err != nil { // it runs
		t.Fatal(err)
	}
	w := f.Watch()
	defer w.Close()
	<-w.Output
	ctx := testContext(t)
	_ = f.WithScreen(ctx, func(View) { // the owner is busy here
		f.fake.ring.Publish(copy(f.fake.ring.Room(), "one"))
		if !f.fake.ring.ShouldNotify() {
			t.Error("the first notice is not due")
		}
		f.Notice()
		<-w.Output
		f.fake.ring.Publish(copy(f.fake.ring.Room(), "two"))
		if f.fake.ring.ShouldNotify() {
			t.Error("the second notice is due before the owner looked")
		}
	})
	select {
	case <-w.Output:
	case <-ctx.Done():
		t.Error("nobody told of the second piece")
	}
}
