//go:build unix

package main

import (
	"testing"

	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/hosts"
)

// A viewer waits for a host of the fleet that is cut off, also where it shows that one alone: it would not come back from
// the fleet's copy. One machine over ssh may ask for a password, and several may not.
//
// FEATURES: R94
func TestWaysOfViewers(t *testing.T) {
	for _, only := range []bool{true, false} {
		fleet, ssh := &client.ViaFleet{Host: "a"}, &hosts.RemoteHost{Prompts: true}
		forViewer(fleet, only)
		forViewer(ssh, only)
		forViewer(nil, only)
		if !fleet.NeedsLive || ssh.Prompts != only {
			t.Errorf("alone %v: waits %v, asks %v", only, fleet.NeedsLive, ssh.Prompts)
		}
	}
}
