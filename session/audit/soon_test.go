package audit

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// TestAppendSoon_Ticks checks that AppendSoon makes the writer tick: each record is written, in order. After a while
// without records a new one wakes it.
func TestAppendSoon_Ticks(t *testing.T) {
	l := openLog(t, Options{})
	ticking := func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.isTicking
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
	for range 3 { // by a timer, by ticks, and by a timer again
		for range 20 {
			if err := l.AppendSoon(Record{Kind: Execution}); err != nil {
				t.Fatal(err)
			}
			seq++
			await(seq)
		}
		for ticking() {
			runtime.Gosched()
		}
	}
	if appendAll(t, l, Record{Kind: Line}); ticking() {
		t.Error("got a tick without AppendSoon")
	}
	checkSound(t, l.Dir(), seq+1)
}
