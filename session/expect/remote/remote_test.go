//go:build unix

package remote

import (
	"fmt"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/respond"
)

// eventLog is a Listener that records its calls.
type eventLog struct{ events []string }

func (h *eventLog) Output(off uint64, data []byte) {
	h.events = append(h.events, fmt.Sprintf("%d %s", off, data))
}

func (h *eventLog) OnInput(in respond.Input, echo respond.EchoState) {
	h.events = append(h.events, fmt.Sprintf("typed %s %s", in.Data, echo))
}

// TestInput_ReportedAtItsOffset checks that the listener receives input at its output offset, whenever the offset
// becomes known.
// FEATURES: R51, R55
func TestInput_ReportedAtItsOffset(t *testing.T) {
	output := func(s string) func(*Dialogue, *uint64) {
		return func(t *Dialogue, off *uint64) {
			t.addOutput(outputChunk{*off, []byte(s)})
			*off += uint64(len(s))
		}
	}
	typedAt := func(off uint64, s string) func(*Dialogue, *uint64) {
		return func(t *Dialogue, _ *uint64) {
			t.pendingInputs--
			t.inputs = append(t.inputs, typedInput{off, respond.Input{Data: []byte(s)}, respond.EchoOn})
			t.deliver()
		}
	}
	startInput := func(t *Dialogue, _ *uint64) { t.pendingInputs++ }
	end := func(t *Dialogue, _ *uint64) { t.endOutput(nil) }
	for _, tt := range []struct {
		name string
		do   []func(*Dialogue, *uint64)
		want string
	}{
		{"after received output", []func(*Dialogue, *uint64){output("Name: "), startInput, typedAt(6, "bob"), output("bob")}, "0 Name: ,typed bob on,6 bob"},
		{"the echo is received before the response", []func(*Dialogue, *uint64){output("Name: "), startInput, output("bob"), typedAt(6, "bob")}, "0 Name: ,typed bob on,6 bob"},
		{"within received output", []func(*Dialogue, *uint64){startInput, output("Name: bob"), typedAt(6, "bob")}, "0 Name: ,typed bob on,6 bob"},
		{"before output not yet received", []func(*Dialogue, *uint64){startInput, typedAt(6, "bob"), output("Na"), output("me: bob")}, "0 Na,2 me: ,typed bob on,6 bob"},
		{"at the beginning", []func(*Dialogue, *uint64){startInput, typedAt(0, "x"), output("y")}, "typed x on,0 y"},
		{"twice", []func(*Dialogue, *uint64){startInput, typedAt(0, "x"), startInput, typedAt(0, "y"), output("z")}, "typed x on,typed y on,0 z"},
		{"offset after the end of the output", []func(*Dialogue, *uint64){output("a"), startInput, typedAt(5, "x"), end}, "0 a,typed x on"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, off := &eventLog{}, uint64(0)
			talk := &Dialogue{listener: h, changed: make(chan struct{})}
			for _, f := range tt.do {
				f(talk, &off)
			}
			if got := strings.Join(h.events, ","); got != tt.want {
				t.Errorf("got events %q, want %q", got, tt.want)
			}
		})
	}
}
