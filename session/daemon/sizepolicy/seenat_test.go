//go:build unix

package sizepolicy

import (
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/identity"
)

// TestSeenAt checks that a session is seen only by users' clients: while they are attached, and until they leave.
//
// FEATURES: R130
func TestSeenAt(t *testing.T) {
	var st Clients
	calls := 0
	st.OnSeen(func(time.Time) { calls++ })
	later := time.Now().Add(time.Hour)
	agent := st.Join(&Client{Identity: Identity{By: identity.Actor{Agent: "bot"}}})
	if at := st.SeenAt(later); !at.IsZero() || calls != 0 {
		t.Errorf("an agent sees it at %v, %d calls", at, calls)
	}
	user := st.Join(&Client{})
	if at := st.SeenAt(later); at != later || calls != 1 {
		t.Errorf("seen at %v, %d calls", at, calls)
	}
	st.Leave(user)
	st.Leave(user)
	st.Leave(agent)
	if at := st.SeenAt(later); at.IsZero() || at.Equal(later) || calls != 2 {
		t.Errorf("seen at %v, %d calls", at, calls)
	}
}
