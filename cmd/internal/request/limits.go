//go:build unix

package request

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/flagvalues"
	"github.com/longterm-dev/longterm/session/api"
)

// limitFlags are the flags for resource limits, which all processes of a session share.
type limitFlags struct {
	memory string
	cpu    float64
	pids   int
}

func (l *limitFlags) register(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&l.memory, "memory", "", "memory limit of all processes, a `SIZE` such as 512M or 2G (requires cgroup v2)")
	f.Float64Var(&l.cpu, "cpu", 0, "CPU limit of all processes, in CPUs, such as 1.5 (requires cgroup v2)")
	f.IntVar(&l.pids, "pids", 0, "limit on the `NUMBER` of processes and threads (requires cgroup v2)")
}

// limits returns the given limits, or nil without any.
func (l *limitFlags) limits() (*api.Limits, error) {
	if l.memory == "" && l.cpu == 0 && l.pids == 0 {
		return nil, nil
	}
	memory, err := flagvalues.Bytes(l.memory)
	if err != nil {
		return nil, err
	}
	out := &api.Limits{Memory: memory, CPU: l.cpu, PIDs: l.pids}
	if out.CPU < 0 || out.PIDs < 0 {
		return nil, exit.Usagef("--cpu and --pids must not be negative")
	}
	return out, nil
}
