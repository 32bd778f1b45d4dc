//go:build unix

package main

import (
	"testing"

	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/hosts"
)

// TestWaysOfViewers checks that a viewer waits for a disconnected host of the fleet, also if it shows only that one: it
// would not return from the fleet's replica. One machine over ssh may prompt for a password, and several may not.
//
// FEATURES: R94
func TestWaysOfViewers(t *testing.T) {
	for _, only := range []bool{true, false} {
		fleet, ssh := &client.ViaFleet{Host: "a"}, &hosts.RemoteHost{Prompts: true}
		forViewer(fleet, only)
		forViewer(ssh, only)
		forViewer(nil, only)
		if !fleet.NeedsLive || ssh.Prompts != only {
			t.Errorf("alone %v: waits %v, prompts %v", only, fleet.NeedsLive, ssh.Prompts)
		}
	}
}
