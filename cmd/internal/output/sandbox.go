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
