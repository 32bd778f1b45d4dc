package retryqueue

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestRetryLoop_UntilWritten checks that one loop at a time retries a value until it is written.
func TestRetryLoop_UntilWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Set[string, int]
		var tries atomic.Int32
		var room atomic.Bool
		try := func() {
			tries.Add(1)
			for k := range s.All() {
				if room.Load() {
					s.Drop(k)
				}
			}
		}
		note := func(k string, v int, isNew, begin bool) {
			t.Helper()
			if n, b := s.Add(k, v); n != isNew || b != begin {
				t.Fatalf("%s: new %v, begin %v", k, n, b)
			}
		}
		note("a", 1, true, true)
		ended := make(chan struct{})
		go func() { s.RetryLoop(try); close(ended) }()
		note("b", 2, true, false)
		note("a", 3, false, false)
		time.Sleep(2*RetryInterval + 1)
		if v, there := s.Get("a"); tries.Load() != 2 || v != 3 || !there {
			t.Errorf("%d tries, %d, %v", tries.Load(), v, there)
		}
		room.Store(true)
		<-ended
		if tries.Load() != 3 || len(s.All()) > 0 || s.Drop("a") {
			t.Errorf("%d tries, %v left", tries.Load(), s.All())
		}
		note("c", 1, true, true) // again
	})
}

// TestStop checks that no loop starts or continues after Stop, and that values stay for the last try.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Set[string, int]{Max: 2}
		s.Add("a", 1)
		ended := make(chan struct{})
		go func() { s.RetryLoop(func() { t.Error("tried after Stop") }); close(ended) }()
		synctest.Wait()
		s.Stop()
		<-ended
		s.Stop()
		if _, begin := s.Add("b", 1); begin || len(s.All()) != 2 {
			t.Errorf("begin: %v, %v", begin, s.All())
		}
		if isNew, _ := s.Add("c", 1); isNew || len(s.All()) != 2 {
			t.Errorf("more than its bound: %v", s.All())
		}
		s.RetryLoop(func() { t.Error("tried after Stop") })
	})
}
