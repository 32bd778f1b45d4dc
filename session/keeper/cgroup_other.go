//go:build unix && !linux

package keeper

import (
	"log/slog"
	"syscall"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// cgroups does nothing: only Linux has cgroups.
type cgroups struct {
	dir    string // our directory, longterm-PID; empty: none
	limits []string
}

func (*cgroups) find(*slog.Logger) {}
func (*cgroups) leave(string)      {}
func (*cgroups) close()            {}

func (*cgroups) enter(_ *child, m *wire.Spawn, _ *syscall.SysProcAttr) (leave func(error) (again bool), err error) {
	if limits(m) {
		err = errNoCgroup
	}
	return func(error) bool { return false }, err
}

func signalCgroup(string, syscall.Signal) (done bool, err error) { return false, nil }

// CgroupsOf returns nil: this system has no cgroups.
func CgroupsOf(string) []string { return nil }
