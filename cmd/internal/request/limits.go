//go:build unix

package request

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/values"
	"github.com/longterm-dev/longterm/session/api"
)

// limitFlags bound what a session's processes use together.
type limitFlags struct {
	memory string
	cpu    float64
	pids   int
}

func (l *limitFlags) register(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&l.memory, "memory", "", "limit of memory for all its processes, as in 512M or 2G (needs a cgroup v2)")
	f.Float64Var(&l.cpu, "cpu", 0, "limit of CPUs for all its processes, as in 1.5 (needs a cgroup v2)")
	f.IntVar(&l.pids, "pids", 0, "limit of processes and threads (needs a cgroup v2)")
}

// limits is nil when none are given.
func (l *limitFlags) limits() (*api.Limits, error) {
	if l.memory == "" && l.cpu == 0 && l.pids == 0 {
		return nil, nil
	}
	memory, err := values.Bytes(l.memory)
	if err != nil {
		return nil, err
	}
	out := &api.Limits{Memory: memory, CPU: l.cpu, PIDs: l.pids}
	if out.CPU < 0 || out.PIDs < 0 {
		return nil, exit.Usagef("limits are positive numbers")
	}
	return out, nil
}
