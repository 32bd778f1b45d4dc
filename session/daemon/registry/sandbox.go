//go:build unix

package registry

import (
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/sandbox"
)

// boxed is the sandbox that a session was started in, as clients see it; nil inside: none.
type boxed struct {
	view     *api.Sandbox
	programs []string // that its profile lists
	differ   bool     // others are asked about
}

// Sandbox is what a session's programs are kept from; nil: nothing.
func (h *Registry) Sandbox(e *Handle) *api.Sandbox { return h.boxOf(e).view }

func (h *Registry) boxOf(e *Handle) *boxed {
	if b := e.box.Load(); b != nil {
		return b
	}
	r, err := h.spawner.SandboxOf(e.rec.ID)
	if err != nil {
		h.log.Warn("sandbox of a session", "session", e.rec.ID, "err", err)
	}
	b := &boxed{view: spawn.ViewOf(r)}
	if r != nil && r.Rules != nil {
		b.programs, b.differ = r.Rules.Programs, r.Rules.Ask
	}
	e.box.CompareAndSwap(nil, b)
	return b
}

// CheckSandbox refuses a line for a session that is not in the sandbox that was asked for, or a stricter one.
func (h *Registry) CheckSandbox(e *Handle, profile, onDifference string) error {
	return h.spawner.CheckWithin(e.rec.ID, e.Record().Name, profile, onDifference)
}

// SandboxReport is the sandbox that a session was started in, with its rules; nil: none.
func (h *Registry) SandboxReport(e *Handle) (*sandbox.Report, error) {
	return h.spawner.SandboxOf(e.rec.ID)
}
