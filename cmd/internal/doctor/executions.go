//go:build unix

package doctor

import (
	"context"

	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/confine"
)

// checkExecutions says whether programs that sessions execute can be judged here.
func checkExecutions(_ context.Context, d *Doctor) finding {
	f, _, err := config.Read(d.Dirs.ConfigFile())
	if err != nil {
		return ok("the configuration cannot be read: see there")
	}
	policy := f.Settings.Policy
	why := confine.Probe()
	switch {
	case policy.Executions == config.ExecutionsNever:
		return ok("are not judged: policy.executions is never")
	case why == nil:
		return ok("can be judged while sessions run (policy.executions is %s)", policy.Executions)
	case policy.RequireExecutions:
		return fail("run longterm where the kernel hands them over, or `longterm config set policy.require_executions false`",
			"cannot be judged, so sessions that need it do not start: %v", why)
	}
	return warn("nothing, if the lines that are given are judged well enough; a sandbox holds without it", "cannot be judged: %v", why)
}
