//go:build unix

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

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
	memory, err := parseBytes(l.memory)
	if err != nil {
		return nil, err
	}
	out := &api.Limits{Memory: memory, CPU: l.cpu, PIDs: l.pids}
	if out.CPU < 0 || out.PIDs < 0 {
		return nil, usagef("limits are positive numbers")
	}
	return out, nil
}

func cgroupText(c *api.Cgroup) string {
	var parts []string
	add := func(format string, v ...any) { parts = append(parts, fmt.Sprintf(format, v...)) }
	var l api.Limits
	if c.Limits != nil {
		l = *c.Limits
	}
	if c.Memory != nil {
		add("%d KiB%s", *c.Memory/1024, ofLimit(l.Memory > 0, "%d KiB", l.Memory/1024))
	}
	if c.PIDs != nil {
		add("%d processes and threads%s", *c.PIDs, ofLimit(l.PIDs > 0, "%d", l.PIDs))
	}
	if c.CPUMS != nil {
		add("%d ms of CPU%s", *c.CPUMS, ofLimit(l.CPU > 0, "%g CPUs", l.CPU))
	}
	return strings.Join(append(parts, c.Path), ", ")
}

func ofLimit(set bool, format string, v any) string {
	if !set {
		return ""
	}
	return " (limit " + fmt.Sprintf(format, v) + ")"
}
