//go:build unix

package jobs

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/excerpt"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/internal/ladder"
)

// agentBackgroundLimit is the default time limit of an agent's job in the background (R16). The other defaults are in the
// configuration.
const agentBackgroundLimit = 24 * time.Hour

// timerRearm is the longest sleep of runClocks, for jobs without a limit.
const timerRearm = 24 * time.Hour

// stuckTime is how long after a line was typed it should have begun.
const stuckTime = 2 * time.Second

// endedTime is how long the end of what was killed takes to be known.
const endedTime = 2 * time.Second

// clocks are when a job is to be over at the latest.
type clocks struct {
	wall, idle time.Duration // 0: none
	kill       bool          // on expiry; else it goes on in the background
	background time.Duration // wall limit once it is in the background
}

// clocksOf returns the limits of a call by a. Only agents have default limits: a person sees what a
// command does, and a script that runs one means it to end by itself. Commands are ended by their limits, lines continue.
func (s *Set) clocksOf(a actor.Actor, c *api.Call, kill bool) (clocks, error) {
	k := clocks{kill: kill}
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

// inBackground says that a call's end is not waited for.
func inBackground(c *api.Call) bool { return c.Background || c.YieldMS > 0 }

// Job is a line or a command under the clocks of its caller. It has two
// goroutines: runClocks owns the clocks, follow sees its end. Callers come and go; none of
// them being there changes nothing, but for the one who asked and breaks off.
type Job struct {
	s       *Set
	e       *registry.Handle
	id      string
	line    string // as people read it
	command bool   // the session's own; else a line in its shell
	req     []byte // as it was asked for, JSON
	call    api.Call
	began   time.Time
	here    time.Time // when this daemon took it up

	begun chan struct{} // closed when the shell began with it
	ended chan struct{} // closed when its end is known
	over  chan struct{} // closed when the result stands

	settled chan struct{} // closed when it was started, or dropped instead

	admitted chan struct{} // closed when nobody has to allow it any more: its clocks run from then on
	known    bool          // its record is there already

	stops    chan time.Duration // asks for its end, with the grace of the ladder
	skips    chan struct{}      // each value ends the time of the ladder's current step
	released chan struct{}      // closed when callers are to come back without its end

	behind         *Job          // the line that its session was given before it, by the daemon before; nil: none
	placed         chan struct{} // of such a line: closed when typedBefore is known
	typedBefore    bool          // by the daemon before
	found          atomic.Bool   // the daemon before gave it to the shell: commands are all that tells of it
	ruled          bool          // the daemon before had it with rules
	orUnintegrated bool          // it may be
	told           atomic.Bool   // what it printed of that program was taken note of
	unintegrated   atomic.Bool   // it was given to a program that tells nothing of its commands
	noStatus       atomic.Bool   // that program is a REPL, without exit statuses for lines
	prompt         string        // that program's, before the line
	repl           bool          // that program takes commands at this prompt

	saving    sync.Mutex // held while the record is written; before mu
	mu        sync.Mutex
	warm      *warm        // the shell of the pool that the line was given to
	run       *session.Run // of a line that this daemon gave to the shell
	clocks    clocks
	away      bool            // it goes on in the background
	expired   string          // the clock that sent it there, or ended it
	limit     time.Duration   // of the expired clock
	how       ending          // why it is to end
	started   session.Command // of a line, as it began
	final     session.Command // of a line, as it ended
	err       error           // why there is no end; likewise
	result    *api.Result
	done      time.Time        // when the result stood
	asking    gateway.Ask      // what the gateway is asked
	pending   *gateway.Pending // a person has to allow it
	held      bool             // its clocks stand still
	runsFrom  time.Time        // when its clocks began to run, later by what they stood since; zero: with the job
	stoodFrom time.Time        // since when they stand still, for a program that it runs waits for a person; zero: they run
	wentOn    time.Time        // when they ran again after that
	approval  string           // that allowed it
	came      uint64           // offset up to which a running line's output was handed out
	callers   callers

	reading sync.Mutex // held while along is read
	along   *excerpt.Along
}

// ending is why a job is to end before its time.
type ending uint8

const (
	endsByItself ending = iota
	endsByClock
	endsByCaller // who went away
	endsByRequest
	endsByRule // that came with it
)

// runClocks watches a job's clocks until its end is known.
func (j *Job) runClocks(ctx context.Context) {
	stuck := time.NewTimer(stuckTime)
	defer stuck.Stop()
	released, admitted, begun := j.released, j.admitted, j.begun
	for ctx.Err() == nil { // else the daemon ends, and its successor goes on
		if isClosed(j.ended) {
			j.finish(ctx)
			return
		}
		changed := j.stand()
		wall, idle := j.left()
		if wall <= 0 || idle <= 0 {
			j.expire(ctx, wall <= 0)
			continue
		}
		next := time.NewTimer(min(wall, idle))
		select {
		case <-ctx.Done():
		case <-j.ended:
		case grace := <-j.stops:
			j.end(ctx, grace)
		case <-j.failed():
			j.endByRule(ctx)
		case <-released: // its clocks have changed
			released = nil
		case <-admitted:
			admitted = nil
			stuck.Reset(stuckTime)
		case <-begun: // what waits in its session is its own from now on
			begun = nil
		case <-changed:
		case <-next.C:
		case <-stuck.C:
			j.push(ctx)
		}
		next.Stop()
	}
}

// failed is closed when a rule that came with the line has failed; nil: there is none, or
// that is known.
func (j *Job) failed() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.run == nil || j.how == endsByRule {
		return nil
	}
	return j.run.Failed
}

