package sandbox

import "testing"

// FEATURES: R126
func TestProfile_Reaches(t *testing.T) {
	listed := profileFor(t, "[p]\nnetwork = [\"a.example\", \"*.b.example:443\", \"127.0.0.1:3000\", \"[::1]:80\"]\n")
	for _, c := range []struct {
		host string
		port int
		want bool
	}{
		{"", 0, true},
		{"a.example", 80, true},
		{"A.example", 443, true},
		{"x.b.example", 443, true},
		{"x.b.example", 80, false},
		{"b.example", 443, false},
		{"127.0.0.1", 3000, true},
		{"127.0.0.1", 80, false},
		{"::1", 80, true},
		{"localhost", 3000, false},
		{"c.example", 443, false},
		{"-", 443, false},
	} {
		if got := listed.Reaches(c.host, c.port); got != c.want {
			t.Errorf("%s:%d: %v, want %v", c.host, c.port, got, c.want)
		}
	}
	on, off := Profile{Network: NetworkOn}, Profile{Network: NetworkOff}
	if !on.Reaches("any.example", 80) || off.Reaches("any.example", 80) || off.Reaches("", 0) {
		t.Error("a network that is on reaches all hosts, and one that is off none")
	}
}
