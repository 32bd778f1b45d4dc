//go:build unix

package link

import (
	"testing"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// slowChecker blocks in each check until released, and sends other notices to a channel.
type slowChecker struct {
	callsAsync bool // the check calls async
	started    chan uint64
	release    chan struct{}
	ended      chan uint64
	other      chan string
}

func (j slowChecker) Output(id string)      { j.other <- id }
func (j slowChecker) Exited(m *wire.Exited) { j.other <- m.ID }
func (j slowChecker) Closed(m *wire.Closed) { j.other <- m.ID }

func (j slowChecker) Execution(m *wire.Execution) func(aside func()) {
	return func(aside func()) {
		if j.callsAsync {
			aside()
			aside() // once is enough
		}
		j.started <- m.Number
		<-j.release
		j.ended <- m.Number
	}
}

func (j slowChecker) ExecutionEnded(m *wire.ExecutionEnded) { j.other <- "gone" }

// TestSlowJudgement_BlocksNothing checks that slow checks block no notice, nor each other, whether they call async or
// not. Reading continues in one goroutine, and ends with the connection while some checks run.
//
// FEATURES: R107
func TestSlowJudgement_BlocksNothing(t *testing.T) {
	for _, aside := range []bool{false, true} {
		j := slowChecker{aside, make(chan uint64), make(chan struct{}), make(chan uint64), make(chan string)}
		l, c, f := connect(t, j)
		for n := range uint64(3) {
			f.send(c, &wire.Execution{ID: "a", Number: n})
			if got := receive(t, j.started, "judging"); got != n {
				t.Errorf("check of %d, want %d", got, n)
			}
		}
		for _, id := range []string{"one", "two"} {
			f.send(c, &wire.Output{ID: id})
			if got := receive(t, j.other, "notice"); got != id {
				t.Errorf("%q, want %q", got, id)
			}
		}
		f.send(c, &wire.ExecutionEnded{ID: "a", Number: 1})
		receive(t, j.other, "that one is gone")
		ended := map[uint64]bool{}
		for range 2 {
			j.release <- struct{}{}
			ended[receive(t, j.ended, "end of judging")] = true
		}
		if len(ended) != 2 {
			t.Errorf("ended %v", ended)
		}
		for n := range uint64(100) { // quick checks run on the reading goroutine
			f.send(c, &wire.Execution{ID: "a", Number: 10 + n})
			f.send(c, &wire.Output{ID: "b"})
			receive(t, j.started, "judging")
			j.release <- struct{}{}
			for end, other := j.ended, j.other; end != nil || other != nil; {
				select {
				case <-end:
					end = nil
				case <-other:
					other = nil
				}
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		receive(t, l.Closed(), "end of the connection")
		j.release <- struct{}{}
		receive(t, j.ended, "end of the last")
	}
}

// TestReaders_NeverTwoAtOnce checks that a goroutine which was replaced just after its check does not read on.
//
// FEATURES: R107
func TestReaders_NeverTwoAtOnce(t *testing.T) {
	j := slowChecker{false, make(chan uint64), make(chan struct{}), make(chan uint64), make(chan string)}
	l, c, f := connect(t, j)
	f.send(c, &wire.Execution{ID: "a"})
	receive(t, j.started, "judging")
	j.release <- struct{}{}
	receive(t, j.ended, "end of judging")
	f.send(c, &wire.Output{ID: "b"})
	receive(t, j.other, "notice") // the reading goroutine sent it: no check runs
	turn := func() uint64 {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.reading.sequence
	}
	before := turn()
	l.handOffReader(before)
	if after := turn(); after != before {
		t.Errorf("a second reader started: sequence %d, then %d", before, after)
	}
}
