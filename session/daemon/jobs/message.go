//go:build unix

package jobs

import (
	"fmt"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// message is how a job went, in a line that a person or a model reads instead of six
// fields; empty when it exited with 0 and there is nothing to say.
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
		return "Killed by timeout (" + j.clock(r.TimedOut) + ")"
	case r.TimedOut != "none":
		return "Still running after " + j.clock(r.TimedOut) + "; it goes on in the background"
	case r.State == "running" && r.InBackground:
		return "Runs in the background"
	case r.State == "running":
		return "Runs"
	case r.State == "killed" && r.Aborted && !j.command && r.Command == 0 && !j.unintegrated.Load():
		return "Taken back before it began: its caller went away"
	case r.State == "killed" && r.Aborted:
		return "Ended: its caller went away"
	case r.State == "killed" && j.why() == endsByRule:
		return "Ended by a rule: " + r.Error
	case r.State == "killed" && !j.command && r.Command == 0 && !j.unintegrated.Load():
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

// whichWaits returns a clause for the message if the shell runs another caller's line, which waits for approval; else "".
func (j *Job) whichWaits() string {
	v := j.s.gate.WaitsWithin(j.e.ID(), time.Time{})
	if v == nil {
		return ""
	}
	return ", it runs something else, which waits for approval " + v.ID
}

// cdHint says that a directory which a line of its own ends in does not last.
func cdHint(line string) string {
	if !diagnostics.EndsInCd(line) {
		return ""
	}
	return "the directory lasts no longer than this command; give --cwd DIR, or use `longterm new` and `longterm exec`, where it lasts"
}

// gitHint says how a sandbox lets git write.
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

// screenHint says where to look at what is no output: a picture.
func screenHint(id string) string {
	return fmt.Sprintf("a full-screen program: see `longterm screen %s`", api.ShortID(id))
}

// clock is the time that a clock had, and which one it was if it was not that of the whole.
func (j *Job) clock(which string) string {
	if which == "idle" {
		return seconds(j.limit) + " without output"
	}
	return seconds(j.limit)
}

// seconds is a duration as results tell it: 60s and 1.5s, not 1m0s.
func seconds(d time.Duration) string { return fmt.Sprintf("%gs", d.Seconds()) }