// endByRule ends a line because a rule that came with it says so.
func (j *Job) endByRule(ctx context.Context) {
	j.mark(endsByRule)
	j.end(ctx, j.grace())
}

// grace returns the time of each step of the kill ladder if the request gives none.
func (j *Job) grace() time.Duration { return j.s.conf.GraceFor(j.asking.Actor) }

// left is how much the clocks have left.
func (j *Job) left() (wall, idle time.Duration) {
	j.mu.Lock()
	k, held, began, wentOn := j.clocks, j.held || !j.stoodFrom.IsZero(), j.runsFrom, j.wentOn
	j.mu.Unlock()
	if began.IsZero() {
		began = j.began
	}
	wall = timerRearm
	if held {
		return wall, timerRearm
	}
	if k.wall != 0 {
		wall = k.wall - time.Since(began)
	}
	if k.idle == 0 {
		return wall, timerRearm
	}
	last := j.e.Session.Status().LastOutput
	last = latest(last, j.here, began, wentOn) // what was printed under the daemon before may not be known yet
	return wall, k.idle - time.Since(last)
}

// expire does what is to be done when a clock ran out.
func (j *Job) expire(ctx context.Context, wall bool) {
	j.mu.Lock()
	if j.expired, j.limit = "idle", j.clocks.idle; wall {
		j.expired, j.limit = "wall", j.clocks.wall
	}
	kill := j.clocks.kill
	j.mu.Unlock()
	switch {
	case kill:
		j.mark(endsByClock)
		j.end(ctx, j.grace())
	case !isClosed(j.begun):
		j.takeBack(ctx)
	default:
		j.release()
	}
}

// release lets the callers come back while the job goes on.
func (j *Job) release() {
	j.mu.Lock()
	away := j.away
	j.away = true
	if j.clocks.wall != 0 { // no limit stays none
		j.clocks.wall = j.clocks.background
	}
	j.clocks.idle, j.clocks.kill = 0, true
	j.mu.Unlock()
	if away {
		return
	}
	if j.command {
		j.e.Keep(j.s.reg)
	}
	j.noteAway()
	close(j.released)
}

// noteAway has the record say that the job is in the background, for the daemon that may
// come after this one.
func (j *Job) noteAway() {
	j.change(func(req map[string]any) {
		if limit, _ := req["timeout_ms"].(float64); limit != 0 { // no limit stays none
			delete(req, "timeout_ms")
		}
		delete(req, "idle_timeout_ms")
		req["background"] = true
	})
}

// mark notes why the job ends; the first reason counts.
func (j *Job) mark(how ending) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.how == endsByItself {
		j.how = how
	}
}

// end ends what the job runs by the kill ladder and waits for its end.
func (j *Job) end(ctx context.Context, grace time.Duration) {
	ctx = ladder.WithSkip(context.WithoutCancel(ctx), j.skips) // half a kill ladder is of no use
	j.mark(endsByRequest)
	switch {
	case j.command:
		if err := j.s.reg.Kill(ctx, j.e, grace); err != nil {
			j.fail(err)
		}
		waitClosed(ctx, j.ended, endedTime)
	case !isClosed(j.begun):
		j.takeBack(ctx)
	default:
		j.interrupt(ctx, grace)
	}
	if !isClosed(j.ended) {
		j.takeBack(ctx)
	}
}

// takeBack gives a line up: it is not typed any more, or goes on without its caller.
func (j *Job) takeBack(ctx context.Context) {
	run := j.given()
	if run == nil {
		j.fail(context.Canceled)
		return
	}
	if err := j.e.Session.Drop(ctx, run); err != nil && !errors.Is(err, session.ErrStopped) {
		j.s.log.Error("drop a line", "job", j.id, "err", err)
	}
	waitClosed(ctx, j.ended, endedTime)
}

// push looks at a line that was typed and has not begun.
func (j *Job) push(ctx context.Context) {
	if run := j.given(); run != nil && !isClosed(j.begun) && time.Since(j.e.Session.Status().LastOutput) > stuckTime/2 {
		_ = j.e.Session.Stuck(ctx, run)
	}
}

// give notes the line as it was given to the shell.
func (j *Job) give(run *session.Run) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.run = run
}

// given is the line as it was given to the shell; nil: it was not, or by the daemon before.
func (j *Job) given() *session.Run {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.run
}

// fail ends the job without an end that was seen.
func (j *Job) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !isClosed(j.ended) {
		j.err = err
		closeOnce(j.begun)
		close(j.ended)
	}
}

// ranLine tells a line's job that it began or ended.
func (j *Job) ranLine(c *session.Command, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case isClosed(j.ended):
	case err == nil && c.Running:
		j.started = *c
		closeOnce(j.begun)
	default:
		j.final, j.err = *c, err
		closeOnce(j.begun)
		close(j.ended)
	}
}

// closeOnce closes a channel that only the caller closes.
func closeOnce(c chan struct{}) {
	if !isClosed(c) {
		close(c)
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

func waitClosed(ctx context.Context, c <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return isClosed(c)
}
