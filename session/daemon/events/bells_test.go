//go:build unix

package events

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestBells checks that the first bell is published at once, bells shortly after it together, and a bell after a pause
// at once again.
//
// FEATURES: R21
func TestBells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []int
		tell := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, n)
		}
		want := func(when string, want ...int) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(told, want) {
				t.Errorf("%s: published %v, want %v", when, told, want)
			}
		}
		var b Bells
		b.Ring(tell)
		want("the first", 1)
		for range 1000 {
			b.Ring(tell)
		}
		want("a thousand at once", 1)
		<-time.After(bellEvery)
		want("after the pause", 1, 1000)
		b.Ring(tell)
		want("while it rests again", 1, 1000)
		<-time.After(bellEvery)
		want("after another pause", 1, 1000, 1)
		<-time.After(2 * bellEvery)
		b.Ring(tell)
		want("after a rest", 1, 1000, 1, 1)
		<-time.After(2 * bellEvery)
		want("nothing is told twice", 1, 1000, 1, 1)
	})
}

// TestBusWithoutListeners checks that listeners that come after the end, or leave before it, get no event and block no
// other.
func TestBusWithoutListeners(t *testing.T) {
	var b Bus
	b.Publish("state", nil)
	l := b.Listen()
	b.Unsubscribe(l)
	b.Publish("state", nil)
	if len(l.C) != 0 {
		t.Error("a listener that left gets an event")
	}
	b.Unsubscribe(l) // twice
	b.Close()
	b.Close()
	if _, open := <-b.Listen().C; open {
		t.Error("a listener that came after the end waits")
	}
	b.Publish("state", nil)
}
