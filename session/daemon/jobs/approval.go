//go:build unix

package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/executions"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/sys"
)

// The policy judges a line before the line is submitted. A line that a user has to allow waits as a recorded job: the
// next daemon asks the gateway with the same job's id, and finds the approval.

// lineRequest returns the authorization request for a line.
func lineRequest(job string, who identity.Actor, e *registry.Handle, x api.Exec) authorize.Request {
	r := e.Record()
	a := authorize.Request{
		ID: job, Kind: authorize.Line, Actor: who, Session: e.ID(), Name: r.Name, Labels: r.Labels, Line: x.Line,
		Cwd: e.CurrentDir(e.Session.Status()), Home: Home(), Policy: x.Policy, Kept: r.Policy, Yes: x.Yes,
		Pipe: r.Pipe, Since: r.Started, ReportsEnd: true,
	}
	if len(r.Argv) > 0 {
		a.Shell = authorize.ReaderName(r.Argv[0])
	}
	// a shell that became it: `bash -c 'python3 -q'`, for example
	if now := e.Program(); authorize.AreInterpreters([]string{now}) {
		a.Shell = now
	}
	if mayBeForProgram(a.Shell, x) {
		a.Readers = e.Readers()
	}
	return a
}

// mayBeForProgram reports whether a line may be for the program that runs in the session and not for its shell.
func mayBeForProgram(shell string, x api.Exec) bool {
	return x.Foreign || shell != "" && authorize.ShellName(shell) == ""
}

// TypedLineRequest returns the authorization request for a line that is typed as keys are.
func TypedLineRequest(id string, who identity.Actor, e *registry.Handle, line string) authorize.Request {
	a := lineRequest(id, who, e, api.Exec{Line: line, Foreign: true})
	a.ReportsEnd = false
	return a
}

// runRequest returns the authorization request for a command with its own session.
func runRequest(who identity.Actor, x *api.Run) authorize.Request {
	a := NewSessionRequest(x.Job, who, &x.NewSession)
	return a
}

// NewSessionRequest returns the authorization request for a session that starts with a command. It stores the judged program file
// in n, so that the session starts exactly that file.
func NewSessionRequest(id string, who identity.Actor, n *api.NewSession) authorize.Request {
	a := authorize.Request{
		ID: id, Kind: authorize.Command, Actor: who, Name: n.Name, Labels: n.Labels, Line: n.Line, Argv: n.Argv,
		Shell: authorize.ShellName(shellOf(n.Env)), Cwd: n.Cwd, Home: Home(), Policy: n.Policy, Yes: n.Yes,
		Pipe: n.Pipe,
	}
	if who.IsAgent() || who.Policy != "" || n.Policy != "" {
		a.Settings = judgedVariables(n)
		found, first := spawn.ProgramOf(n)
		a.File = sys.FileID(first)
		n.Judged = api.JudgedFile{Path: first, ID: a.File, OwnShell: !isSystemShell(found, first)}
		switch {
		case first == "":
		case len(n.Argv) > 0:
			a.Path = first // what is called git may be another program, and a script is run by others
			executions.AddStartPrograms(&a, first)
		case n.Judged.OwnShell && n.Line == "":
			a.Path, a.Argv = first, []string{first}
		case n.Judged.OwnShell:
			a.Also = [][]string{{first, "-c", n.Line}}
		}
	}
	return a
}

// IsPlainShell reports whether a session starts with only a shell. That needs no judgement, because the shell's lines are
// judged. A program of the user with a shell's name is judged like others.
func IsPlainShell(n *api.NewSession) bool {
	return n.Line == "" && (len(n.Argv) == 0 || spawn.IsShell(n.Argv)) && !n.Judged.OwnShell
}

// isSystemShell reports whether a shell is the system's: it was found in one of shellDirs, or links to the shell there.
func isSystemShell(found, file string) bool {
	among := func(path string) bool {
		return slices.ContainsFunc(shellDirs, func(d string) bool {
			return filepath.Dir(path) == d || d[len(d)-1] == '/' && strings.HasPrefix(path, d)
		})
	}
	return among(found) || among(file) && authorize.ReaderName(found) == authorize.ReaderName(file)
}

// shellDirs are where the system's shells are; with a slash at the end also below.
var shellDirs = []string{"/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/", "/usr/local/Cellar/", "/nix/store/"}

