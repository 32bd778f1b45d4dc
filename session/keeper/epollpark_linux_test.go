package keeper

import (
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/ring"
)

// restingChild is a child of which only a pipe exists.
func restingChild(t *testing.T, k *Keeper) (c *child, w *os.File) {
	t.Helper()
	r, rf, err := ring.Create(ring.DefaultSize)
	if err != nil {
		t.Fatal(err)
	}
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	c = &child{
		id: "a", ring: r, ringFile: rf, pipe: true, outs: []*stream{newStream(in, ring.Stdout)},
		done: make(chan struct{}), order: order{-1}, shim: -1,
	}
	k.children[c.id] = c
	k.pumpAll(c)
	return c, w
}

func restingKeeper() *Keeper {
	return &Keeper{log: slog.New(slog.NewTextHandler(io.Discard, nil)), children: map[string]*child{}, conns: map[*conn]struct{}{}}
}

// rests waits until a stream has no goroutine.
func rests(t *testing.T, k *Keeper, o *stream) {
	t.Helper()
	await(t, "the stream rests", func() bool {
		k.parkIdleStreams()
		return isResting(k, o)
	})
}

func isResting(k *Keeper, o *stream) bool {
	k.resting.mu.Lock()
	defer k.resting.mu.Unlock()
	return o.parkNumber != 0
}

// A stream from which nothing comes has no goroutine; what is written to it then is read at once, and its end is seen.
func TestIdleStreamsHaveNoGoroutine(t *testing.T) {
	k := restingKeeper()
	c, w := restingChild(t, k)
	for _, text := range []string{"one\n", "two\n"} {
		rests(t, k, c.outs[0])
		head := c.ring.Head()
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		await(t, "it is read", func() bool { return c.ring.Head() == head+uint64(len(text)) })
	}
	rests(t, k, c.outs[0])
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	<-c.done
	if got := string(c.ring.BytesAt(0, 100)); got != "one\ntwo\n" {
		t.Errorf("%q", got)
	}
}

// A parked stream whose session is released or whose process was reaped is unparked.
func TestParkedStream_Unparks_OnRelease(t *testing.T) {
	k := restingKeeper()
	c, _ := restingChild(t, k)
	rests(t, k, c.outs[0])
	<-k.release(c)
	if isResting(k, c.outs[0]) {
		t.Error("it rests still")
	}

	c, w := restingChild(t, k)
	o := c.outs[0]
	rests(t, k, o)
	c.reaped.Store(true)
	k.resting.wake(o, true)
	await(t, "it was looked at once more", func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return o.drained
	})
	if k.parkStream(c, o) || k.resting.park(o, func() {}) {
		t.Error("it rests again")
	}
	_ = w.Close()
	<-c.done
}

// No two parked streams have the same number, and none has the number that means not parked.
func TestParkedStreams_HaveUniqueNumbers(t *testing.T) {
	r := epollParker{last: -2, streams: map[int32]parkedStream{1: {}}}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, want := range []int32{-1, 2, 3} {
		if n := r.freeLocked(); n != want {
			t.Errorf("%d, not %d", n, want)
		}
	}
}
