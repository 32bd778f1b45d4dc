//go:build unix

package keeper

import (
	"errors"
	"path"
	"strings"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// errNoCgroup refuses limits that cannot be set.
var errNoCgroup = errors.New("there is no cgroup v2 of its own for that")

// limits reports whether a spawn asks for any.
func limits(m *wire.Spawn) bool { return m.Memory > 0 || m.CPU > 0 || m.PIDs > 0 }

// SessionOfCgroup is the session that a keeper made a cgroup for, by the path of the group or of one in it; empty: none.
func SessionOfCgroup(group string) string {
	for ; len(group) > 1; group = path.Dir(group) {
		if parent := path.Base(path.Dir(group)); strings.HasPrefix(parent, "longterm-") && parent != "longterm-keeper" {
			return path.Base(group)
		}
	}
	return ""
}
