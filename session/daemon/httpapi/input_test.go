//go:build unix

package httpapi

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/attach"
)

// TestAcknowledgements_Batched checks that a client that is not urgent gets one acknowledgement for many messages, a
// moment later, or with any other message. It is not delayed when many are unacknowledged.
//
// FEATURES: R7
func TestAcknowledgements_Batched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stream{resume: attach.Resume{Key: "k", AcksLate: true}, acceptedC: make(chan struct{}, 1)}
		told := func(want bool) {
			t.Helper()
			select {
			case <-s.acceptedC:
				s.acked.Store(s.accepted.Load())
				if !want {
					t.Error("acknowledged")
				}
			default:
				if want {
					t.Error("not acknowledged")
				}
			}
		}
		for range 10 {
			s.countAccepted()
		}
		told(false)
		time.Sleep(2 * ackDelay) // of synctest
		told(true)
		s.countAccepted()
		s.acked.Store(s.accepted.Load()) // with a drawing
		time.Sleep(2 * ackDelay)
		told(false)
		for range maxUnacked {
			s.countAccepted()
		}
		told(true)
		time.Sleep(2 * ackDelay)

		now := &stream{resume: attach.Resume{Key: "k"}, acceptedC: make(chan struct{}, 1)}
		now.countAccepted()
		if len(now.acceptedC) != 1 {
			t.Error("an urgent client is not acknowledged at once")
		}
		nobody := &stream{}
		nobody.countAccepted()
		if nobody.accepted.Load() != 0 {
			t.Error("counted without a client")
		}
	})
}
