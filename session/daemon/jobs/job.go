//go:build unix

package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/excerpt"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/internal/killladder"
	"github.com/longterm-dev/longterm/store"
)

// agentBackgroundLimit is the default time limit of an agent's job in the background (R16). The other defaults are in the
// configuration.
const agentBackgroundLimit = 24 * time.Hour

// timerRearm is the longest sleep of runTimeouts, for jobs without a limit.
const timerRearm = 24 * time.Hour

// stuckTime is how long after it was typed a line should have started.
const stuckTime = 2 * time.Second

// endedTime is how long the end of a killed command takes to be seen.
const endedTime = 2 * time.Second

// timeouts are the limits of a job's time.
type timeouts struct {
	wall, idle time.Duration // 0: none
	kill       bool          // kill the command on expiry; else it continues in the background
	background time.Duration // wall limit once it is in the background
}

// timeoutsOf returns the limits of a call by a. Only agents have default limits: a user sees what a
// command does, and a script that runs one means it to end by itself. Commands are ended by their limits, lines continue.
func (s *Set) timeoutsOf(a identity.Actor, c *api.Call, kill bool) (timeouts, error) {
	k := timeouts{kill: kill}
	if a.IsAgent() {
		conf := &s.conf.Get().Exec
		k.wall, k.idle, k.background = conf.Timeout, conf.IdleTimeout, agentBackgroundLimit
	}
	if inBackground(c) {
		k.wall, k.idle = k.background, 0
	}
	if c.TimeoutMS != nil {
		k.wall = time.Duration(*c.TimeoutMS) * time.Millisecond
	}
	if c.IdleTimeoutMS != nil {
		k.idle = time.Duration(*c.IdleTimeoutMS) * time.Millisecond
	}
	if c.OnTimeout != "" {
		k.kill = c.OnTimeout == "kill"
	}
	switch {
	case k.wall < 0:
		return k, api.Errorf(api.CodeInvalid, "timeout %s: negative", k.wall).WithHint("give a positive time, or 0 for no limit")
	case k.idle < 0:
		return k, api.Errorf(api.CodeInvalid, "idle timeout %s: negative", k.idle).WithHint("give a positive time, or 0 for no limit")
	}
	return k, nil
}

// inBackground reports whether a call does not wait for its end.
func inBackground(c *api.Call) bool { return c.Background || c.YieldMS > 0 }

// Job is a line or a command with the timeouts of its caller. It has two goroutines: runTimeouts owns its timeouts, follow
// sees its end. Callers come and go; only a caller that breaks off its own request changes a job.
type Job struct {
	s        *Set
	e        *registry.Handle
	id       string
	line     string // as users read it
	command  bool   // the session's own command; else a line in its shell
	call     api.Call
	created  time.Time
	stops    chan time.Duration // requests its end, with the grace of the kill ladder
	skips    chan struct{}      // each value ends the time of the ladder's current step
	callers  callers
	digest   incremental
	machine  // its mu guards the fields below
	previous previous

	request    []byte // as submitted, JSON
	timeouts   timeouts
	timing     timing
	background bool
	approval   approval
	drafted    drafted
	warm       *warm        // the warm shell that runs the line; nil: another session does
	run        *session.Run // of a line that this daemon submitted to the shell
	program    program
	outcome    outcome
	readOffset uint64 // offset up to which a running line's output was returned
}

// previous is what the previous daemon did with a line.
type previous struct {
	line       *Job // submitted to the same session before it; nil if none was
	typed      bool // the line was typed
	hadStarted bool // the job started under the previous daemon
	recordOnly bool // its progress is visible only in the session's recorded commands
	rules      bool // the line had response rules, which are not recorded
}

// timing is when a job's timeouts run.
type timing struct {
	adoptedAt    time.Time     // when this daemon began with the job
	from         time.Time     // start of the timeouts, later by the time that they were paused; zero: the job's creation
	pausedAt     time.Time     // start of the pause for a program that waits for approval; zero: not paused
	resumedAt    time.Time     // end of the last such pause
	expired      string        // the timeout that has expired: wall, idle
	expiredAfter time.Duration // its limit
}

// approval holds the gateway's request for a job, and its answer.
type approval struct {
	request authorize.Request
	pending *authorize.Pending // while a user has to answer
	id      string             // of the approval; empty if none was needed
}

// program is the program without command marks, a REPL for example, that a line is typed into.
type program struct {
	allowed  bool   // the line may be for a program
	typed    bool   // the line is typed into one
	prompt   string // prompt that it showed before the line
	repl     bool   // it reads commands or data at this prompt
	noStatus bool   // it has no exit statuses for lines
	observed bool   // what it printed was recorded for guesses
	// the shell's newest command before the line; if it is running, the program is its process
	startedBy session.Command
}

