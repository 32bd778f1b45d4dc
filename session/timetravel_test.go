package session

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/internal/history"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/store/checkpoint"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// screenState returns what a screen shows.
func screenState(e vterm.Engine) string {
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	var b []byte
	for _, l := range f.Lines {
		for _, c := range l.Cells {
			b = f.AppendText(b, c)
		}
		b = append(bytes.TrimRight(b, " "), '\n')
	}
	return string(b)
}

// TestEmulatorAt checks that screens of the past are what a terminal showed that read the output so far, from saved
// screens as well as from the beginning.
//
// FEATURES: R38
func TestEmulatorAt(t *testing.T) {
	tier.Full(t)
	s := newFixture(t, journal.Options{})
	var all []byte
	for i := 0; len(all) < 2*history.CheckpointBytes+1<<20; {
		begin := len(all)
		for len(all)-begin < 256<<10 {
			all = fmt.Appendf(all, "\x1b[3%dmline %d of the log, and some more text to fill it\x1b[m\r\n", i%8, i)
			i++
		}
		s.print(s.Session, string(all[begin:]))
		waitText(t, s.Session, fmt.Sprintf("line %d of", i-1)) // the ring has space again
	}
	kept, err := checkpoint.NewSeries(s.dir, checkpoint.SeriesOptions{}).List()
	if err != nil || len(kept) < 2 {
		t.Fatalf("got %d screens for %d MiB: %v", len(kept), len(all)>>20, err)
	}
	offsets := []int{0, 1, 1000, history.CheckpointBytes, history.CheckpointBytes + 12345, len(all)}
	for _, k := range kept { // right after a saved screen nothing may be missing or repeated
		offsets = append(offsets, int(k.Offset), int(k.Offset)+30)
	}
	for _, off := range offsets {
		got, err := s.EmulatorAt(testContext(t), uint64(off))
		if err != nil {
			t.Fatalf("offset %d: %v", off, err)
		}
		want := vterm.New(vterm.Options{Cols: 80, Rows: 24})
		_, _ = want.Write(all[:off])
		if screenState(got) != screenState(want) {
			t.Errorf("offset %d:\n%s\nwant\n%s", off, screenState(got), screenState(want))
		}
	}
}

// TestQuiet_IgnoresSpinner checks that a wait for silence ignores output that only moves.
//
// FEATURES: R42
func TestQuiet_IgnoresSpinner(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "building\r\n")
	waitText(t, s.Session, "building")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-tick.C:
				s.print(s.Session, fmt.Sprintf("\r%c loading", `|/-\`[i%4]))
			}
		}
	}()
	r, err := s.Wait(testContext(t), WaitSpec{Conds: []Cond{{Kind: CondQuiet, Quiet: 300 * time.Millisecond}}})
	close(stop)
	<-stopped
	if err != nil || len(r.Fired) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
