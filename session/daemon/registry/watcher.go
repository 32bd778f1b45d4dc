//go:build unix

package registry

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/internal/cpulimit"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/output/progress"
	"github.com/longterm-dev/longterm/store"
)

const (
	// watchDelay is how long a command runs before it is watched: most end sooner.
	watchDelay = 150 * time.Millisecond
	// readInterval is the shortest interval between reads of new output.
	readInterval = 250 * time.Millisecond
	// pastDelay is how long a command runs before the durations of its earlier runs are looked up.
	pastDelay = 2 * time.Second
	// followShare is the share of a core for reading one session, floodShare that for one that prints faster: programs
	// have priority, and the rest is read afterwards.
	followShare, floodShare = 0.25, 0.1
	// floodLag is the unread output, in bytes, from which a program counts as printing faster than its watcher reads.
	floodLag = 4 << 20
	// maxBehind is how many bytes reading may lag before output is skipped; keepBehind is how much of its end is then
	// read.
	maxBehind, keepBehind = 64 << 20, 1 << 20
)

// watcher reads a task's output from the ring or journal, like any client, at no cost to the session's owner.
type watcher struct {
	reg          *Registry
	set          *watchers
	e            *Handle
	task         task
	ends         <-chan outcome
	readRequests <-chan struct{} // requests to read now

	ctx    context.Context // canceled when the task ends
	cancel context.CancelFunc
	asleep atomic.Bool // no goroutine follows the task (sleep)

	m                *progress.Estimator // progress detector; nil before the first output
	feed             *progress.Feed
	started          bool
	past             []time.Duration // durations of earlier runs, if pastKnown
	pastKnown        bool            // past was looked up
	pos              uint64
	throttle         cpulimit.Throttle
	catchingUp       bool           // it reads output from before this daemon (catchUp)
	ending           bool           // the task is over
	published        progress.State // last published state
	publishedRunning bool           // the task was published as running
	reported         [2]any         // progress reported by OSC 9;4 before the task started
}

// run follows the task until it ends. If it returns silent, the task has printed nothing for a while, and run must be called
// again once sleep's wake was called. run stays on the stack while the task prints, so it has no large variables; begin and
// read have them.
func (f *watcher) run(ctx context.Context) (silent bool) {
	asked, over := false, false
	if !f.started {
		f.begin()
		if asked, over = f.pause(ctx, watchDelay); over {
			return false
		}
		f.catchUp(ctx)
		if !asked && f.isSilent() {
			return true
		}
	}
	w := f.e.Session.Watch()
	defer w.Close()
	past := f.pastTimer()
	idle := time.NewTimer(watcherIdleTime)
	defer idle.Stop()
	for {
		if !asked {
			select {
			case <-ctx.Done():
				return false
			case <-w.Done:
				return false
			case how, ok := <-f.ends:
				f.end(ctx, how, ok)
				return false
			case <-idle.C:
				return true
			case <-past:
				f.past, f.pastKnown = f.pastDurations(ctx), true
				f.machine().SetEarlier(f.past)
			case <-f.readRequests:
			case <-w.Output:
			}
		}
		if end := f.e.outputEnd(); f.read(ctx, end) != nil {
			if ctx.Err() != nil {
				return false
			}
			f.skip(end) // unreadable output is skipped; the end is reported nevertheless
		}
		f.show(time.Now())
		if asked, over = f.pause(ctx, readInterval); over {
			return false
		}
		if !asked && f.pastKnown && f.isSilent() && !isClosed(w.Done) {
			return true
		}
		idle.Reset(watcherIdleTime)
	}
}

// isClosed reports whether a channel is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// isSilent reports whether the task has printed nothing so far.
func (f *watcher) isSilent() bool { return f.pos == f.task.from && f.e.outputEnd() == f.pos }

// pastTimer returns a timer for looking up earlier runs, once.
func (f *watcher) pastTimer() <-chan time.Time {
	if f.pastKnown {
		return nil
	}
	return time.After(f.pastIn())
}

// pastIn returns the time until earlier runs are looked up.
func (f *watcher) pastIn() time.Duration { return max(pastDelay-time.Since(f.task.began), 0) }

// begin prepares the watcher to read.
func (f *watcher) begin() {
	f.started = true
	st := f.e.Session.Status()
	f.reported = reportedOf(&st)
	f.e.Session.ResetProgress()
	f.pos = f.task.from
}

