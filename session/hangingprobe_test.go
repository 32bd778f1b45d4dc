package session

import (
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// hangingTerminal is a terminal whose processes cannot be probed before release is closed.
type hangingTerminal struct {
	fakeDevice
	running     atomic.Int32  // probes in progress
	started     chan struct{} // signals the start of a probe
	release     chan struct{} // lets probes continue
	overlapped  atomic.Bool   // two probes ran at once
	sizeRead    atomic.Bool   // the size was read
	ignoreStart atomic.Bool   // started is not signaled now
}

func (d *hangingTerminal) Control(func(int) error) error {
	if !d.sizeRead.Swap(true) { // its size is read at the start, without a probe
		return errors.New("no terminal")
	}
	if d.running.Add(1) > 1 {
		d.overlapped.Store(true)
	}
	defer d.running.Add(-1)
	if !d.ignoreStart.Load() {
		d.started <- struct{}{}
		<-d.release
	}
	return errors.New("no terminal")
}

// TestHangingProbe_BlocksNothing checks a probe that does not return, such as one of a process whose memory is locked:
// output is shown and operations are answered. Output in the meantime is probed once it ends.
func TestHangingProbe_BlocksNothing(t *testing.T) {
	j, _, err := journal.Open(t.TempDir(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &hangingTerminal{
		fakeDevice: fakeDevice{ring: ring.Local(ring.DefaultSize), accept: -1, released: make(chan struct{})},
		started:    make(chan struct{}), release: make(chan struct{}),
	}
	s, err := New(Config{
		ID: "test", Device: d, Ring: d.ring, Journal: j, Options: vterm.Options{Cols: 80, Rows: 24},
		Status: Status{State: Running, Cols: 80, Rows: 24}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	s.Start()
	d.print(s, "one? ")
	<-d.started
	d.print(s, "two? ")
	for !strings.Contains(screenText(t, s), "two?") {
	}
	d.release <- struct{}{}
	<-d.started // for the output in the meantime
	d.ignoreStart.Store(true)
	close(d.release)
	if d.overlapped.Load() {
		t.Error("two probes ran at once")
	}
}
