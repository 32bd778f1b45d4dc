//go:build unix

package remote

import (
	"fmt"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/respond"
)

// heard writes down what it is told.
type heard struct{ list []string }

func (h *heard) Output(off uint64, data []byte) {
	h.list = append(h.list, fmt.Sprintf("%d %s", off, data))
}

func (h *heard) OnInput(in respond.Input, echo respond.EchoState) {
	h.list = append(h.list, fmt.Sprintf("typed %s %s", in.Data, echo))
}

// What is typed is told where it was typed, whenever that gets known.
// FEATURES: R51, R55
func TestInput_ReportedAtItsOffset(t *testing.T) {
	say := func(s string) func(*Talk, *uint64) {
		return func(t *Talk, off *uint64) {
			t.add(chunk{*off, []byte(s)})
			*off += uint64(len(s))
		}
	}
	at := func(off uint64, s string) func(*Talk, *uint64) {
		return func(t *Talk, _ *uint64) {
			t.typing--
			t.typed = append(t.typed, typed{off, respond.Input{Data: []byte(s)}, respond.EchoOn})
			t.deliver()
		}
	}
	typing := func(t *Talk, _ *uint64) { t.typing++ }
	end := func(t *Talk, _ *uint64) { t.end(nil) }
	for _, tt := range []struct {
		name string
		do   []func(*Talk, *uint64)
		want string
	}{
		{"after what was read", []func(*Talk, *uint64){say("Name: "), typing, at(6, "bob"), say("bob")}, "0 Name: ,typed bob on,6 bob"},
		{"the echo is read before the answer", []func(*Talk, *uint64){say("Name: "), typing, say("bob"), at(6, "bob")}, "0 Name: ,typed bob on,6 bob"},
		{"in the middle of what is read", []func(*Talk, *uint64){typing, say("Name: bob"), at(6, "bob")}, "0 Name: ,typed bob on,6 bob"},
		{"before what is still to be read", []func(*Talk, *uint64){typing, at(6, "bob"), say("Na"), say("me: bob")}, "0 Na,2 me: ,typed bob on,6 bob"},
		{"at the beginning", []func(*Talk, *uint64){typing, at(0, "x"), say("y")}, "typed x on,0 y"},
		{"twice", []func(*Talk, *uint64){typing, at(0, "x"), typing, at(0, "y"), say("z")}, "typed x on,typed y on,0 z"},
		{"nothing is printed any more", []func(*Talk, *uint64){say("a"), typing, at(5, "x"), end}, "0 a,typed x on"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, off := &heard{}, uint64(0)
			talk := &Talk{to: h, change: make(chan struct{})}
			for _, f := range tt.do {
				f(talk, &off)
			}
			if got := strings.Join(h.list, ","); got != tt.want {
				t.Errorf("told %q, want %q", got, tt.want)
			}
		})
	}
}