// machine returns the progress detector. It is created at the first output.
func (f *watcher) machine() *progress.Estimator {
	if f.m == nil {
		f.m = progress.New(progress.Start{Command: f.task.command, Time: f.task.began, Earlier: f.past})
		f.feed = progress.NewFeed(f.m, f.pos)
	}
	return f.m
}

// pause waits for d. It reports whether a read request arrived, which ends it, or the task or ctx ended.
func (f *watcher) pause(ctx context.Context, d time.Duration) (requested, over bool) {
	select {
	case <-ctx.Done():
		return false, true
	case how, ok := <-f.ends:
		f.end(ctx, how, ok)
		return false, true
	case <-f.readRequests:
		return true, false
	case <-time.After(d):
		return false, false
	}
}

// catchUp reads the output from before this daemon. Only one task does so at a time, without a CPU limit: hundreds at
// once would leave no processor to others at the daemon's start.
func (f *watcher) catchUp(ctx context.Context) {
	w := f.set
	if !f.task.began.Before(w.since) || f.e.outputEnd() == f.pos {
		return
	}
	select {
	case w.catching <- struct{}{}:
		defer func() { <-w.catching }()
	case <-ctx.Done():
		return
	}
	f.catchingUp = true
	defer func() { f.catchingUp = false }()
	_ = f.read(ctx, f.e.outputEnd()) // unreadable output is skipped at the next read
}

// outputEnd returns the offset after the session's output so far.
func (e *Handle) outputEnd() uint64 { _, end := e.Session.OutputRange(); return end }

