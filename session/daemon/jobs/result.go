//go:build unix

package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/excerpt"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/shell"
)

// answer is what can be told of a job now, with at most limit bytes of output (0: as many
// as were asked for with it).
func (j *Job) answer(ctx context.Context, limit int) api.Result {
	st := j.e.Session.Status()
	j.mu.Lock()
	r := api.Result{
		Job: j.id, Session: j.e.ID(), PID: st.PID, PGID: st.PID, Mode: "pty", TimedOut: "none", CwdAfter: st.Cwd,
		InBackground: j.away && !isClosed(j.ended),
	}
	if j.expired != "" && (j.how == endsByClock || !isClosed(j.ended) || !isClosed(j.begun) || j.err != nil) {
		r.TimedOut = j.expired
	}
	r.Aborted = j.how == endsByCaller
	j.mu.Unlock()
	r.Sandbox = j.s.reg.Sandbox(j.e)
	if j.e.Record().Pipe {
		r.Mode, r.ModeReason = "pipe", j.e.ModeReason()
	}
	r.Executions, _ = j.s.reg.ExecutionsOf(j.e)
	if r.Executions != "" {
		r.Refused = j.s.reg.RefusedSince(j.e, j.began)
	}
	if j.command {
		j.fillCommand(ctx, &r, &st, limit)
	} else {
		j.fillLine(ctx, &r, &st, limit)
		j.fillAnswers(ctx, &r)
	}
	if r.State == "running" {
		if r.Needs = j.inputNeeded(); r.Needs != "" {
			r.State = "needs_input"
		}
	}
	if r.State == "running" || r.State == "needs_input" {
		r.PGID = cmp.Or(j.e.Foreground(), r.PGID)
	}
	r.Approval = j.approvalID()
	fillAsking(&r, j.waitsFor(), j.failure())
	if r.Message = j.message(&r); r.State == "waiting" {
		r.Message += j.whichWaits()
	}
	r.Hint = cmp.Or(r.Hint, gitHint(&r))
	if j.command {
		r.Hint = cmp.Or(r.Hint, cdHint(j.line))
	}
	return r
}

// fillCommand puts in what is known of the session's own command.
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
	if r.State != "running" && r.State != "lost" && j.why() != endsByItself {
		r.State = "killed"
	}
	j.fillPrinted(ctx, r, view.Output, limit)
	if r.Truncated {
		j.e.MarkCut()
	}
	j.parse(ctx, r, j.line)
	if st.State != session.Running {
		r.Background = j.e.Background(st.Started)
	}
}

// fillDirectory puts in the directory, as far as it is known. Of a process that has ended nothing tells it but what the
// program said itself; what its line says is a guess.
func (j *Job) fillDirectory(r *api.Result, st *session.Status, view *api.Session) {
	if r.CwdAfter = view.Cwd; st.Cwd == "" { // else the record has what the program said
		r.CwdBefore = j.e.Record().Cwd
	}
	if st.State == session.Running {
		return
	}
	if r.CwdAfter = st.Cwd; r.CwdAfter != "" || r.ExitCode == nil || *r.ExitCode != 0 {
		return
	}
	if g := (shell.Guess{Cwd: r.CwdBefore}).After(j.line); g.Cwd != "" && g.Cwd != r.CwdBefore {
		r.Guess = guessOf(g)
		r.Guess.Env = nil // gone with the process
	}
}

func (j *Job) why() ending {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.how
}

