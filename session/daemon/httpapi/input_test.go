//go:build unix

package httpapi

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/attach"
)

// Who is in no hurry is told once for many messages, a moment later; who is told something else knows by that; and where
// many are not told of, it does not wait.
//
// FEATURES: R7
func TestTakenIsToldLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stream{resume: attach.Resume{Key: "k", Late: true}, news: make(chan struct{}, 1)}
		told := func(want bool) {
			t.Helper()
			select {
			case <-s.news:
				s.told.Store(s.taken.Load())
				if !want {
					t.Error("told")
				}
			default:
				if want {
					t.Error("not told")
				}
			}
		}
		for range 10 {
			s.took()
		}
		told(false)
		time.Sleep(2 * lateTold) // of synctest
		told(true)
		s.took()
		s.told.Store(s.taken.Load()) // with a drawing
		time.Sleep(2 * lateTold)
		told(false)
		for range mostUntold {
			s.took()
		}
		told(true)
		time.Sleep(2 * lateTold)

		now := &stream{resume: attach.Resume{Key: "k"}, news: make(chan struct{}, 1)}
		now.took()
		if len(now.news) != 1 {
			t.Error("who asks at once is told at once")
		}
		nobody := &stream{}
		nobody.took()
		if nobody.taken.Load() != 0 {
			t.Error("counted for nobody")
		}
	})
}