// outcome is how a job began and ended.
type outcome struct {
	ending         endReason       // the first reason to end it
	started, final session.Command // of a line
	err            error           // why no end was seen
	result         *api.Result     // from the end of stateEnded on
	at             time.Time       // of the result
}

// incremental is the digest that is made while the output arrives.
type incremental struct {
	sync.Mutex // held while text is read
	text       *excerpt.Incremental
}

// endReason is the reason why a job is ended early.
type endReason uint8

const (
	// not ended early
	endsByItself endReason = iota
	// a timeout expired
	endsByTimeout
	endsByCaller // its caller left
	// a client requested its end
	endsByRequest
	endsByRule // a response rule of the line failed
)

// runTimeouts enforces a job's timeouts until its end is known.
func (j *Job) runTimeouts(ctx context.Context) {
	stuck := time.NewTimer(stuckTime)
	defer stuck.Stop()
	paused := false
	for ctx.Err() == nil { // else the daemon ends, and the next one continues
		p := j.watch()
		if p.state == stateEnded {
			j.finish(ctx)
		}
		if p.state >= stateEnded {
			return
		}
		if paused && !p.state.isPaused() {
			stuck.Reset(stuckTime)
		}
		paused = p.state.isPaused()
		changed := j.updatePause()
		wall, idle := j.timeRemaining()
		if wall <= 0 || idle <= 0 {
			j.expire(ctx, wall <= 0)
			continue
		}
		next := time.NewTimer(min(wall, idle))
		select {
		case <-ctx.Done():
		case <-p.changed:
		case grace := <-j.stops:
			j.end(ctx, grace)
		case <-j.ruleFailed():
			j.endByRule(ctx)
		case <-changed:
		case <-next.C:
		case <-stuck.C:
			j.probeIfStuck(ctx)
		}
		next.Stop()
	}
}

// ruleFailed returns a channel that is closed when a response rule of the line has failed. It returns nil if the line
// has no rules, or the failure is known.
func (j *Job) ruleFailed() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.run == nil || j.outcome.ending == endsByRule {
		return nil
	}
	return j.run.Failed
}

// endByRule ends a line because one of its response rules demands it.
func (j *Job) endByRule(ctx context.Context) {
	j.setEnding(endsByRule)
	j.end(ctx, j.grace())
}

// grace returns the time of each step of the kill ladder if the request gives none.
func (j *Job) grace() time.Duration { return j.s.conf.GraceFor(j.approval.request.Actor) }

// timeRemaining returns the time until the timeouts expire.
func (j *Job) timeRemaining() (wall, idle time.Duration) {
	j.mu.Lock()
	k, at, paused := j.timeouts, j.timing, j.state.isPaused() || !j.timing.pausedAt.IsZero()
	j.mu.Unlock()
	began := at.from
	if began.IsZero() {
		began = j.created
	}
	wall = timerRearm
	if paused {
		return wall, timerRearm
	}
	if k.wall != 0 {
		wall = k.wall - time.Since(began)
	}
	if k.idle == 0 {
		return wall, timerRearm
	}
	last := j.e.Session.Status().LastOutput
	last = latest(last, at.adoptedAt, began, at.resumedAt) // what was printed under the daemon before may not be known yet
	return wall, k.idle - time.Since(last)
}

// expire acts on a timeout that has expired.
func (j *Job) expire(ctx context.Context, wall bool) {
	j.mu.Lock()
	if j.timing.expired, j.timing.expiredAfter = "idle", j.timeouts.idle; wall {
		j.timing.expired, j.timing.expiredAfter = "wall", j.timeouts.wall
	}
	kill := j.timeouts.kill
	j.mu.Unlock()
	switch {
	case kill:
		j.setEnding(endsByTimeout)
		j.end(ctx, j.grace())
	case !j.hasReached(stateRunning):
		j.withdraw(ctx)
	default:
		j.detach()
	}
}

// detach makes callers return. The job continues in the background.
func (j *Job) detach() {
	j.mu.Lock()
	before := j.background
	j.background = true
	if j.timeouts.wall != 0 { // no limit stays none
		j.timeouts.wall = j.timeouts.background
	}
	j.timeouts.idle, j.timeouts.kill = 0, true
	j.mu.Unlock()
	if before {
		return
	}
	if j.command {
		j.e.Keep(j.s.reg)
	}
	j.recordBackground()
	j.releaseCallers()
}

// recordBackground records for the next daemon that the job is in the background.
func (j *Job) recordBackground() {
	j.updateRequest(func(req map[string]any) {
		if limit, _ := req["timeout_ms"].(float64); limit != 0 { // no limit stays none
			delete(req, "timeout_ms")
		}
		delete(req, "idle_timeout_ms")
		req["background"] = true
	})
}

