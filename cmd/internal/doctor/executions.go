//go:build unix

package doctor

import (
	"context"

	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/confine"
)

// checkExecutions checks whether executed programs can be checked against the policy here.
func checkExecutions(_ context.Context, d *Doctor) finding {
	f, _, err := config.ReadFile(d.Dirs.ConfigFile())
	if err != nil {
		return ok("unknown: configuration not readable")
	}
	policy := f.Settings.Policy
	why := confine.Probe()
	switch {
	case policy.Executions == config.ExecutionsNever:
		return ok("not checked (policy.executions is never)")
	case why == nil:
		return ok("can be checked while sessions run (policy.executions is %s)", policy.Executions)
	case policy.RequireExecutions:
		return fail("use a kernel that supports it, or run `longterm config set policy.require_executions false`",
			"cannot be judged, so sessions that need it do not start: %v", why)
	}
	return warn("none needed if checks of whole lines suffice; sandboxes work without it", "cannot be checked: %v", why)
}
