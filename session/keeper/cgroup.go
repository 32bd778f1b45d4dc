//go:build unix

package keeper

import (
	"errors"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// errNoCgroup refuses limits that cannot be set.
var errNoCgroup = errors.New("there is no cgroup v2 of its own for that")

// limits reports whether a spawn asks for any.
func limits(m *wire.Spawn) bool { return m.Memory > 0 || m.CPU > 0 || m.PIDs > 0 }
