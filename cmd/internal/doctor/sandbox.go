//go:build unix

package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/sandbox"
)

// checkSandbox checks which sandbox levels are available, and whether the profiles are valid.
func checkSandbox(_ context.Context, d *Doctor) finding {
	file, err := sandbox.Load(d.Dirs.SandboxFile())
	if err != nil {
		return fail("fix the file; until then only built-in profiles that it does not change are available", "%v", err)
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
		missing = append(missing, "landlock: version 3 or newer missing in the kernel")
	}
	switch {
	case len(levels) == 0:
		return warn("sessions with --sandbox cannot start; allow user namespaces, or use kernel 6.2 or newer", "no level available: %s", strings.Join(missing, "; "))
	case len(missing) > 0:
		return warn("see `longterm help sandbox` for the effect of each level", "levels %s; %s; %s", strings.Join(levels, ", "), strings.Join(missing, "; "), profiles)
	}
	return ok("levels %s; %s", strings.Join(levels, ", "), profiles)
}
