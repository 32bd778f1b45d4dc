//go:build unix

package spawn

import (
	"math"

	"github.com/longterm-dev/longterm/session/api"
)

// setLimits sets the limits in the keeper's units.
func (p *Plan) setLimits(l *api.Limits) error {
	if l == nil {
		return nil
	}
	if l.Memory < 0 || l.CPU < 0 || l.CPU > 1<<20 || math.IsNaN(l.CPU) || l.PIDs < 0 || l.CPU > 0 && l.CPU < 0.01 {
		return api.Errorf(api.CodeInvalid, "limits of %d bytes, %g CPUs, %d processes", l.Memory, l.CPU, l.PIDs).
			WithHint("give positive numbers, and at least 0.01 CPUs")
	}
	p.memory, p.cpu, p.pids = uint64(l.Memory), uint64(math.Round(l.CPU*1000)), uint64(l.PIDs)
	return nil
}

// hasLimits reports whether any limit is set.
func (p *Plan) hasLimits() bool { return p.memory > 0 || p.cpu > 0 || p.pids > 0 }
