//go:build unix

package daemon

import (
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// A slow listener loses events and is told how many; nobody waits for it.
//
// FEATURES: R21
func TestBus(t *testing.T) {
	var b Bus
	slow, quick := b.listen(), b.listen()
	for range listenerQueue + 10 {
		b.publish("state", &api.Session{})
		<-quick.c
	}
	for range listenerQueue {
		<-slow.c
	}
	b.publish("state", &api.Session{})
	if e := <-slow.c; e.Kind != "lost" || e.Lost != 10 {
		t.Errorf("%+v", e)
	}
	if e := <-slow.c; e.Kind != "state" || e.Seq != listenerQueue+11 {
		t.Errorf("%+v", e)
	}
	<-quick.c
	b.close()
	if _, open := <-quick.c; open {
		t.Error("not closed")
	}
}
