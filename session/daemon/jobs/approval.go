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
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/executions"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/sys"
)

// A line is judged before it is given to its shell. One that a person has to allow waits as a job, whose
// record is there: a daemon that comes after this one asks the gateway again with the job's id, and finds
// the approval.

// askLine is what the gateway is asked about a line.
func askLine(job string, who actor.Actor, e *registry.Handle, x api.Exec) gateway.Ask {
	r := e.Record()
	a := gateway.Ask{
		ID: job, Kind: gateway.Line, Actor: who, Session: e.ID(), Name: r.Name, Labels: r.Labels, Line: x.Line,
		Cwd: e.CurrentDir(e.Session.Status()), Home: Home(), Policy: x.Policy, Kept: r.Policy, Yes: x.Yes,
		Pipe: r.Pipe, Since: r.Started, Ends: true,
	}
	if len(r.Argv) > 0 {
		a.Shell = gateway.ReaderName(r.Argv[0])
	}
	if now := e.Program(); gateway.ReadCode([]string{now}) { // a shell became it: `bash -c 'python3 -q'`, say
		a.Shell = now
	}
	if forProgram(a.Shell, x) {
		a.Readers = e.Readers()
	}
	return a
}

// forProgram says that a line may be for what runs in the session and not for its shell.
func forProgram(shell string, x api.Exec) bool {
	return x.Foreign || shell != "" && gateway.ShellName(shell) == ""
}

// AskLine is what the gateway is asked about a line that is typed as keys are.
func AskLine(id string, who actor.Actor, e *registry.Handle, line string) gateway.Ask {
	a := askLine(id, who, e, api.Exec{Line: line, Foreign: true})
	a.Ends = false
	return a
}

// askRun is what the gateway is asked about a command that is to have a session of its own.
func askRun(who actor.Actor, x *api.Run) gateway.Ask {
	a := AskNew(x.Job, who, &x.NewSession)
	return a
}

// AskNew is what the gateway is asked about a session that is to be started with a command. It notes in n which file is
// judged: no other one is started.
func AskNew(id string, who actor.Actor, n *api.NewSession) gateway.Ask {
	a := gateway.Ask{
		ID: id, Kind: gateway.Command, Actor: who, Name: n.Name, Labels: n.Labels, Line: n.Line, Argv: n.Argv,
		Shell: gateway.ShellName(shellOf(n.Env)), Cwd: n.Cwd, Home: Home(), Policy: n.Policy, Yes: n.Yes,
		Pipe: n.Pipe,
	}
	if who.IsAgent() || who.Policy != "" || n.Policy != "" {
		a.Settings = settingsOf(n)
		found, first := spawn.ProgramOf(n)
		a.File = sys.FileID(first)
		n.Judged = api.JudgedFile{Path: first, ID: a.File, OwnShell: !ofSystem(found, first)}
		switch {
		case first == "":
		case len(n.Argv) > 0:
			a.Path = first // what is called git may be another program, and a script is run by others
			executions.LookAtFirst(&a, first)
		case n.Judged.OwnShell && n.Line == "":
			a.Path, a.Argv = first, []string{first}
		case n.Judged.OwnShell:
			a.Also = [][]string{{first, "-c", n.Line}}
		}
	}
	return a
}

// ShellAlone says that a session is started with a shell and nothing else, which needs no judgement: what it is given is
// judged. A program of one's own that is called so is judged like others.
func ShellAlone(n *api.NewSession) bool {
	return n.Line == "" && (len(n.Argv) == 0 || spawn.IsShell(n.Argv)) && !n.Judged.OwnShell
}

// ofSystem says that a shell is one of the system's: it is found among its programs, or is a link elsewhere to the one
// of its name.
func ofSystem(found, file string) bool {
	among := func(path string) bool {
		return slices.ContainsFunc(shellDirs, func(d string) bool {
			return filepath.Dir(path) == d || d[len(d)-1] == '/' && strings.HasPrefix(path, d)
		})
	}
	return among(found) || among(file) && gateway.ReaderName(found) == gateway.ReaderName(file)
}

// shellDirs are where the system's shells are; with a slash at the end also below.
var shellDirs = []string{"/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/", "/usr/local/Cellar/", "/nix/store/"}

// settingsOf are the variables that a command is started with on purpose, and those of its environment that have
// programs run or load something else, where they are not the daemon's own.
func settingsOf(n *api.NewSession) []string {
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

// shellOf is the user's shell, which reads lines.
func shellOf(env []string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if len(env[i]) > 6 && env[i][:6] == "SHELL=" {
			return env[i][6:]
		}
	}
	return os.Getenv("SHELL")
}

// Home is the person's directory; empty: it is not known.
func Home() string {
	dir, _ := os.UserHomeDir() // unknown: the rules ask rather
	return dir
}

