package inputdetect

import (
	"fmt"
	"testing"
)

// FEATURES: R42
func TestParseSyscall(t *testing.T) {
	c, ok := parseSyscall([]byte("270 0x1 0x7ffe22ee0710 0x0 0xffffffffffffffff 0x5 0x6 0x7ffc 0x7ff8\n"))
	if want := (syscallState{number: 270, args: [6]uint64{1, 0x7ffe22ee0710, 0, 1<<64 - 1, 5, 6}, stack: 0x7ffc}); !ok || c != want {
		t.Errorf("got %+v, %v", c, ok)
	}
	if c, ok := parseSyscall([]byte("running\n")); !ok || !c.isRunning {
		t.Errorf("got %+v, %v", c, ok)
	}
	if c, ok := parseSyscall([]byte("-1 0x7ffc 0x7ff8\n")); !ok || c.number != -1 || c.isRunning {
		t.Errorf("got %+v, %v", c, ok)
	}
	for _, in := range []string{"", "0", "0 0x1", "x 0x1 0x2 0x3 0x4 0x5 0x6", "0 1 2 3 4 5 6", "0 0x1 0x2 0x3 0x4 0x5 0xg"} {
		if c, ok := parseSyscall([]byte(in)); ok {
			t.Errorf("%q: got %+v", in, c)
		}
	}
}

// FEATURES: R42
func TestParseEpollTargets(t *testing.T) {
	const in = "pos:\t0\nflags:\t02\nmnt_id:\t16\nino:\t1\n" +
		"tfd:        0 events:       19 data:                0  pos:0 ino:3 sdev:19\n" +
		"tfd:       12 events: 80000001 data:                c  pos:0 ino:3 sdev:19\n" +
		"tfd:       -1 events:        1 data: 0\ntfd: x events: 1\ntfd: 1 oops 1\ntfd: 3 events"
	got := ""
	parseEpollTargets([]byte(in), func(fd int, events uint32) { got += fmt.Sprintf("%d:%x ", fd, events) })
	if got != "0:19 12:80000001 " {
		t.Errorf("got %q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("270 0x1 0x7ffe22ee0710 0x0 0xffffffffffffffff 0x5 0x6 0x7ffc 0x7ff8\n"))
	f.Add([]byte("tfd:        0 events:       19 data:                0\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, ok := parseSyscall(b); ok && c.isRunning && c.number >= 0 {
			t.Errorf("got %+v", c)
		}
		parseEpollTargets(b, func(fd int, _ uint32) {
			if fd < 0 {
				t.Error("got a negative descriptor")
			}
		})
	})
}

func TestParseSchedstat(t *testing.T) {
	for text, want := range map[string][2]uint64{"1512775 9735871 22\n": {1512775, 22}, "0 0 0": {}} {
		if ns, times, ok := parseSchedstat([]byte(text)); !ok || ns != want[0] || times != want[1] {
			t.Errorf("%q: got %d ns, %d times, %v", text, ns, times, ok)
		}
	}
	for _, text := range []string{"", "1", "1 2", "1 2 x", "x 2 3", "-1 2 3"} {
		if _, _, ok := parseSchedstat([]byte(text)); ok {
			t.Errorf("%q: got no error", text)
		}
	}
}
