package canvas

import (
	"slices"
	"testing"

	"github.com/gdamore/tcell/v2"
)

// writes records the writes to a terminal, call by call.
type writes struct {
	tcell.Tty
	calls []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.calls = append(w.calls, string(p))
	return len(p), nil
}

// TestDrawingsAreWrittenAtOnce checks that a drawing that must be shown at once is written at once, and that other
// output neither waits nor is reordered.
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
