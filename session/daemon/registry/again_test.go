//go:build unix

package registry

import (
	"testing"

	"github.com/longterm-dev/longterm/session"
)

// FEATURES: R123
func TestWantsAgain(t *testing.T) {
	for _, c := range []struct {
		policy string
		exit   *session.Exit
		want   bool
	}{
		{"always", &session.Exit{}, true},
		{"always", nil, true},
		{"on-failure", &session.Exit{}, false},
		{"on-failure", &session.Exit{Code: 1}, true},
		{"on-failure", &session.Exit{Signal: "KILL"}, true},
		{"on-failure", nil, false},
		{"never", &session.Exit{Code: 1}, false},
		{"often", &session.Exit{Code: 1}, false},
	} {
		if got := wantsAgain(c.policy, c.exit); got != c.want {
			t.Errorf("%s after %+v: %v", c.policy, c.exit, got)
		}
	}
}
