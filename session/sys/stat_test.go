package sys

import (
	"errors"
	"testing"
	"time"
)

// FEATURES: R42
func TestParseStat(t *testing.T) {
	const tail = " S 10 20 30 34816 20 4194304 116 0 1 0 5 7 0 0 20 0 3 0 46602 2990080 411 18446744073709551615"
	for name, in := range map[string]string{
		"sleep": "99 (sleep)" + tail, "a) S 1 (b": "99 (a) S 1 (b)" + tail, "": "99 ()" + tail,
		"cut": "99 (cut)" + tail[:len(tail)-len(" 2990080 411 18446744073709551615")] + "\n",
	} {
		s, err := ParseStat([]byte(in))
		if err != nil || string(s.Name) != name || s.State != 'S' || s.Parent != 10 || s.Group != 20 || s.SessionLeader != 30 || s.Foreground != 20 ||
			s.Threads != 3 || s.Start != 46602 || s.CPUTime() != 12*Tick || s.IsDead() {
			t.Errorf("%q: %+v, %v", in, s, err)
		}
		if major, minor := SplitDevice(s.TTY); major != 136 || minor != 0 {
			t.Errorf("terminal %d:%d", major, minor)
		}
	}
	for _, in := range []string{
		"", "99", "99 (x)", "99 (x) ", "99 (x) S", "99 (x) S 1 2 3", "99 (x) SS" + tail[2:], ")(", "99 (x) S x" + tail[4:],
		"99 (x)" + tail[:len(" S 10 20 30 34816 20 4194304 116 0 1 0 5 7 0 0 20 0 3 0")],
	} {
		if s, err := ParseStat([]byte(in)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %+v, %v", in, s, err)
		}
	}
	if major, minor := SplitDevice(0x123_088_45); major != 0x88 || minor != 0x12345 {
		t.Errorf("%x:%x", major, minor)
	}
	for state, ended := range map[byte]bool{'R': false, 'S': false, 'D': false, 'T': false, 't': false, 'Z': true, 'X': true, 'x': true} {
		if s := (Stat{State: state}); s.IsDead() != ended {
			t.Errorf("state %c: %v", state, !ended)
		}
	}
}

func TestParseStat_AllocatesNothing(t *testing.T) {
	in := []byte("99 (sleep) S 10 20 30 34816 20 4194304 116 0 1 0 5 7 0 0 20 0 3 0 46602 2990080 411 18446744073709551615")
	if n := testing.AllocsPerRun(100, func() { _, _ = ParseStat(in) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzParseStat checks that any name that a process sets leaves the following fields intact.
func FuzzParseStat(f *testing.F) {
	f.Add([]byte("99 (a) S 1 (b) S 10 20 30 34816 20 4194304 116 0 1 0 5 7 0 0 20 0 3 0 46602"))
	f.Add([]byte("1 () Z -1 -1 -1 0 -1 0 0 0 0 0 0 0 0 0 0 0 0 0 0"))
	f.Add([]byte(")("))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseStat(b)
		if (err == nil) == errors.Is(err, ErrMalformed) || len(s.Name) > len(b) {
			t.Errorf("%+v, %v", s, err)
		}
		if err != nil && (s.State != 0 || s.Parent != 0 || s.Name != nil) {
			t.Errorf("got %+v of half a line", s)
		}
		named := append(append([]byte("7 ("), b...), ") S 10 20 30 0 -1 0 0 0 0 0 1 2 0 0 20 0 3 0 46602 0\n"...)
		if s, err := ParseStat(named); err != nil || string(s.Name) != string(b) || s.Parent != 10 || s.Start != 46602 || s.CPUTime() != 30*time.Millisecond {
			t.Errorf("named %q: %+v, %v", b, s, err)
		}
	})
}
