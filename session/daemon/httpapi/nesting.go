//go:build unix

package httpapi

import (
	"slices"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
)

// checkNesting refuses to show a session within itself, however many others are between:
// it would print what it shows, for ever.
func (s *Server) checkNesting(e *registry.Handle, inside string) error {
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
		return slices.ContainsFunc(in.Clients.ShownIn(), shows)
	}
	if !shows(inside) {
		return nil
	}
	return api.Errorf(api.CodeInvalid, "this terminal is inside session %s: attached here it would show itself for ever", e.Record().Name).
		WithHint("detach first, or attach from another terminal; if LONGTERM_SESSION is left over from elsewhere, unset it")
}
