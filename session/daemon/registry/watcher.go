//go:build unix

package registry

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/internal/throttle"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/output/progress"
	"github.com/longterm-dev/longterm/store"
)

const (
	// firstLook is how long a command runs before anybody looks: most are over by then.
	firstLook = 150 * time.Millisecond
	// followEvery is how often what it printed is read and told, at most.
	followEvery = 250 * time.Millisecond
	// askPast is when its earlier runs are looked up.
	askPast = 2 * time.Second
	// followShare is the part of a core that reading one session takes, floodShare where it prints faster than is read: who
	// prints comes first, and what is behind is read when that is over.
	followShare, floodShare = 0.25, 0.1
	// flood is how far reading is behind then, in bytes.
	flood = 4 << 20
	// maxBehind is how far reading may be behind before some is left out, keepBehind what
	// is read then, in bytes.
	maxBehind, keepBehind = 64 << 20, 1 << 20
)

// watcher reads what a task prints. It reads as any client does, ring or journal: the
// session's owner does nothing for it.
type watcher struct {
	reg  *Registry
	of   *watchers
	e    *Handle
	task task
	ends <-chan outcome
	asks <-chan struct{} // to look now

	ctx    context.Context // until the task is over
	cancel context.CancelFunc
	asleep atomic.Bool // no goroutine follows, see sleep.go

	m        *progress.Machine // nil: see machine
	feed     *progress.Feed
	begun    bool
	usual    []time.Duration // how long the task took before,
	asked    bool            // once that was looked up
	pos      uint64
	throttle throttle.Throttle
	alone    bool           // it is its turn, see catchUp
	ending   bool           // the task is over
	told     progress.State // what listeners know
	shown    bool           // that it runs
	reported [2]any         // by OSC 9;4 before it began
}

// run follows the task until it ends. silent: it has printed nothing for a while, and run is to be called again once there
// is something to do (see sleep.go). It stands on its stack for as long as the task prints: it has no large variables,
// which begin's and read's have.
func (f *watcher) run(ctx context.Context) (silent bool) {
	asked, over := false, false
	if !f.begun {
		f.begin()
		if asked, over = f.pause(ctx, firstLook); over {
			return false
		}
		f.catchUp(ctx)
		if !asked && f.mute() {
			return true
		}
	}
	w := f.e.Session.Watch()
	defer w.Close()
	past := f.askPast()
	idle := time.NewTimer(silence)
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
				f.usual, f.asked = f.earlier(ctx), true
				f.machine().Expect(f.usual)
			case <-f.asks:
			case <-w.Output:
			}
		}
		if end := f.e.end(); f.read(ctx, end) != nil {
			if ctx.Err() != nil {
				return false
			}
			f.skip(end) // what cannot be read is left out; its end is told all the same
		}
		f.show(time.Now())
		if asked, over = f.pause(ctx, followEvery); over {
			return false
		}
		if !asked && f.asked && f.mute() && !closed(w.Done) {
			return true
		}
		idle.Reset(silence)
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// mute says that the task has printed nothing, ever.
func (f *watcher) mute() bool { return f.pos == f.task.from && f.e.end() == f.pos }

// askPast fires when earlier runs are to be looked up, once.
func (f *watcher) askPast() <-chan time.Time {
	if f.asked {
		return nil
	}
	return time.After(f.pastIn())
}

// pastIn is in how long earlier runs are to be looked up.
func (f *watcher) pastIn() time.Duration { return max(askPast-time.Since(f.task.began), 0) }

func (f *watcher) begin() {
	f.begun = true
	st := f.e.Session.Status()
	f.reported = reportedOf(&st)
	f.e.Session.Progresses()
	f.pos = f.task.from
}

// machine is what reads the output. It is made when it is needed: what never prints needs none.
func (f *watcher) machine() *progress.Machine {
	if f.m == nil {
		f.m = progress.New(progress.Start{Command: f.task.command, Time: f.task.began, Earlier: f.usual})
		f.feed = progress.NewFeed(f.m, f.pos)
	}
	return f.m
}

// pause waits. It reports if somebody asked meanwhile, which ends it, or the task ended, or ctx.
func (f *watcher) pause(ctx context.Context, d time.Duration) (asked, over bool) {
	select {
	case <-ctx.Done():
		return false, true
	case how, ok := <-f.ends:
		f.end(ctx, how, ok)
		return false, true
	case <-f.asks:
		return true, false
	case <-time.After(d):
		return false, false
	}
}

// catchUp reads what the task printed under daemons before this one. One task's is read at a time, also of those that have ended
// by then: hundreds of them would leave no processor to anybody else when a daemon begins. The one leaves all but its own.
func (f *watcher) catchUp(ctx context.Context) {
	w := f.of
	if !f.task.began.Before(w.since) || f.e.end() == f.pos {
		return
	}
	select {
	case w.catching <- struct{}{}:
		defer func() { <-w.catching }()
	case <-ctx.Done():
		return
	}
	f.alone = true
	defer func() { f.alone = false }()
	_ = f.read(ctx, f.e.end()) // what cannot be read is left out at the next look
}

func (e *Handle) end() uint64 { _, end := e.Session.OutputRange(); return end }

