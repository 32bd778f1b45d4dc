//go:build unix

package daemon

import (
	"slices"

	"github.com/longterm-dev/longterm/session/api"
)

// checkNesting refuses to show a session within itself, however many others are between:
// it would print what it shows, for ever.
func (s *Server) checkNesting(e *Handle, inside string) error {
	if inside == "" {
		return nil
	}
	seen := map[string]bool{}
	var shows func(id string) bool // whether a session shows e, or shows one that does
	shows = func(id string) bool {
		if id == e.ID() {
			return true
		}
		in := s.reg.ByID(id)
		if in == nil || seen[id] || !in.Ready() {
			return false
		}
		seen[id] = true
		return slices.ContainsFunc(in.Clients.shownIn(), shows)
	}
	if !shows(inside) {
		return nil
	}
	return api.Errorf(api.CodeInvalid, "this terminal is inside session %s: attached here it would show itself for ever", e.Record().Name).
		WithHint("detach first, or attach from another terminal; if LONGTERM_SESSION is left over from elsewhere, unset it")
}
