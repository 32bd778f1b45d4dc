//go:build unix

package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/sandbox"
)

// checkSandbox says which levels of sandboxes can be had, and whether the profiles are in order.
func checkSandbox(_ context.Context, d *Doctor) finding {
	file, err := sandbox.Load(d.Dirs.SandboxFile())
	if err != nil {
		return fail("put it right: until then sessions start in built-in profiles that it does not change, and in no others", "%v", err)
	}
	profiles := "profiles " + strings.Join(file.Names(), ", ")
	var levels, missing []string
	userns := confine.ProbeNamespaces()
	if userns == nil {
		levels = append(levels, "userns")
	} else {
		missing = append(missing, "userns: "+userns.Error())
	}
	if abi := confine.LandlockABI(); abi >= 3 {
		levels = append(levels, fmt.Sprintf("landlock (version %d)", abi))
	} else {
		missing = append(missing, "landlock: the kernel has none of version 3 or newer")
	}
	switch {
	case len(levels) == 0:
		return warn("sessions with --sandbox do not start here; allow user namespaces, or take a kernel from 6.2 on", "no level can be had: %s", strings.Join(missing, "; "))
	case len(missing) > 0:
		return warn("see docs/sandbox.md for what each level holds", "levels %s; %s; %s", strings.Join(levels, ", "), strings.Join(missing, "; "), profiles)
	}
	return ok("levels %s; %s", strings.Join(levels, ", "), profiles)
}
