//go:build unix

package secrets

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// cpuTime is what the test took of the processor's time.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Output that is nothing but escapes takes time by its length.
func TestEscapesAreLinear(t *testing.T) {
	tier.Full(t)
	s := vault(t, "hunter22", "a\\b\\c\\d", "h\u00e9llo").Set()
	for _, part := range []string{`\`, `\\`, `\u0068`, `\u`, `\ud83d\u`, `\\u0068`, `x\`, `h\u00e9`, `"\n`, `:\/\/a:b`, strings.Repeat(`\`, 63) + "n"} {
		took := func(size int) time.Duration { // of the processor: what others make of it counts nothing
			out := []byte(strings.Repeat(part, size/len(part)))
			best := time.Hour
			for range 3 {
				begin := cpuTime(t)
				s.Mask(bytes.Clone(out), 0, 0, len(out))
				best = min(best, cpuTime(t)-begin)
			}
			return best
		}
		if small, large := took(16<<10), took(256<<10); large > 100*(small+time.Millisecond) {
			t.Errorf("%.12s: %v, and %v for sixteen times as much", part, small, large)
		}
	}
}
