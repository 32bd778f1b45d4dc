package output

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// TestWorking_ShowsElapsedTime checks that the elapsed time of a long operation is shown after a second, then each
// second, and removed at the end. A short operation shows none.
//
// FAULT: J
func TestWorking_ShowsElapsedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := Printer{Stdout: &out, Stderr: &out}
		stop := p.showWorking("removing old history", time.Now)
		time.Sleep(900 * time.Millisecond)
		stop()
		if out.Len() > 0 {
			t.Errorf("after 0.9 s: %q", &out)
		}
		stop = p.showWorking("removing old history", time.Now)
		time.Sleep(2500 * time.Millisecond)
		stop()
		stop()
		time.Sleep(5 * time.Second)
		if want := "\rremoving old history … 1.0s\x1b[K\rremoving old history … 2.0s\x1b[K\r\x1b[K"; out.String() != want {
			t.Errorf("%q", &out)
		}
		p.Working("x")()
		p.JSON = true
		p.Working("x")()
	})
}
