//go:build unix && !linux

package keeper

import (
	"log/slog"
	"syscall"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// cgroups does nothing: only Linux has cgroups.
type cgroups struct {
	dir         string   // our directory, longterm-PID; empty: none
	controllers []string // none
}

func (*cgroups) setUp(*slog.Logger) {}
func (*cgroups) removeLater(string) {}
func (*cgroups) close()             {}

// prepareStart rejects limits, which need cgroups.
func (*cgroups) prepareStart(_ *child, m *wire.Spawn, _ *syscall.SysProcAttr) (leave func(error) (again bool), err error) {
	if hasLimits(m) {
		err = errNoCgroup
	}
	return func(error) bool { return false }, err
}

// signalCgroup reports that it signaled nothing.
func signalCgroup(string, syscall.Signal) (done bool, err error) { return false, nil }

// CgroupsOf returns nil: this system has no cgroups.
func CgroupsOf(string) []string { return nil }
