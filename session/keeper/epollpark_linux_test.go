package keeper

import (
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/ring"
)

// newPipeChild returns a child with one pipe and no process.
func newPipeChild(t *testing.T, k *Keeper) (c *child, w *os.File) {
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
		id: "a", ring: r, ringFile: rf, onPipes: true, outputs: []*stream{newStream(in, ring.Stdout)},
		pumpsDone: make(chan struct{}), order: pipeOrder{-1}, shimSocket: -1,
	}
	k.children[c.id] = c
	k.pumpAll(c)
	return c, w
}

// newParkingKeeper returns a keeper that only parks streams.
func newParkingKeeper() *Keeper {
	return &Keeper{log: slog.New(slog.NewTextHandler(io.Discard, nil)), children: map[string]*child{}, conns: map[*conn]struct{}{}}
}

// awaitParked waits until a stream has no goroutine.
func awaitParked(t *testing.T, k *Keeper, o *stream) {
	t.Helper()
	await(t, "the stream rests", func() bool {
		k.parkIdleStreams()
		return isParked(k, o)
	})
}

// isParked reports whether a stream has no goroutine.
func isParked(k *Keeper, o *stream) bool {
	k.parker.mu.Lock()
	defer k.parker.mu.Unlock()
	return o.parkNumber != 0
}

// TestIdleStream_Parks checks that an idle stream has no goroutine, that later output is read at once, and that its end
// is handled.
func TestIdleStream_Parks(t *testing.T) {
	k := newParkingKeeper()
	c, w := newPipeChild(t, k)
	for _, text := range []string{"one\n", "two\n"} {
		awaitParked(t, k, c.outputs[0])
		head := c.ring.Head()
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		await(t, "it is read", func() bool { return c.ring.Head() == head+uint64(len(text)) })
	}
	awaitParked(t, k, c.outputs[0])
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	<-c.pumpsDone
	if got := string(c.ring.BytesAt(0, 100)); got != "one\ntwo\n" {
		t.Errorf("%q", got)
	}
}

// TestParkedStream_Unparks_OnRelease checks that a parked stream whose session is released or whose process was reaped is
// unparked.
func TestParkedStream_Unparks_OnRelease(t *testing.T) {
	k := newParkingKeeper()
	c, _ := newPipeChild(t, k)
	awaitParked(t, k, c.outputs[0])
	<-k.release(c)
	if isParked(k, c.outputs[0]) {
		t.Error("still parked")
	}

	c, w := newPipeChild(t, k)
	o := c.outputs[0]
	awaitParked(t, k, o)
	c.reaped.Store(true)
	k.parker.unpark(o, true)
	await(t, "it was looked at once more", func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return o.drained
	})
	if k.parkStream(c, o) || k.parker.park(o, func() {}) {
		t.Error("parked again")
	}
	_ = w.Close()
	<-c.pumpsDone
}

// TestParkedStreams_HaveUniqueNumbers checks that no two parked streams have the same number, and none the number 0.
func TestParkedStreams_HaveUniqueNumbers(t *testing.T) {
	r := epollParker{lastNumber: -2, streams: map[int32]parkedStream{1: {}}}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, want := range []int32{-1, 2, 3} {
		if n := r.freeNumberLocked(); n != want {
			t.Errorf("%d, not %d", n, want)
		}
	}
}
