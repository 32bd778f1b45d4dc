package audit

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// Where records come again and again the writer looks by itself, and it ends doing so: each is written, in order, and who
// comes after a while wakes it.
func TestSoonWhileTheWriterTicks(t *testing.T) {
	l := open(t, Options{})
	ticking := func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.ticking
	}
	await := func(seq uint64) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for l.Head().Seq < seq {
			if err := l.Await(ctx, l.Head().Seq); err != nil {
				t.Fatal(err)
			}
		}
	}
	seq := uint64(0)
	for range 3 { // by a timer at first, by ticks, and by a timer again
		for range 20 {
			if err := l.Soon(Record{Kind: Execution}); err != nil {
				t.Fatal(err)
			}
			seq++
			await(seq)
		}
		for ticking() {
			runtime.Gosched()
		}
	}
	if add(t, l, Record{Kind: Line}); ticking() {
		t.Error("it ticks for a record that nobody was going to wait for")
	}
	sound(t, l.Dir(), seq+1)
}
