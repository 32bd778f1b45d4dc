package retryqueue

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// What was refused is tried again, by one at a time, until it is written.
func TestAgain(t *testing.T) {
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
			if n, b := s.Note(k, v); n != isNew || b != begin {
				t.Fatalf("%s: new %v, begin %v", k, n, b)
			}
		}
		note("a", 1, true, true)
		ended := make(chan struct{})
		go func() { s.RetryLoop(try); close(ended) }()
		note("b", 2, true, false)
		note("a", 3, false, false)
		time.Sleep(2*Every + 1)
		if v, there := s.Get("a"); tries.Load() != 2 || v != 3 || !there {
			t.Errorf("%d tries, %d, %v", tries.Load(), v, there)
		}
		room.Store(true)
		<-ended
		if tries.Load() != 3 || len(s.All()) > 0 || s.Drop("a") {
			t.Errorf("%d tries, %v left", tries.Load(), s.All())
		}
		note("c", 1, true, true) // once more
	})
}

// Nobody begins to try, or goes on, once the daemon leaves; what is kept is left for the last time.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Set[string, int]{Max: 2}
		s.Note("a", 1)
		ended := make(chan struct{})
		go func() { s.RetryLoop(func() { t.Error("it is tried") }); close(ended) }()
		synctest.Wait()
		s.Leave()
		<-ended
		s.Leave()
		if _, begin := s.Note("b", 1); begin || len(s.All()) != 2 {
			t.Errorf("begin: %v, %v", begin, s.All())
		}
		if isNew, _ := s.Note("c", 1); isNew || len(s.All()) != 2 {
			t.Errorf("more than its bound: %v", s.All())
		}
		s.RetryLoop(func() { t.Error("it is tried") })
	})
}
