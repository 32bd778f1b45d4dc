//go:build unix

package jobs

import (
	"fmt"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/sandbox"
)

// message returns how a job went, in one line for a user or a model instead of six fields. It returns "" for a plain
// exit with 0.
func (j *Job) message(r *api.Result) string {
	switch {
	case r.State == "needs_input":
		return fmt.Sprintf("Waits for input (%s)", r.Needs)
	case r.State == "needs_approval":
		return "Waits for approval " + r.Approval
	case r.State == "denied":
		return r.Error
	case r.State == "refused":
		return "Not run: " + r.Error
	case r.State == "waiting" && r.TimedOut != "none":
		return "Not started: the shell reported no prompt"
	case r.State == "waiting":
		return "Waits for the shell's prompt"
	case r.State == "killed" && r.TimedOut != "none":
		return "Killed by timeout (" + j.timeoutText(r.TimedOut) + ")"
	case r.TimedOut != "none":
		return "Still running after " + j.timeoutText(r.TimedOut) + "; it goes on in the background"
	case r.State == "running" && r.InBackground:
		return "Runs in the background"
	case r.State == "running":
		return "Runs"
	case r.State == "killed" && r.Aborted && !j.command && r.Command == 0 && !j.isUnintegrated():
		return "Taken back before it began: its caller went away"
	case r.State == "killed" && r.Aborted:
		return "Ended: its caller went away"
	case r.State == "killed" && j.endingReason() == endsByRule:
		return "Ended by a rule: " + r.Error
	case r.State == "killed" && !j.command && r.Command == 0 && !j.isUnintegrated():
		return "Taken back by request before it began"
	case r.State == "killed":
		return "Ended by request"
	case r.State == "lost" && strings.HasPrefix(r.Error, "its end was not seen"):
		return "I" + r.Error[1:]
	case r.State == "lost":
		return "Its end was not seen"
	case r.State == "ended" && r.Signal != "":
		return "Its shell was ended by signal " + r.Signal
	case r.Signal != "":
		return "Ended by signal " + r.Signal
	case r.State == "ended":
		return "Its shell has ended"
	case r.ExitCode == nil:
		return "Its exit code is not known"
	case *r.ExitCode != 0:
		return fmt.Sprintf("Failed with exit code %d", *r.ExitCode)
	}
	return ""
}

// blockingLineClause returns a clause for the message if the shell runs another caller's line that waits for approval,
// or "".
func (j *Job) blockingLineClause() string {
	v := j.s.gate.OldestBlocking(j.e.ID(), time.Time{})
	if v == nil {
		return ""
	}
	return ", it runs something else, which waits for approval " + v.ID
}

// cdHint returns a hint for a line whose last command changes the directory, which does not last.
func cdHint(line string) string {
	if !diagnostics.EndsInCd(line) {
		return ""
	}
	return "the directory lasts no longer than this command; give --cwd DIR, or use `longterm new` and `longterm exec`, where it lasts"
}

// gitHint returns a hint on how a sandbox allows git to write.
func gitHint(r *api.Result) string {
	if r.Sandbox == nil || r.ExitCode == nil || *r.ExitCode == 0 {
		return ""
	}
	for line := range strings.Lines(r.Output) {
		if strings.Contains(line, "/.git") && (strings.Contains(line, "Read-only file system") || strings.Contains(line, "Permission denied")) {
			return fmt.Sprintf("sandbox %s keeps .git as it is; a profile with git = \"commit\" lets commits be made: "+
				"[commits], extends = %q, git = \"commit\" in sandbox.toml", r.Sandbox.Profile, r.Sandbox.Profile)
		}
	}
	return ""
}

// noNetwork finds messages of programs that reach no host.
var noNetwork = pattern.Lazy(`(?i)could not resolve|name resolution|name or service not known|no such host|getaddrinfo|ENOTFOUND|EAI_AGAIN|network is unreachable`)

// networkHint returns a hint on how a sandbox without network allows it.
func networkHint(r *api.Result) string {
	if r.Sandbox == nil || r.Sandbox.Network != string(sandbox.NetworkOff) || r.ExitCode == nil || *r.ExitCode == 0 || !noNetwork.MatchString(r.Output) {
		return ""
	}
	return fmt.Sprintf("sandbox %s has no network; `--sandbox network` has it, or a profile with a list of hosts in sandbox.toml (`longterm help sandbox`)", r.Sandbox.Profile)
}

// screenHint returns a hint on where to see a full-screen program.
func screenHint(id string) string {
	return fmt.Sprintf("a full-screen program: see `longterm screen %s`", api.ShortID(id))
}

// timeoutText returns the limit of a timeout, and its kind unless it is that of the whole job.
func (j *Job) timeoutText(which string) string {
	if which == "idle" {
		return seconds(j.timing.expiredAfter) + " without output"
	}
	return seconds(j.timing.expiredAfter)
}

// seconds formats a duration as in results: 60s and 1.5s, not 1m0s.
func seconds(d time.Duration) string { return fmt.Sprintf("%gs", d.Seconds()) }