// buffers are what watchers read into.
var buffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// read takes what was printed up to an offset.
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
		f.take(c, began)
		if err := f.throttle.Rest(ctx, time.Since(began), f.share(end)); err != nil {
			return err
		}
	}
	f.feed.Settle(time.Now())
	return nil
}

// take feeds a piece of output.
func (f *watcher) take(c session.Chunk, now time.Time) {
	st := f.e.Session.Status()
	if r := reportedOf(&st); r != f.reported {
		f.m.Reported(st.Progress, st.Percent)
	}
	f.pos = c.Next
	f.feed.Write(c.Data, now) // which leaves out what a full-screen program draws, however late it is read
}

func reportedOf(st *session.Status) [2]any { return [2]any{st.Progress, st.Percent} }

func (f *watcher) skip(to uint64) {
	f.m.Skipped()
	f.feed.Skip(to, f.e.Session.Status().Alt)
	f.pos = to
}

// share is the part of a core that it may take now, to read up to an offset.
func (f *watcher) share(end uint64) float64 {
	if f.alone {
		return 1
	}
	return shareOfFollowing(max(end, f.pos)-f.pos, !f.ending && time.Since(f.e.Session.Status().LastOutput) < indexAfter)
}

// shareOfFollowing is the part of a core for a task that is so many bytes ahead, and prints or does not.
func shareOfFollowing(behind uint64, prints bool) float64 {
	if prints && behind > flood {
		return floodShare
	}
	return followShare
}

// show makes the state known, and tells listeners if there is news.
func (f *watcher) show(now time.Time) {
	if f.usual != nil && f.e.activity.personal() {
		f.usual = nil
		f.machine().Expect(nil)
	}
	s := f.machine().State(now)
	f.e.activity.set(f.task.n, s, now, true, f.pos)
	f.shown = true // with any event
	if !news(&f.told, &s) {
		return
	}
	f.told = s
	f.progressed(&s)
	f.reg.tell(f.e, "progress", f.e.Session.Status)
}

// progressed tells who waits for progress of any kind.
func (f *watcher) progressed(s *progress.State) {
	if p := &s.Progress; p.Kind != progress.None && p.Kind != progress.Indeterminate {
		f.e.Session.Progressed(int(p.Fraction*100), f.pos)
	}
}

// news reports if a state differs in what people look at.
func news(old, s *progress.State) bool {
	a, b := old.Progress, s.Progress
	return a.Kind != b.Kind || int(a.Fraction*100) != int(b.Fraction*100) || a.Current != b.Current || a.Label != b.Label ||
		old.Errors != s.Errors || old.Warnings != s.Warnings || (old.First == nil) != (s.First == nil)
}

// end reads the rest and tells people who want to know.
func (f *watcher) end(ctx context.Context, how outcome, seen bool) {
	if !seen {
		return
	}
	f.ending = true
	to := f.e.end()
	if how.to > 0 {
		to = min(to, how.to)
	}
	if how.at.IsZero() || f.read(ctx, to) != nil {
		if ctx.Err() == nil {
			now := time.Now()
			f.over(f.machine().State(now), now)
		}
		return
	}
	f.feed.End(how.at)
	s := f.machine().State(how.at)
	f.progressed(&s)
	f.over(s, how.at)
	f.notify(ctx, &s, &how)
}

// over makes it known that the task runs no more. Whoever was told that it runs is told so: the events of its end and
// of the prompt after it may have come before.
func (f *watcher) over(s progress.State, at time.Time) {
	f.e.activity.set(f.task.n, s, at, false, f.pos)
	if f.shown || news(&f.told, &s) {
		f.reg.tell(f.e, "progress", f.e.Session.Status)
	}
}

func (f *watcher) notify(ctx context.Context, s *progress.State, how *outcome) {
	n := f.reg.conf.Notify()
	r := f.e.Record()
	done := notify.Finished{
		Session: r.ID, Name: r.Name, Command: f.task.command, N: f.task.n, Cwd: f.task.cwd, ExitCode: how.exit, Signal: how.signal,
		Ended: how.at, DurationMS: how.at.Sub(f.task.began).Milliseconds(), Errors: s.Errors, Warnings: s.Warnings, Attended: f.e.Clients.Count() > 0,
	}
	if s.First != nil {
		done.FirstError = s.First.Message
	}
	if !n.Wants(&done) {
		return
	}
	sender := f.reg.Sender()
	if err := sender.Send(ctx, n, &done); err != nil && ctx.Err() == nil {
		f.reg.log.Warn("tell that a command has finished", "session", r.ID, "err", err)
	}
}

// earlierRuns bounds how many records are looked at for earlier runs of a command.
const earlierRuns = 64

// earlier is how long a task took before, newest first: those that succeeded.
func (f *watcher) earlier(ctx context.Context) []time.Duration {
	if f.task.n == 0 {
		return f.earlierPrograms()
	}
	list, err := f.reg.store.Commands(ctx, store.CommandQuery{Text: f.task.command, Newest: true, Limit: earlierRuns})
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

// earlierPrograms is the same of sessions. Each new program asks: of thousands of sessions only those that count are put in order.
func (f *watcher) earlierPrograms() []time.Duration {
	var runs []store.Session
	for _, other := range f.reg.unordered() {
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
