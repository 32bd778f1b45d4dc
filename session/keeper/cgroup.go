//go:build unix

package keeper

import (
	"errors"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// errNoCgroup rejects limits that cannot be set.
var errNoCgroup = errors.New("no writable cgroup v2 for it")

// hasLimits reports whether a spawn requests resource limits.
func hasLimits(m *wire.Spawn) bool { return m.Memory > 0 || m.CPU > 0 || m.PIDs > 0 }
