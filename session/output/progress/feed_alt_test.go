package progress

import (
	"strings"
	"testing"
	"time"
)

// TestFeed_IgnoresAlternateScreen checks that percentages that a full-screen program draws are not progress of a build,
// however its output is chunked and however it exits. Output before and after it counts.
//
// FAULT: B20
// FEATURES: R40
func TestFeed_IgnoresAlternateScreen(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	htop := "\x1b[?1049h\x1b[22;0;0t\x1b[H"
	for i := range 30 {
		htop += "\x1b[2;1HCPU[||||     " + strings.Repeat("|", i%7) + " 3." + string(rune('0'+i%10)) + "%]\r\n"
		htop += "\rerror: [" + string(rune('1'+i%9)) + "/16] compiling main.c:7:1: error: no\r\n"
	}
	for _, cut := range []int{1, 2, 3, 7, 64, 1 << 20} {
		m := New(Start{Command: "htop", Time: began})
		f := NewFeed(m, 0)
		now := began
		write := func(s string) {
			for len(s) > 0 {
				n := min(cut, len(s))
				now = now.Add(time.Millisecond)
				f.Write([]byte(s[:n]), now)
				s = s[n:]
			}
			f.ReadUnfinished(now)
		}
		write("starting\r\n" + htop)
		if s := m.State(now); s.Progress != (Progress{}) || s.Errors > 0 || s.HasETA {
			t.Errorf("in pieces of %d, on the alternate screen: %+v", cut, s)
		}
		write("\x1b[?1049l[3/16] cc a.c\r\n[4/16] cc b.c\r\n")
		if s := m.State(now); s.Progress.Total != 16 {
			t.Errorf("in pieces of %d, afterwards: %+v", cut, s)
		}
	}
}
