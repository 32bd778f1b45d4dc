package attach

import "testing"

// FAULT: B16
func TestScreens(t *testing.T) {
	for _, tt := range []struct{ in, leave string }{
		{"plain text\x1b[1m", ""},
		{"\x1b[?1049h", "\x1b[?1049l"},
		{"\x1b[?1049hvim\x1b[?1049l", ""},
		{"\x1b[?1;2004;1049h", "\x1b[?1049l"},
		{"\x1b[?47h\x1b[?1049h", "\x1b[?47l"},
		{"\x1b[?01047hx", "\x1b[?1047l"},
		{"\x1b[?1049h\x1bc", ""},
		{"\x1b[1049h\x1b[>1049h\x1b?1049h", ""},
		{"\x1b[?1049\x1b[?1049h", "\x1b[?1049l"},
		{"\x1b[?1049$p\x1b[?1049s", ""},
	} {
		for cut := 1; cut <= len(tt.in); cut++ {
			var s Screens
			for p := []byte(tt.in); len(p) > 0; {
				n := min(cut, len(p))
				s.Write(p[:n])
				p = p[n:]
			}
			if got, back := s.LeaveSequence(); got != tt.leave || back != (got == "" || got == "\x1b[?1049l") {
				t.Errorf("%q in pieces of %d results in %q, %v; want %q", tt.in, cut, got, back, tt.leave)
			}
		}
	}
}

// FuzzScreens checks that chunks do not matter, and that the state is bounded.
func FuzzScreens(f *testing.F) {
	f.Add([]byte("\x1b[?1;1049hx\x1b[?47l\x1bc"), 3)
	f.Fuzz(func(t *testing.T, p []byte, cut int) {
		var whole, parts Screens
		whole.Write(p)
		n := int(uint(cut) % uint(len(p)+1))
		parts.Write(p[:n])
		parts.Write(p[n:])
		if whole.mode != parts.mode || string(whole.partial) != string(parts.partial) || len(whole.partial) > maxModes+1 {
			t.Fatalf("%q cut at %d: %+v, %+v", p, n, whole, parts)
		}
	})
}
