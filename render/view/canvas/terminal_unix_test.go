//go:build unix

package canvas

import "testing"

// An xterm has its colours, though it calls itself by a name of eight.
//
// FEATURES: R76
func TestBetterName(t *testing.T) {
	for _, c := range []struct{ term, version, want string }{
		{"xterm", "XTerm(379)", "xterm-256color"},
		{"xterm", "XTerm(331)", "xterm-256color"},
		{"xterm", "XTerm(271)", ""},
		{"xterm", "", ""},
		{"xterm", "XTerm(x)", ""},
		{"screen", "XTerm(379)", ""}, // a multiplexer in it
		{"xterm-direct", "XTerm(379)", ""},
	} {
		got := betterName(func(name string) string { return map[string]string{"TERM": c.term, "XTERM_VERSION": c.version}[name] })
		if got != c.want {
			t.Errorf("%s, %s: %q; want %q", c.term, c.version, got, c.want)
		}
	}
}
