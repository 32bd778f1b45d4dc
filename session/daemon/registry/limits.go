//go:build unix

package registry

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
)

// ModeReason returns why the session uses pipes without being asked to; may be empty.
func (e *Handle) ModeReason() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.modeReason
}

// EnvOmitted returns how many variables the session was started without because they look like secrets. It returns 0
// after a restart of the daemon.
func (e *Handle) EnvOmitted() int { return e.envOmitted }

// cgroupOf returns the state of a session's cgroup, or nil.
func cgroupOf(dir string) *api.Cgroup {
	if dir == "" {
		return nil
	}
	if _, err := os.Stat(dir); err != nil {
		return nil // all its processes have exited
	}
	c := &api.Cgroup{Path: dir, Memory: cgroupNumber(dir, "memory.current"), PIDs: cgroupNumber(dir, "pids.current")}
	if c.PIDs == nil {
		c.PIDs = cgroupMembers(dir)
	}
	for line := range strings.Lines(cgroupFile(dir, "cpu.stat")) {
		if v, ok := strings.CutPrefix(line, "usage_usec "); ok {
			if n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
				n /= 1000
				c.CPUMS = &n
			}
		}
	}
	c.Limits = cgroupLimits(dir)
	return c
}

// cgroupLimits returns the limits in force, or nil.
func cgroupLimits(dir string) *api.Limits {
	var l api.Limits
	if n := cgroupNumber(dir, "memory.max"); n != nil {
		l.Memory = *n
	}
	if n := cgroupNumber(dir, "pids.max"); n != nil {
		l.PIDs = int(*n)
	}
	quota, period, _ := strings.Cut(cgroupFile(dir, "cpu.max"), " ")
	q, errQ := strconv.ParseFloat(quota, 64)
	per, errP := strconv.ParseFloat(period, 64)
	if errQ == nil && errP == nil && per > 0 {
		l.CPU = q / per
	}
	if l == (api.Limits{}) {
		return nil
	}
	return &l
}

// cgroupFile returns the content of a cgroup's file, or "".
func cgroupFile(dir, file string) string {
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// cgroupNumber returns the number in a file, or nil for "max" and missing files.
func cgroupNumber(dir, file string) *int64 {
	n, err := strconv.ParseInt(cgroupFile(dir, file), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// cgroupMembers counts threads if the pids controller is not available.
func cgroupMembers(dir string) *int64 {
	if _, err := os.Stat(filepath.Join(dir, "cgroup.threads")); err != nil {
		return nil
	}
	n := int64(len(strings.Fields(cgroupFile(dir, "cgroup.threads"))))
	return &n
}

// killCgroup kills all processes in a session's cgroup, also after its keeper released it.
func killCgroup(e *Handle) {
	if e.device != nil && e.device.cgroup != "" {
		_ = os.WriteFile(filepath.Join(e.device.cgroup, "cgroup.kill"), []byte("1"), 0) // it may be gone
		_ = os.Remove(e.device.cgroup)
	}
}
