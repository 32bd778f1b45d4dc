package canvas

import (
	"slices"
	"testing"

	"github.com/gdamore/tcell/v2"
)

// writes are what a terminal was written, call by call.
type writes struct {
	tcell.Tty
	calls []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.calls = append(w.calls, string(p))
	return len(p), nil
}

// A drawing that is to be shown as one is written as one; nothing else waits, nor is put in another order.
//
// FEATURES: R76
func TestDrawingsAreWrittenAtOnce(t *testing.T) {
	w := &writes{}
	h := &terminalTap{Tty: w}
	for _, p := range []string{"a", beginSync + "one", endSync, "b", beginSync + "two" + endSync, beginSync + "three", "\a", endSync} {
		if n, err := h.Write([]byte(p)); n != len(p) || err != nil {
			t.Errorf("%q: %d, %v", p, n, err)
		}
	}
	want := []string{"a", beginSync + "one" + endSync, "b", beginSync + "two" + endSync, beginSync + "three\a", endSync}
	if !slices.Equal(w.calls, want) {
		t.Errorf("%q; want %q", w.calls, want)
	}
}