// hold stops the job's clocks: a person has to allow it.
func (j *Job) hold(p *gateway.Pending) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending, j.held = p, true
}

// letRun has the job's clocks run from now on.
func (j *Job) letRun(from time.Time, approval string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending, j.held, j.runsFrom, j.approval = nil, false, from, approval
	closeOnce(j.admitted)
}

// admittedTo notes what the gateway said of the session's own command.
func (j *Job) admittedTo(a gateway.Ask, answer gateway.Answer) {
	a.Session = j.e.ID()
	j.mu.Lock()
	j.approval, j.asking = answer.Approval, a
	j.mu.Unlock()
	j.s.gate.Started(j.e.ID(), a, answer)
}

// followApproval waits until the line is allowed, gives it to the shell, and follows it.
func (j *Job) followApproval(ctx context.Context, p *gateway.Pending, give func(context.Context) (func(context.Context), error)) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // who gives the job up does not wait any more
		select {
		case <-j.ended:
			cancel()
		case <-waiting.Done():
		}
	}()
	go func() { // nor does a line whose shell is gone
		if _, err := j.e.Session.Wait(waiting, session.WaitFor{Conds: []session.Cond{{Kind: session.CondExit}}}); err == nil {
			j.fail(session.ErrEnded)
		}
	}()
	answer, err := p.Wait(waiting)
	switch {
	case ctx.Err() != nil:
		return
	case isClosed(j.ended):
		j.s.gate.NotGiven(j.e.ID(), j.id) // in case it was answered at that moment
		j.s.gate.Landed(j.e.ID(), j.id)
		return
	case err != nil:
		j.letRun(time.Now(), answer.Approval)
		j.fail(err)
		return
	}
	now := time.Now()
	j.letRun(now, answer.Approval)
	j.noteFrom(now)
	follow, err := give(ctx)
	switch {
	case leftBehind(ctx, err):
		return
	case err != nil:
		j.fail(err)
		return
	}
	follow(ctx)
}

// leftBehind says of a line that was not given that the daemon's successor gives it.
func leftBehind(ctx context.Context, err error) bool {
	var replaced *api.Error
	return ctx.Err() != nil || errors.As(err, &replaced) && replaced.Retry
}

// change changes what the record keeps of the request.
func (j *Job) change(f func(map[string]any)) {
	j.mu.Lock()
	var req map[string]any
	err := json.Unmarshal(j.req, &req)
	if err == nil {
		f(req)
		var b []byte
		if b, err = json.Marshal(req); err == nil {
			j.req = b
		}
	}
	j.mu.Unlock()
	if err == nil { // it was written here
		j.save()
	}
}

// askAgain asks for a line that the daemon before had not given to its shell.
func (j *Job) askAgain(ctx context.Context, x api.Exec) {
	give := func(ctx context.Context) (func(context.Context), error) { return j.giveAgain(ctx, x) }
	answer, p, err := j.s.gate.Begin(ctx, j.asking)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		j.letRun(time.Now(), answer.Approval)
		j.fail(err)
	case p != nil:
		j.hold(p)
		j.followApproval(ctx, p, give)
	default:
		j.letRun(j.since(), answer.Approval)
		follow, err := give(ctx)
		if leftBehind(ctx, err) {
			return
		}
		if err != nil {
			j.fail(err)
			return
		}
		follow(ctx)
	}
}

// since is when the job's clocks began to run.
func (j *Job) since() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.runsFrom.IsZero() {
		return j.began
	}
	return j.runsFrom
}

// giveAgain gives the shell, or the program that it was for, a line that was waiting when the daemon before ended.
func (j *Job) giveAgain(ctx context.Context, x api.Exec) (func(context.Context), error) {
	if j.awaitTyped(ctx); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	j.found.Store(false)
	x.Wait = true // it was taken on
	return j.giveLine(ctx, x)
}

// refused says that the gateway did not let it go ahead.
func refused(err error) *api.Error {
	var e *api.Error
	if errors.As(err, &e) && (e.Code == api.CodeDenied || e.Code == api.CodeRejected) {
		return e
	}
	return nil
}

// fillAsking puts in what a job that a person has to allow waits for, or why it was not allowed.
func fillAsking(r *api.Result, v *api.Approval, err error) {
	if v != nil && v.State == "pending" {
		j := v.Judgement
		r.State, r.NeedsApproval, r.Approval, r.Policy = "needs_approval", true, v.ID, &j
		return
	}
	if e := refused(err); e != nil {
		r.State, r.Error, r.Hint, r.Policy = "denied", e.Message, e.Hint, e.Policy
		if e.Approval != "" {
			r.Approval = e.Approval
		}
	}
}

// approvalID is the approval that allowed the job; empty: it needed none.
func (j *Job) approvalID() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.approval
}

// failure is why there is no end.
func (j *Job) failure() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}
