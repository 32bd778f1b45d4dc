//go:build unix

package registry

import (
	"testing"

	"github.com/longterm-dev/longterm/store"
)

// TestAnomaly_PublishedByConfiguration checks that anomalies of agents' sessions are published on request only.
//
// FEATURES: R127
func TestAnomaly_PublishedByConfiguration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]bool{ // of users' sessions, of agents'
		"":                              {true, false},
		"[alerts]\nanomaly = \"all\"\n": {true, true},
		"[alerts]\nanomaly = \"off\"\n": {false, false},
	} {
		reg := &Registry{conf: settingsOf(t, text)}
		for i, agent := range []string{"", "bot"} {
			c := &comparedTask{set: &watchers{reg: reg}, e: NewHandle(store.Session{Agent: agent})}
			if got := c.ShouldPublish(); got != want[i] {
				t.Errorf("%q, agent %q: %v", text, agent, got)
			}
		}
	}
}
