//go:build unix

package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/excerpt"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/shell"
)

// answer returns the job's current result, with at most limit bytes of output (0: the limit of its call).
func (j *Job) answer(ctx context.Context, limit int) api.Result {
	st := j.e.Session.Status()
	j.mu.Lock()
	r := api.Result{
		Job: j.id, Session: j.e.ID(), PID: st.PID, PGID: st.PID, Mode: "pty", TimedOut: "none", CwdAfter: st.Cwd,
		InBackground: j.background && j.state < stateEnded,
	}
	if j.timing.expired != "" && (j.outcome.ending == endsByTimeout || j.state < stateEnded || j.outcome.err != nil) {
		r.TimedOut = j.timing.expired
	}
	r.Aborted = j.outcome.ending == endsByCaller
	j.mu.Unlock()
	r.Sandbox = j.s.reg.Sandbox(j.e)
	if j.e.Record().Pipe {
		r.Mode, r.ModeReason = "pipe", j.e.ModeReason()
	}
	r.Executions, _ = j.s.reg.ExecutionsOf(j.e)
	if r.Executions != "" {
		r.Refused = j.s.reg.RefusedSince(j.e, j.created)
	}
	if j.command {
		j.fillCommand(ctx, &r, &st, limit)
	} else {
		j.fillLine(ctx, &r, &st, limit)
		j.fillAnswers(ctx, &r)
	}
	if j.command || r.Command == 1 { // once for a shell
		r.EnvOmitted = j.e.EnvOmitted()
	}
	if r.State == "running" {
		if r.Needs = j.inputNeeded(); r.Needs != "" {
			r.State = "needs_input"
		}
	}
	if r.State == "running" || r.State == "needs_input" {
		r.PGID = cmp.Or(j.e.Foreground(), r.PGID)
	}
	r.Approval, r.Review = j.approvalID(), j.review()
	fillApproval(&r, j.waitsFor(), j.failure())
	if r.Message = j.message(&r); r.State == "waiting" {
		r.Message += j.blockingLineClause()
	}
	r.Hint = cmp.Or(r.Hint, gitHint(&r), networkHint(&r))
	if j.command {
		r.Hint = cmp.Or(r.Hint, cdHint(j.line))
	}
	return r
}

// fillCommand sets the fields of a result about the session's own command.
func (j *Job) fillCommand(ctx context.Context, r *api.Result, st *session.Status, limit int) {
	view := j.s.reg.Describe(j.e, *st)
	r.DurationMS, r.Range = view.Duration, view.Output
	r.ExitCode, r.Signal = view.ExitCode, view.Signal
	j.fillDirectory(r, st, &view)
	switch {
	case st.State == session.Running:
		r.State = "running"
	case st.State != session.Exited:
		r.State = "lost"
	case r.Signal != "":
		r.State = "signalled"
	default:
		r.State = "exited"
	}
	if r.State != "running" && r.State != "lost" && j.endingReason() != endsByItself {
		r.State = "killed"
	}
	j.fillPrinted(ctx, r, view.Output, limit)
	if r.Truncated {
		j.e.MarkOutputTruncated()
	}
	j.parse(ctx, r, j.line)
	if st.State != session.Running {
		r.Background = j.e.BackgroundProcesses(st.Started)
	}
}

// fillDirectory sets the directory, as far as it is known. For a process that has ended only the program's own reports
// are known; the line gives a guess.
func (j *Job) fillDirectory(r *api.Result, st *session.Status, view *api.Session) {
	if r.CwdAfter = view.Cwd; st.Cwd == "" { // else the program reported it
		r.CwdBefore = j.e.Record().Cwd
	}
	if st.State == session.Running {
		return
	}
	if r.CwdAfter = st.Cwd; r.CwdAfter != "" || r.ExitCode == nil || *r.ExitCode != 0 {
		return
	}
	if g := (shell.Guess{Cwd: r.CwdBefore}).AfterLine(j.line); g.Cwd != "" && g.Cwd != r.CwdBefore {
		r.Guess = guessOf(g)
		r.Guess.Env = nil // gone with the process
	}
}

// endingReason returns why the job was ended early.
func (j *Job) endingReason() endReason {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.outcome.ending
}

