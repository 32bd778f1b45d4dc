package output

import (
	"strings"

	"github.com/longterm-dev/longterm/session/api"
)

// NetworkText describes the network access that a sandbox allows.
func NetworkText(s *api.Sandbox) string {
	if len(s.Hosts) == 0 {
		return s.Network
	}
	return "to " + strings.Join(s.Hosts, ", ")
}

// SandboxText describes a sandbox in one line: profile, level and network access.
func SandboxText(s *api.Sandbox) string {
	text := s.Profile + ", enforced by " + s.Level + ", network " + NetworkText(s)
	if s.OnDifference == "ask" {
		text += ", asks about unlisted accesses"
	}
	return text
}