// reached is how far a running line's output is known to be its own: what the terminal shows
// beyond what the owner has looked at may be the next prompt's already. It never goes back.
func (j *Job) reached(c *session.Command, st *session.Status) uint64 {
	at := c.Start
	switch {
	case j.unintegrated.Load():
		_, at = j.e.Session.OutputRange()
	case st.Shell.Phase == shell.PhaseRunning && st.Shell.Number >= c.Number:
		at = max(at, st.Offset)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.came = max(j.came, at)
	return j.came
}

// fillLine puts in what is known of a line.
func (j *Job) fillLine(ctx context.Context, r *api.Result, st *session.Status, limit int) {
	j.mu.Lock()
	c, final, err := j.started, j.final, j.err
	j.mu.Unlock()
	r.DurationMS = sinceMS(j.began)
	r.State = "running"
	ended := isClosed(j.ended) && err == nil // else it goes on without us
	if r.Error == "" && ended {
		r.Error = final.Note
	}
	switch {
	case !isClosed(j.begun), c.Number == 0 && errors.Is(err, context.Canceled):
		r.State = "waiting"
		if how := j.why(); isClosed(j.ended) && (how == endsByRequest || how == endsByCaller) {
			r.State = "killed"
		}
		return
	case ended:
		c, r.State = final, "exited"
		if j.unintegrated.Load() && final.Exit == nil { // it rests, and that is all there is to know
			r.Outcome, r.ExitUnknown = "stable", api.ExitNotReported
			if j.noStatus.Load() {
				r.ExitUnknown = api.ExitNone
			}
		}
	case j.neverTyped(&c, err):
		r.State, r.Error, r.Hint = "refused", errNotBegun.Error(), notBegunHint
		return
	case err != nil && !errors.Is(err, context.Canceled):
		r.Error, r.State = err.Error(), "lost"
		if c.Number == 0 && notTaken(err) {
			r.State = "refused"
			if errors.Is(err, session.ErrIncomplete) || errors.Is(err, session.ErrRefused) {
				r.Hint = notTakenHint
			}
			return
		}
	}
	if c.Number == 0 && c.Text == "" {
		r.State = "lost"
		return
	}
	if run := j.given(); run != nil {
		r.Cleared = run.Cleared
	}
	r.Command, r.Quality = int(c.Number), string(c.Quality)
	r.Range, r.CwdBefore = api.Range{Start: c.Start, End: c.End}, c.CwdBefore
	if c.End == 0 { // as far as it came: a cursor to go on from
		r.Range.End = j.reached(&c, st)
	}
	if ended {
		r.ExitCode = c.Exit // a shell tells no more: 137 may be a signal's, or not
		r.CwdAfter = c.CwdAfter
		r.DurationMS = c.Command.Ended.Sub(c.Began).Milliseconds()
		r.Env = registry.CommandRecord("", &c).Env
		if j.why() != endsByItself {
			r.State = "killed"
		}
	}
	if ended && j.e.LostBefore(c.Command.Ended) {
		r.State, r.ExitCode, r.Error = "lost", nil, errKeeperLost
	} else if st.State != session.Running {
		r.State = "ended"
		if st.Exit != nil && r.ExitCode == nil {
			r.Signal = st.Exit.Signal
		}
		if errors.Is(err, session.ErrEnded) { // "exit 3", say: the shell itself is gone
			r.Error = ""
		}
	}
	j.fillOutput(ctx, r, r.Range, limit)
	if j.unintegrated.Load() && !r.Truncated {
		r.Output = withoutEcho(r.Output, j.line, j.prompt)
		if ended && j.told.CompareAndSwap(false, true) {
			j.e.Unintegrated.Told(j.line, r.Output)
		}
	}
	if j.unintegrated.Load() {
		r.Guess = guessOf(j.e.Unintegrated.Guess())
	}
	if ended {
		j.parse(ctx, r, c.Text)
	}
	r.Background = j.e.Background(j.began)
}

// errKeeperLost says why the end of a line was not seen.
const errKeeperLost = "its end was not seen: the keeper, which held its terminal, died, and what ran there was ended"

// notTakenHint says what to do about a line that its shell refused.
const notTakenHint = "close its quotes and blocks, or look at what the shell said (`longterm output`); it was given Ctrl-C"

// notTaken says of an error that the shell did not take the line, and ran nothing of it.
func notTaken(err error) bool {
	for _, e := range []error{session.ErrIncomplete, session.ErrRefused, session.ErrLine, session.ErrBusy, session.ErrBegun, session.ErrNoShell} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// errNotBegun says of a line whose shell ended before it what became of it: nothing.
var errNotBegun = fmt.Errorf("its shell ended before it began, and nothing of it was run: %w", session.ErrEnded)

const notBegunHint = "give it to another session"

// neverTyped says of a line that has no end that its shell ended before it was given it: it waited for its turn, or for
// a person to allow it.
func (j *Job) neverTyped(c *session.Command, err error) bool {
	if c.Number != 0 || c.Text != "" || !errors.Is(err, session.ErrEnded) || j.typedBefore {
		return false
	}
	run := j.given()
	return run == nil || run.Typed.IsZero()
}

// fillAnswers puts in what the rules that came with a line did.
func (j *Job) fillAnswers(ctx context.Context, r *api.Result) {
	run := j.given()
	r.Answers = j.e.AnswersOf(ctx, run)
	if run != nil && r.TimedOut != "none" {
		for _, rule := range j.e.Session.UnusedRules(ctx, run) {
			r.Unused = append(r.Unused, cmp.Or(rule.Text, rule.Regexp))
		}
	}
	if j.why() == endsByRule {
		r.Error = run.Reason
	}
}

// maxBudget is the default bound of output in an answer to a person or a script, in bytes.
const maxBudget = 16 << 20

// defaultBudget returns the bound of output in an answer whose caller gives none, in bytes. It is low for agents, which pay for
// each byte, and for digests.
func (j *Job) defaultBudget() int {
	if j.asking.Actor.IsAgent() || j.call.Digest {
		return int(j.s.conf.Get().Exec.MaxOutput)
	}
	return maxBudget
}

// limits are how much of an output its answer has.
func (j *Job) limits(limit int) excerpt.Limits {
	return excerpt.Limits{
		Bytes: cmp.Or(limit, j.call.MaxOutput, j.defaultBudget()), Line: j.call.MaxLine, Session: j.e.ID(),
		Digest: j.call.Digest, Fold: j.call.Digest, Hide: j.asking.Actor.IsAgent(),
	}
}

// fillOutput puts in what was printed.
func (j *Job) fillOutput(ctx context.Context, r *api.Result, of api.Range, limit int) {
	l := j.limits(limit)
	if r.State == "running" && j.inputNeeded() == "" {
		l.Whole = api.Meanwhile
	}
	l.Live = r.State == "running"
	t, err := j.text(ctx, of, l)
	if err != nil {
		r.Error = err.Error()
	}
	r.Output, r.Truncated, r.Omitted = t.Text, t.Omitted != nil, t.Omitted
	goesOnFrom(r, t.Next, err)
	r.Binary, r.BinaryBytes = t.Binary > 0, t.Binary
	if t.Screen && (!j.e.Temporary() || j.call.YieldMS > 0 && j.e.Session.Status().State == session.Running) {
		r.Hint = screenHint(j.e.ID()) // whose session is still there to look at
	}
}

// goesOnFrom ends a running job's range where its text ends: the next read starts there.
func goesOnFrom(r *api.Result, next uint64, err error) {
	if r.State == "running" && err == nil {
		r.Range.End = min(r.Range.End, next)
	}
}

// fillPrinted puts in what the session's own command printed.
func (j *Job) fillPrinted(ctx context.Context, r *api.Result, of api.Range, limit int) {
	if r.Mode == "pipe" {
		j.fillStreams(ctx, r, of, limit)
	} else {
		j.fillOutput(ctx, r, of, limit)
	}
}

// parse puts in what the output of an ended command says, if that was asked for.
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

// fillStreams puts in what was printed on pipes, each stream for itself too.
func (j *Job) fillStreams(ctx context.Context, r *api.Result, of api.Range, limit int) {
	l := j.limits(limit)
	l.Live = r.State == "running"
	p := excerpt.NewPiped(l)
	err := p.Read(ctx, j.e.Session, of.Start, of.End)
	if err != nil {
		r.Error = err.Error()
	}
	goesOnFrom(r, p.Next, err)
	p.Into(r)
}