// outputEnd returns how far a running line's output is known to be its own. Beyond what the owner has read, the
// terminal may already show the next prompt. The offset never decreases.
func (j *Job) outputEnd(c *session.Command, st *session.Status) uint64 {
	at := c.Start
	switch {
	case j.isUnintegrated():
		_, at = j.e.Session.OutputRange()
	case st.Shell.Phase == shell.PhaseRunning && st.Shell.Number >= c.Number:
		at = max(at, st.Offset)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.readOffset = max(j.readOffset, at)
	return j.readOffset
}

// fillLine sets the fields of a result about a line.
func (j *Job) fillLine(ctx context.Context, r *api.Result, st *session.Status, limit int) {
	j.mu.Lock()
	c, final, err, state, program := j.outcome.started, j.outcome.final, j.outcome.err, j.state, j.program
	j.mu.Unlock()
	r.DurationMS = sinceMS(j.created)
	r.State = "running"
	ended := state >= stateEnded && err == nil // else it continues without this daemon
	if r.Error == "" && ended {
		r.Error = final.Note
	}
	switch {
	case state < stateRunning, c.Number == 0 && errors.Is(err, context.Canceled):
		r.State = "waiting"
		if how := j.endingReason(); state >= stateEnded && (how == endsByRequest || how == endsByCaller) {
			r.State = "killed"
		}
		return
	case ended:
		c, r.State = final, "exited"
		if program.typed && final.Exit == nil { // the program is at its prompt; more is not known
			r.Outcome, r.ExitUnknown = "stable", api.ExitNotReported
			if program.noStatus {
				r.ExitUnknown = api.ExitNone
			}
			if st.Shell.Reason != "" {
				r.Error = "exit status unknown: " + st.Shell.Reason
			}
		}
	case j.wasNeverTyped(&c, err):
		r.State, r.Error, r.Hint = "refused", errNotStarted.Error(), notStartedHint
		return
	case err != nil && !errors.Is(err, context.Canceled):
		r.Error, r.State = err.Error(), "lost"
		if isNotAccepted(err, &c, j.line) {
			r.State = "refused"
			if errors.Is(err, session.ErrIncomplete) || errors.Is(err, session.ErrRefused) {
				r.Hint = notAcceptedHint
			}
			return
		}
	}
	if c.Number == 0 && c.Text == "" {
		r.State = "lost"
		return
	}
	if run := j.submittedLine(); run != nil {
		r.Cleared = run.ClearedText
	}
	r.Command, r.Quality = int(c.Number), string(c.Quality)
	r.Range, r.CwdBefore = api.Range{Start: c.Start, End: c.End}, c.CwdBefore
	if c.End == 0 { // the end so far, for the next read to start from
		r.Range.End = j.outputEnd(&c, st)
		if run := j.submittedLine(); run != nil {
			r.Range.Start = j.e.Session.OutputStart(ctx, c, r.Range.End)
		}
	}
	if ended {
		r.ExitCode = c.Exit // a shell reports only this: 137 may be a signal's or not
		r.CwdAfter = c.CwdAfter
		r.DurationMS = c.Command.Ended.Sub(c.Began).Milliseconds()
		r.Env = registry.CommandRecord("", &c).Env
		if j.endingReason() != endsByItself {
			r.State = "killed"
		}
	}
	if ended && j.e.LostBefore(c.Command.Ended) || !ended && st.State == session.Lost {
		r.State, r.ExitCode, r.Error = "lost", nil, errKeeperLost
	} else if st.State != session.Running {
		r.State = "ended"
		if st.Exit != nil && r.ExitCode == nil {
			r.Signal = st.Exit.Signal
		}
		if errors.Is(err, session.ErrEnded) { // "exit 3", for example: the shell itself has ended
			r.Error = ""
		}
	}
	j.fillOutput(ctx, r, r.Range, limit)
	if program.typed && !r.Truncated {
		r.Output = withoutEcho(r.Output, j.line, program.prompt)
		if ended && j.observesOutput() {
			j.e.Unintegrated.ObserveOutput(j.line, r.Output)
		}
	}
	if program.typed {
		r.Guess = guessOf(j.e.Unintegrated.Guess())
	}
	if ended {
		j.parse(ctx, r, c.Text)
	}
	r.Background = j.e.BackgroundProcesses(j.created)
}

// errKeeperLost is the reason of a line whose end was not seen.
const errKeeperLost = "its end was not seen: the keeper, which held its terminal, died, and what ran there was ended"

// notAcceptedHint is the hint for a line that its shell rejected.
const notAcceptedHint = "close its quotes and blocks, or check the output of the shell (`longterm output`); Ctrl-C was sent"

// isNotAccepted reports whether err means that the shell rejected the line and ran none of it. started has no number
// if no start was seen. A shell without start marks (dash) can seem to have started an incomplete line. A single line
// runs only once it is complete, so it still counts as rejected.
func isNotAccepted(err error, started *session.Command, line string) bool {
	if started.Number > 0 {
		return errors.Is(err, session.ErrIncomplete) && !strings.Contains(line, "\n")
	}
	for _, e := range []error{session.ErrIncomplete, session.ErrRefused, session.ErrLine, session.ErrBusy, session.ErrUserTyping, session.ErrNoShell} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// errNotStarted is the error of a line whose shell ended before the line.
var errNotStarted = fmt.Errorf("its shell ended before it began, and nothing of it was run: %w", session.ErrEnded)

// notStartedHint is the hint for errNotStarted.
const notStartedHint = "give it to another session"

// wasNeverTyped reports whether the shell of a line without an end ended before the line was typed: the line waited for
// its turn, or for an approval.
func (j *Job) wasNeverTyped(c *session.Command, err error) bool {
	if c.Number != 0 || c.Text != "" || !errors.Is(err, session.ErrEnded) || j.wasTypedBefore() {
		return false
	}
	run := j.submittedLine()
	return run == nil || run.TypedAt.IsZero()
}

// fillAnswers sets what the response rules of the line did.
func (j *Job) fillAnswers(ctx context.Context, r *api.Result) {
	run := j.submittedLine()
	r.Answers = j.e.MatchesOfRun(ctx, run)
	if run != nil && r.TimedOut != "none" {
		for _, rule := range j.e.Session.UnusedRules(ctx, run) {
			r.Unused = append(r.Unused, cmp.Or(rule.Text, rule.Regexp))
		}
	}
	if j.endingReason() == endsByRule {
		r.Error = run.Reason
	}
}

// maxBudget is the default bound of output in an answer to a user or a script, in bytes.
const maxBudget = 16 << 20

// defaultBudget returns the bound of output in an answer whose caller gives none, in bytes. It is low for agents, which pay for
// each byte, and for digests.
func (j *Job) defaultBudget() int {
	if j.approval.request.Actor.IsAgent() || j.call.Digest {
		return int(j.s.conf.Get().Exec.MaxOutput)
	}
	return maxBudget
}

// limits returns how much of an output its answer has.
func (j *Job) limits(limit int) excerpt.Limits {
	return excerpt.Limits{
		Bytes: cmp.Or(limit, j.call.MaxOutput, j.defaultBudget()), Line: j.call.MaxLine, Session: j.e.ID(),
		Digest: j.call.Digest, Fold: j.call.Digest, Hide: j.approval.request.Actor.IsAgent(),
	}
}

// fillOutput sets the printed output.
func (j *Job) fillOutput(ctx context.Context, r *api.Result, of api.Range, limit int) {
	l := j.limits(limit)
	if r.State == "running" && j.inputNeeded() == "" {
		l.FoldAbove = api.MaxSimilarRunningBytes
	}
	l.Live = r.State == "running"
	t, err := j.text(ctx, of, l)
	if err != nil {
		r.Error = err.Error()
	}
	r.Output, r.Truncated, r.Omitted = t.Text, t.Omitted != nil, t.Omitted
	truncateRange(r, t.Next, err)
	r.Binary, r.BinaryBytes = t.Binary > 0, t.Binary
	if t.Screen && (!j.e.IsTemporary() || j.call.YieldMS > 0 && j.e.Session.Status().State == session.Running) {
		r.Hint = screenHint(j.e.ID()) // whose session is still there to look at
	}
}

// truncateRange ends a running job's range where its text ends: the next read starts there.
func truncateRange(r *api.Result, next uint64, err error) {
	if r.State == "running" && err == nil {
		r.Range.End = min(r.Range.End, next)
	}
}

// fillPrinted sets the output of the session's own command.
func (j *Job) fillPrinted(ctx context.Context, r *api.Result, of api.Range, limit int) {
	if r.Mode == "pipe" {
		j.fillStreams(ctx, r, of, limit)
	} else {
		j.fillOutput(ctx, r, of, limit)
	}
}

// parse sets what the output of an ended command reports, if the call wants it.
func (j *Job) parse(ctx context.Context, r *api.Result, text string) {
	if !j.call.Parse || r.State == "running" {
		return
	}
	parsed, _, err := excerpt.Parse(ctx, j.s.conf.Parser(), j.e.Session, text, r.ExitCode, r.Range.Start, r.Range.End)
	if err != nil {
		r.Error = err.Error()
		return
	}
	r.Parsed = &parsed
}

// fillStreams sets the output of a command on pipes, also by stream.
func (j *Job) fillStreams(ctx context.Context, r *api.Result, of api.Range, limit int) {
	l := j.limits(limit)
	l.Live = r.State == "running"
	p := excerpt.NewPiped(l)
	err := p.Read(ctx, j.e.Session, of.Start, of.End)
	if err != nil {
		r.Error = err.Error()
	}
	truncateRange(r, p.Next, err)
	p.Into(r)
}
