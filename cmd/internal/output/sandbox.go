package output

import (
	"strings"

	"github.com/longterm-dev/longterm/session/api"
)

// NetworkText is what network a sandbox has.
func NetworkText(s *api.Sandbox) string {
	if len(s.Hosts) == 0 {
		return s.Network
	}
	return "to " + strings.Join(s.Hosts, ", ")
}

// SandboxText returns a sandbox in a line: its profile, its level and its network.
func SandboxText(s *api.Sandbox) string {
	text := s.Profile + ", held by " + s.Level + ", network " + NetworkText(s)
	if s.OnDifference == "ask" {
		text += ", what differs is asked about"
	}
	return text
}
