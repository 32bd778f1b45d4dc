//go:build unix

package mcp

import (
	"fmt"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// TestSessionsToRemove checks that of the sessions of lines that ended a while ago only the newest stay.
//
// FEATURES: R88
func TestSessionsToRemove(t *testing.T) {
	now := time.Unix(100_000, 0)
	var list []api.Session
	add := func(n int, state string, clients int, ago time.Duration) {
		for range n {
			v := api.Session{ID: fmt.Sprint(len(list)), State: state, Clients: clients}
			if state != "running" {
				at := now.Add(-ago - time.Duration(len(list))*time.Second)
				v.Ended = &at
			}
			list = append(list, v)
		}
	}
	add(20, "running", 0, 0)
	add(maxEndedKept+10, "exited", 0, time.Minute) // too new
	if got := sessionsToRemove(list, now); len(got) != 0 {
		t.Errorf("%d of the newest removed", len(got))
	}
	add(7, "exited", 0, time.Hour)
	add(3, "lost", 0, 2*time.Hour)
	add(5, "exited", 1, time.Hour) // attached clients
	got := sessionsToRemove(list, now)
	if len(got) != 10 {
		t.Errorf("%d removed, want 10", len(got))
	}
	for _, v := range got {
		if v.Clients > 0 || v.State == "running" || now.Sub(*v.Ended) < minKeepTime {
			t.Errorf("removed %+v", v)
		}
	}
}
