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

// stuckTerminal is one whose processes cannot be looked at before goOn is closed.
type stuckTerminal struct {
	fake
	looks  atomic.Int32 // under way
	asked  chan struct{}
	goOn   chan struct{}
	twice  atomic.Bool
	sized  atomic.Bool
	silent atomic.Bool // nothing listens at asked now
}

func (d *stuckTerminal) Control(func(int) error) error {
	if !d.sized.Swap(true) { // its size is read at the start, and needs no process
		return errors.New("no terminal")
	}
	if d.looks.Add(1) > 1 {
		d.twice.Store(true)
	}
	defer d.looks.Add(-1)
	if !d.silent.Load() {
		d.asked <- struct{}{}
		<-d.goOn
	}
	return errors.New("no terminal")
}

// A probe that does not return, as one of a process whose memory is locked, blocks nothing: output is shown and
// operations are answered. Output in the meantime is probed once it ends.
func TestStuckProbe(t *testing.T) {
	j, _, err := journal.Open(t.TempDir(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &stuckTerminal{
		fake:  fake{ring: ring.Local(ring.DefaultSize), accept: -1, released: make(chan struct{})},
		asked: make(chan struct{}), goOn: make(chan struct{}),
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
	<-d.asked
	d.print(s, "two? ")
	for !strings.Contains(screenText(t, s), "two?") {
	}
	d.goOn <- struct{}{}
	<-d.asked // for the output in the meantime
	d.silent.Store(true)
	close(d.goOn)
	if d.twice.Load() {
		t.Error("it is asked twice at a time")
	}
}