// judgedVariables returns the environment variables that policy judges with a command: those that the caller set
// explicitly, and those of its environment that run or load other code, unless the daemon has the same value.
func judgedVariables(n *api.NewSession) []string {
	settings := slices.Clone(n.SetEnv)
	for _, kv := range n.Env {
		name, value, _ := strings.Cut(kv, "=")
		if own, set := os.LookupEnv(name); set && own == value {
			continue
		}
		switch {
		case slices.Contains([]string{"LD_PRELOAD", "LD_AUDIT", "BASH_ENV", "GIT_EXEC_PATH", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_EXTERNAL_DIFF"}, name),
			strings.HasPrefix(name, "GIT_CONFIG"), strings.HasPrefix(name, "BASH_FUNC_"), strings.HasPrefix(name, "DYLD_"):
			settings = append(settings, kv)
		}
	}
	return settings
}

// shellOf returns the user's shell, which reads lines.
func shellOf(env []string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if len(env[i]) > 6 && env[i][:6] == "SHELL=" {
			return env[i][6:]
		}
	}
	return os.Getenv("SHELL")
}

// Home returns the user's home directory, and "" if it is unknown.
func Home() string {
	dir, _ := os.UserHomeDir() // unknown: the rules ask rather
	return dir
}

// noteAnswer stores the gateway's answer for the session's own command.
func (j *Job) noteAnswer(a authorize.Request, answer authorize.Answer) {
	a.Session = j.e.ID()
	j.mu.Lock()
	j.approval.id, j.approval.request = answer.Approval, a
	j.mu.Unlock()
	j.s.gate.Started(j.e.ID(), a, answer)
}

// followApproval waits until the line is allowed, calls submit to type it, and follows it.
func (j *Job) followApproval(ctx context.Context, p *authorize.Pending, submit func(context.Context) (func(context.Context), error)) {
	waiting, cancel := j.untilEnded(ctx) // a job that is given up does not wait
	defer cancel()
	go func() { // nor does a line whose shell has ended
		if _, err := j.e.Session.Wait(waiting, session.WaitSpec{Conds: []session.Cond{{Kind: session.CondExit}}}); err == nil {
			j.fail(session.ErrEnded)
		}
	}()
	answer, err := p.Wait(waiting)
	switch {
	case ctx.Err() != nil:
		return
	case j.hasReached(stateEnded):
		j.forgetAllowed() // in case it was answered at that moment
		return
	case err != nil:
		j.reject(err, answer)
		return
	}
	now := time.Now()
	if !j.move(triggerAllowed, func() {
		j.approval.pending, j.approval.id, j.timing.from = nil, answer.Approval, now
		_ = j.editRequest(admittedAt(now)) // it was written here
	}) {
		j.forgetAllowed()
		return
	}
	j.submit(ctx, submit)
}

// forgetAllowed notifies the gateway that an allowed line will not be submitted, because its job has ended.
func (j *Job) forgetAllowed() {
	j.s.gate.NotSubmitted(j.e.ID(), j.id)
	j.s.gate.LineFinished(j.e.ID(), j.id)
}

// submit calls giveLine to submit an allowed line, and follows the line.
func (j *Job) submit(ctx context.Context, giveLine func(context.Context) (func(context.Context), error)) {
	follow, err := giveLine(ctx)
	switch {
	case isLeftToNextDaemon(ctx, err):
	case err != nil && j.hasReached(stateEnded):
		j.forgetAllowed()
	case err != nil:
		j.fail(err)
	default:
		follow(ctx)
	}
}

// isLeftToNextDaemon reports whether giveLine failed because this daemon stops: the next daemon submits the line.
func isLeftToNextDaemon(ctx context.Context, err error) bool {
	var replaced *api.Error
	return ctx.Err() != nil || errors.As(err, &replaced) && replaced.Retry
}

// updateRequest applies f to the recorded request and saves the job's record.
func (j *Job) updateRequest(f func(map[string]any)) {
	j.mu.Lock()
	err := j.editRequest(f)
	j.mu.Unlock()
	if err == nil { // it was written here
		j.save()
	}
}

// editRequest applies f to the request. The caller holds mu.
func (j *Job) editRequest(f func(map[string]any)) error {
	var req map[string]any
	if err := json.Unmarshal(j.request, &req); err != nil {
		return err
	}
	f(req)
	b, err := json.Marshal(req)
	if err == nil {
		j.request = b
	}
	return err
}

// reject ends the job because it was not allowed.
func (j *Job) reject(err error, answer authorize.Answer) {
	j.failWith(err, func() { j.approval.pending, j.approval.id = nil, answer.Approval })
}

// reauthorize requests authorization again for a line that the previous daemon did not submit.
func (j *Job) reauthorize(ctx context.Context, x api.Exec) {
	give := func(ctx context.Context) (func(context.Context), error) { return j.resubmitLine(ctx, x) }
	answer, p, err := j.s.gate.Begin(ctx, j.approval.request)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		j.reject(err, answer)
	case p != nil:
		j.move(triggerApprovalRequested, func() { j.approval.pending = p })
		j.followApproval(ctx, p, give)
	default:
		if !j.move(triggerSubmitted, func() { j.approval.id = answer.Approval }) {
			j.forgetAllowed()
			return
		}
		j.submit(ctx, give)
	}
}

// timeoutStart returns the time from which the job's timeouts count.
func (j *Job) timeoutStart() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.timing.from.IsZero() {
		return j.created
	}
	return j.timing.from
}

// resubmitLine gives the shell, or the program that it was for, a line that was waiting when the daemon before ended.
func (j *Job) resubmitLine(ctx context.Context, x api.Exec) (func(context.Context), error) {
	waiting, cancel := j.untilEnded(ctx)
	defer cancel()
	if j.awaitTyped(waiting); waiting.Err() != nil {
		return nil, waiting.Err()
	}
	j.mu.Lock()
	j.previous.recordOnly = false
	j.mu.Unlock()
	x.Wait = true // it was taken on
	return j.submitToShell(ctx, x)
}

// denialOf returns the error of the gateway if it denied the request, and nil otherwise.
func denialOf(err error) *api.Error {
	var e *api.Error
	if errors.As(err, &e) && (e.Code == api.CodeDenied || e.Code == api.CodeRejected) {
		return e
	}
	return nil
}

// fillApproval sets the approval that a job waits for, or why it was rejected.
func fillApproval(r *api.Result, v *api.Approval, err error) {
	if v != nil && v.State == "pending" {
		j := v.Judgement
		r.State, r.NeedsApproval, r.Approval, r.Policy = "needs_approval", true, v.ID, &j
		return
	}
	if e := denialOf(err); e != nil {
		r.State, r.Error, r.Hint, r.Policy = "denied", e.Message, e.Hint, e.Policy
		if e.Approval != "" {
			r.Approval = e.Approval
		}
	}
}

// approvalID returns the approval that allowed the job, and "" if it needed none.
func (j *Job) approvalID() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.approval.id
}

// failure returns why the job's end was not seen.
func (j *Job) failure() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.outcome.err
}
