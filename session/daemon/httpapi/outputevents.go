//go:build unix

package httpapi

import (
	"io"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/capture"
	"github.com/longterm-dev/longterm/session/daemon/registry"
)

const (
	// outputEvery is how often a listener who asked for it is told of output.
	outputEvery = 100 * time.Millisecond
	// binaryEvery is the same for data that is no text.
	binaryEvery = time.Second
	// gateBytes bounds what of a session's output is judged at a look.
	gateBytes = 64 << 10
)

// outputEvents is what a listener knows of the sessions' output. It looks at all of them
// from time to time, so that a session pays nothing for those who listen.
type outputEvents struct {
	reg   *registry.Registry
	seen  map[string]*seenOutput
	begun bool // it has looked before
	buf   []byte
}

type seenOutput struct {
	end, version, binary uint64
	gate                 capture.Gate
	told                 time.Time // of binary data
}

func newOutputEvents(h *registry.Registry) *outputEvents {
	return &outputEvents{reg: h, seen: map[string]*seenOutput{}}
}

// look tells what is new; false: the listener is gone.
func (o *outputEvents) look(now time.Time, tell func(api.Event) bool) bool {
	there := map[string]*seenOutput{}
	for _, e := range o.reg.All() {
		id := e.ID()
		seen, st := o.seen[id], e.Session.Status()
		_, end := e.Session.OutputRange()
		if seen == nil {
			seen = &seenOutput{end: end, version: st.Version, gate: capture.Gate{W: io.Discard}}
			if !o.begun { // what is there is no news
				there[id] = seen
				continue
			}
			seen.end, _ = e.Session.OutputRange()
		}
		there[id] = seen
		if !o.tellOf(e, seen, &st, end, now, tell) {
			return false
		}
	}
	o.seen, o.begun = there, true
	return true
}

func (o *outputEvents) tellOf(e *registry.Handle, seen *seenOutput, st *session.Status, end uint64, now time.Time, tell func(api.Event) bool) bool {
	var events []api.Event
	if end > seen.end {
		events = append(events, api.Event{Kind: "data", Printed: &api.Range{Start: seen.end, End: end}})
		o.judge(e, seen, end)
		seen.end = end
	}
	if st.Version != seen.version {
		events = append(events, api.Event{Kind: "screen", Version: st.Version})
		seen.version = st.Version
	}
	if held := seen.gate.Held(); held > seen.binary && now.Sub(seen.told) >= binaryEvery {
		events = append(events, api.Event{Kind: "binary", Binary: held})
		seen.binary, seen.told = held, now
	}
	if len(events) == 0 {
		return true
	}
	view := o.reg.Describe(e, *st)
	for i := range events {
		events[i].Session = &view
		if !tell(events[i]) {
			return false
		}
	}
	return true
}

// judge has new output judged: is it text?
func (o *outputEvents) judge(e *registry.Handle, seen *seenOutput, end uint64) {
	if o.buf == nil {
		o.buf = make([]byte, gateBytes)
	}
	from := max(seen.end, end-min(end, gateBytes)) // of a flood the newest
	c, err := e.Session.Output(from, o.buf[:min(gateBytes, end-from)])
	if err == nil {
		_, _ = seen.gate.Write(c.Data)
	}
}
