//go:build unix

package events

import (
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestBus checks that a slow listener loses events and gets their number. The others do not wait for it.
//
// FEATURES: R21
func TestBus(t *testing.T) {
	var b Bus
	slow, quick := b.Listen(), b.Listen()
	for range listenerQueue + 10 {
		b.Publish("state", &api.Session{})
		<-quick.C
	}
	for range listenerQueue {
		<-slow.C
	}
	b.Publish("state", &api.Session{})
	if e := <-slow.C; e.Kind != "lost" || e.Lost != 10 {
		t.Errorf("%+v", e)
	}
	if e := <-slow.C; e.Kind != "state" || e.Seq != listenerQueue+11 {
		t.Errorf("%+v", e)
	}
	<-quick.C
	b.Close()
	if _, open := <-quick.C; open {
		t.Error("not closed")
	}
}