// setEnding records why the job is ended early; the first reason counts.
func (j *Job) setEnding(how endReason) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.outcome.ending == endsByItself {
		j.outcome.ending = how
	}
}

// end ends what the job runs by the kill ladder and waits for its end.
func (j *Job) end(ctx context.Context, grace time.Duration) {
	ctx = killladder.WithSkip(context.WithoutCancel(ctx), j.skips) // half a kill ladder is of no use
	j.setEnding(endsByRequest)
	switch {
	case j.current() == statePendingCommit:
		j.fail(context.Canceled)
	case j.command:
		if err := j.s.reg.Kill(ctx, j.e, grace); err != nil {
			j.fail(err)
		}
		j.awaitFor(ctx, stateEnded, endedTime)
	case !j.hasReached(stateRunning):
		j.withdraw(ctx)
	default:
		j.interrupt(ctx, grace)
	}
	if !j.hasReached(stateEnded) {
		j.withdraw(ctx)
	}
}

// withdraw cancels a line that is not typed yet; a typed one continues without its caller.
func (j *Job) withdraw(ctx context.Context) {
	run := j.submittedLine()
	if run == nil || j.isUnintegrated() {
		j.fail(context.Canceled)
		if run = j.submittedLine(); run == nil { // else it was submitted at this moment
			return
		}
	}
	if err := j.e.Session.Drop(ctx, run); err != nil && !errors.Is(err, session.ErrStopped) {
		j.s.log.Error("drop a line", "job", j.id, "err", err)
	}
	j.awaitFor(ctx, stateEnded, endedTime)
}

// probeIfStuck probes a line that was typed and has not started.
func (j *Job) probeIfStuck(ctx context.Context) {
	if run := j.submittedLine(); run != nil && !j.hasReached(stateRunning) && time.Since(j.e.Session.Status().LastOutput) > stuckTime/2 {
		_ = j.e.Session.DropIncomplete(ctx, run)
	}
}

// submittedLine returns the line as this daemon submitted it to the shell. It returns nil if this daemon did not.
func (j *Job) submittedLine() *session.Run {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.run
}

// programState returns what is known of the program that the line is typed into.
func (j *Job) programState() program {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.program
}

// isUnintegrated reports whether the line was typed into a program without command marks.
func (j *Job) isUnintegrated() bool { return j.programState().typed }

// wasTypedBefore reports whether the previous daemon typed the line.
func (j *Job) wasTypedBefore() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.previous.typed
}

// observesOutput reports once that the program's output must be recorded for guesses.
func (j *Job) observesOutput() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	first := !j.program.observed
	j.program.observed = true
	return first
}

// move moves the job by t; set changes its data under mu. It reports whether the job's state has the transition.
func (j *Job) move(t trigger, set func()) bool {
	edge := &transitions[t]
	err := j.apply(t, set, func() error {
		j.persist(edge)
		return nil
	})
	if err == nil && edge.then != writeNothing {
		j.save()
	}
	return err == nil
}

// persist writes what a transition writes first. A write that fails is logged and retried.
func (j *Job) persist(edge *transition) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if edge.first == deleteRecord {
		j.s.retryQueue.Drop(j.id)
		if err := j.s.store.DeleteJob(ctx, j.id); err != nil && !errors.Is(err, store.ErrNoJob) {
			j.s.log.Error("forget a job", "job", j.id, "err", err)
		}
		j.s.forget(j)
		return
	}
	if err := j.s.write(ctx, j.rowAt(edge.to)); err != nil {
		j.s.log.Error("record a job", "job", j.id, "err", err)
	}
}

// untilEnded returns a context that ends with ctx, or when the job has ended.
func (j *Job) untilEnded(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		if j.await(ctx, stateEnded) {
			cancel()
		}
	}()
	return ctx, cancel
}

// fail ends the job with the reason why its end cannot be observed.
func (j *Job) fail(err error) { j.failWith(err, func() {}) }

// failWith is fail, and changes the job's data by set under mu.
func (j *Job) failWith(err error, set func()) {
	t := triggerFailed
	if errors.Is(err, session.ErrStopped) { // the daemon ends; the next one continues
		t = triggerHandedOff
	}
	j.move(t, func() {
		set()
		j.outcome.err = err
	})
}

// onCommand moves a line's job when its command began or ended.
func (j *Job) onCommand(c *session.Command, err error) {
	switch {
	case err != nil:
		j.failWith(err, func() { j.outcome.final = *c })
	case c.Running:
		j.move(triggerStarted, func() { j.outcome.started = *c })
	default:
		j.move(triggerExited, func() {
			if j.state < stateRunning && j.previous.recordOnly {
				j.outcome.started = *c
			}
			j.outcome.final = *c
		})
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