// buffers pools the read buffers of watchers.
var buffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// read processes the output up to an offset.
func (f *watcher) read(ctx context.Context, end uint64) error {
	f.machine()
	if end > f.pos+maxBehind {
		f.skip(end - keepBehind)
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for f.pos < end {
		began := time.Now()
		c, err := f.e.Session.Output(f.pos, (*buf)[:min(uint64(len(*buf)), end-f.pos)])
		if err != nil {
			return err
		}
		if c.Gap > 0 {
			f.skip(c.From)
		}
		if len(c.Data) == 0 && c.Next <= f.pos {
			break
		}
		f.feedChunk(c, began)
		if err := f.throttle.Pause(ctx, time.Since(began), f.share(end)); err != nil {
			return err
		}
	}
	f.feed.ReadUnfinished(time.Now())
	return nil
}

// feedChunk feeds a piece of output to the progress detector.
func (f *watcher) feedChunk(c session.Chunk, now time.Time) {
	st := f.e.Session.Status()
	if r := reportedOf(&st); r != f.reported {
		f.m.SetReported(st.Progress, st.Percent)
	}
	f.pos = c.Next
	f.feed.Write(c.Data, now) // omits the output of full-screen programs, however late it is read
}

// reportedOf returns the progress that a program reported.
func reportedOf(st *session.Status) [2]any { return [2]any{st.Progress, st.Percent} }

// skip continues at an offset without the output before it.
func (f *watcher) skip(to uint64) {
	f.m.NoteSkipped()
	f.feed.Skip(to, f.e.Session.Status().Alt)
	f.pos = to
}

// share returns the share of a core for reading up to an offset.
func (f *watcher) share(end uint64) float64 {
	if f.catchingUp {
		return 1
	}
	return shareOfFollowing(max(end, f.pos)-f.pos, !f.ending && time.Since(f.e.Session.Status().LastOutput) < indexAfter)
}

// shareOfFollowing returns the share of a core for a watcher that is behind by some bytes.
func shareOfFollowing(behind uint64, prints bool) float64 {
	if prints && behind > floodLag {
		return floodShare
	}
	return followShare
}

// show records the state and publishes changes.
func (f *watcher) show(now time.Time) {
	if f.past != nil && f.e.activity.isInteractive() {
		f.past = nil
		f.machine().SetEarlier(nil)
	}
	s := f.machine().State(now)
	f.e.activity.set(f.task.n, s, now, true, f.pos)
	f.publishedRunning = true // with any event
	if !isNews(&f.published, &s) {
		return
	}
	f.published = s
	f.reportProgress(&s)
	f.reg.publishStatus(f.e, "progress", f.e.Session.Status)
}

// reportProgress reports progress to waiting callers.
func (f *watcher) reportProgress(s *progress.State) {
	if p := &s.Progress; p.Kind != progress.None && p.Kind != progress.Indeterminate {
		f.e.Session.SetProgress(int(p.Fraction*100), f.pos)
	}
}

// isNews reports whether a state differs visibly.
func isNews(old, s *progress.State) bool {
	a, b := old.Progress, s.Progress
	return a.Kind != b.Kind || int(a.Fraction*100) != int(b.Fraction*100) || a.Current != b.Current || a.Label != b.Label ||
		old.Errors != s.Errors || old.Warnings != s.Warnings || (old.First == nil) != (s.First == nil)
}

// end reads the remaining output and notifies users.
func (f *watcher) end(ctx context.Context, how outcome, seen bool) {
	if !seen {
		return
	}
	f.ending = true
	to := f.e.outputEnd()
	if how.to > 0 {
		to = min(to, how.to)
	}
	if how.at.IsZero() || f.read(ctx, to) != nil {
		if ctx.Err() == nil {
			now := time.Now()
			f.publishTaskEnd(f.machine().State(now), now)
		}
		return
	}
	f.feed.Finish(how.at)
	s := f.machine().State(how.at)
	f.reportProgress(&s)
	f.publishTaskEnd(s, how.at)
	f.notify(ctx, &s, &how)
}

// publishTaskEnd publishes that the task has ended, if it was published as running: the events of its end and of the
// next prompt may have come before.
func (f *watcher) publishTaskEnd(s progress.State, at time.Time) {
	f.e.activity.set(f.task.n, s, at, false, f.pos)
	if f.publishedRunning || isNews(&f.published, &s) {
		f.reg.publishStatus(f.e, "progress", f.e.Session.Status)
	}
}

// notify notifies users of the task's end, if it ran long enough.
func (f *watcher) notify(ctx context.Context, s *progress.State, how *outcome) {
	n := f.reg.conf.Notify()
	r := f.e.Record()
	done := notify.FinishedEvent{
		Session: r.ID, Name: r.Name, Command: f.task.command, Number: f.task.n, Cwd: f.task.cwd, ExitCode: how.exit, Signal: how.signal,
		Ended: how.at, DurationMS: how.at.Sub(f.task.began).Milliseconds(), Errors: s.Errors, Warnings: s.Warnings, Attended: f.e.Clients.Count() > 0,
	}
	if s.First != nil {
		done.FirstError = s.First.Message
	}
	if !n.ShouldNotify(&done) {
		return
	}
	sender := f.reg.Sender()
	if err := sender.SendFinished(ctx, n, &done); err != nil && ctx.Err() == nil {
		f.reg.log.Warn("notify about a finished command", "session", r.ID, "err", err)
	}
}

// maxEarlierRuns bounds the records that are checked for earlier runs of a command.
const maxEarlierRuns = 64

// pastDurations returns the durations of earlier successful runs of a task, newest first.
func (f *watcher) pastDurations(ctx context.Context) []time.Duration {
	if f.task.n == 0 {
		return f.pastProgramDurations()
	}
	list, err := f.reg.store.Commands(ctx, store.CommandQuery{Text: f.task.command, Newest: true, Limit: maxEarlierRuns})
	if err != nil {
		f.reg.log.Warn("look up earlier runs", "session", f.e.rec.ID, "err", err)
	}
	var took []time.Duration
	for _, c := range list {
		if c.Text == f.task.command && c.Cwd == f.task.cwd && c.ExitCode != nil && *c.ExitCode == 0 && c.Ended.After(c.Started) {
			took = append(took, c.Ended.Sub(c.Started))
		}
	}
	return took
}

// pastProgramDurations returns pastDurations for sessions' own programs. Every new program calls it, so it sorts only the
// matching sessions.
func (f *watcher) pastProgramDurations() []time.Duration {
	var runs []store.Session
	for _, other := range f.reg.snapshot() {
		r := other.Record()
		if other != f.e && r.ExitCode != nil && *r.ExitCode == 0 && r.Cwd == f.task.cwd && slices.Equal(r.Argv, f.task.argv) && r.Ended.After(r.Started) {
			runs = append(runs, r)
		}
	}
	slices.SortFunc(runs, func(a, b store.Session) int { return b.Created.Compare(a.Created) })
	took := make([]time.Duration, len(runs))
	for i := range runs {
		took[i] = runs[i].Ended.Sub(runs[i].Started)
	}
	return took
}
