//go:build unix

package link

import (
	"testing"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// judging takes its time for each execution, and has what else is told of in a channel.
type judging struct {
	aside bool // says so
	begun chan uint64
	let   chan struct{}
	ended chan uint64
	other chan string
}

func (j judging) Output(id string)      { j.other <- id }
func (j judging) Exited(m *wire.Exited) { j.other <- m.ID }
func (j judging) Closed(m *wire.Closed) { j.other <- m.ID }

func (j judging) Execution(m *wire.Execution) func(aside func()) {
	return func(aside func()) {
		if j.aside {
			aside()
			aside() // once is enough
		}
		j.begun <- m.Number
		<-j.let
		j.ended <- m.Number
	}
}

func (j judging) ExecutionGone(m *wire.ExecutionGone) { j.other <- "gone" }

// Executions that take long to judge hold nobody up, nor each other, whether they say that they will or not. Reading goes
// on, in one goroutine, when they are judged; and ends with the connection while some are not.
//
// FEATURES: R107
func TestSlowJudgement_BlocksNothing(t *testing.T) {
	for _, aside := range []bool{false, true} {
		j := judging{aside, make(chan uint64), make(chan struct{}), make(chan uint64), make(chan string)}
		l, c, f := connect(t, j)
		for n := range uint64(3) {
			f.say(c, &wire.Execution{ID: "a", Number: n})
			if got := receive(t, j.begun, "judging"); got != n {
				t.Errorf("%d is judged, want %d", got, n)
			}
		}
		for _, id := range []string{"one", "two"} {
			f.say(c, &wire.Output{ID: id})
			if got := receive(t, j.other, "notice"); got != id {
				t.Errorf("%q, want %q", got, id)
			}
		}
		f.say(c, &wire.ExecutionGone{ID: "a", Number: 1})
		receive(t, j.other, "that one is gone")
		ended := map[uint64]bool{}
		for range 2 {
			j.let <- struct{}{}
			ended[receive(t, j.ended, "end of judging")] = true
		}
		if len(ended) != 2 {
			t.Errorf("%v ended", ended)
		}
		for n := range uint64(100) { // what is quick is judged by who reads
			f.say(c, &wire.Execution{ID: "a", Number: 10 + n})
			f.say(c, &wire.Output{ID: "b"})
			receive(t, j.begun, "judging")
			j.let <- struct{}{}
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
		j.let <- struct{}{}
		receive(t, j.ended, "end of the last")
	}
}

// Who is relieved just after his judging has ended reads on: two would read at once.
//
// FEATURES: R107
func TestReaders_NeverTwoAtOnce(t *testing.T) {
	j := judging{false, make(chan uint64), make(chan struct{}), make(chan uint64), make(chan string)}
	l, c, f := connect(t, j)
	f.say(c, &wire.Execution{ID: "a"})
	receive(t, j.begun, "judging")
	j.let <- struct{}{}
	receive(t, j.ended, "end of judging")
	f.say(c, &wire.Output{ID: "b"})
	receive(t, j.other, "notice") // whoever told it reads: nothing is judged
	turn := func() uint64 {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.reading.sequence
	}
	before := turn()
	l.handOffReader(before)
	if after := turn(); after != before {
		t.Errorf("another one reads, too: turn %d, then %d", before, after)
	}
}
