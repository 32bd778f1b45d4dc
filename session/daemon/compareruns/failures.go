//go:build unix

package compareruns

import (
	"context"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/internal/cpulimit"
	"github.com/longterm-dev/longterm/session/output/compare"
	"github.com/longterm-dev/longterm/store"
)

// Bounds of the earlier runs that a running command is compared with.
const (
	maxFailedRuns = 5
	maxGoodRuns   = 10
	maxRecentJobs = 200
	readShare     = 0.25 // of a core
	linesPerPause = 500
)

// interruptStatus is the exit status of a shell's command that Ctrl-C ended.
const interruptStatus = 130

// FindFailures returns what earlier failed runs of a command printed and its good ones did not. It returns nil without runs
// to compare with. c is the running command; with N 0 it is the session's program.
func (f *Finder) FindFailures(ctx context.Context, e *registry.Handle, c *store.Command) (*compare.Failures, error) {
	r := &run{Command: *c, handle: e}
	if c.N == 0 {
		r = programRun(e)
	}
	failed, good, err := f.findEarlierRuns(ctx, r)
	if err != nil || len(failed) == 0 || len(good) == 0 {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, compareTime)
	defer cancel()
	list := compare.NewFailures()
	for _, r := range failed {
		if _, err := r.eachLine(ctx, false, withPauses(ctx, list.NewFailedRun())); err != nil {
			return nil, err
		}
	}
	for _, r := range good {
		switch isPartial, err := r.eachLine(ctx, false, withPauses(ctx, list.AddGood)); {
		case err != nil:
			return nil, err
		case isPartial: // unread lines of a good run would be anomalies
			return nil, nil
		}
	}
	if !list.Finish() {
		return nil, nil
	}
	return list, nil
}

// findEarlierRuns returns the newest failed and good runs of a command in its directory, newest first.
func (f *Finder) findEarlierRuns(ctx context.Context, r *run) (failed, good []*run, err error) {
	s := f.newSearch(r)
	if s.words.exact == "" || r.Cwd == "" {
		return nil, nil, nil
	}
	consider := func(c *run) {
		switch {
		case s.compare(c) != same || !c.before(r) || !c.hasOutput():
		case c.isGood():
			good = append(good, c)
		case c.isFailed():
			failed = append(failed, c)
		}
	}
	s.eachProgram(consider)
	list, err := f.Store.Commands(ctx, store.CommandQuery{Text: s.words.name, Cwd: r.Cwd, Done: true, Newest: true, Limit: pageSize})
	if err != nil {
		return nil, nil, err
	}
	s.eachCommand(list, consider)
	if len(failed) == 0 {
		return nil, nil, nil
	}
	if err := s.eachRemoved(ctx, maxRecentJobs, consider); err != nil {
		return nil, nil, err
	}
	return newestRuns(failed, maxFailedRuns), newestRuns(good, maxGoodRuns), nil
}

// isFailed reports whether the run failed by itself.
func (r *run) isFailed() bool {
	return r.State == store.CommandDone && r.Signal != "SIGINT" && (r.Signal != "" || r.ExitCode != nil && *r.ExitCode != 0 && *r.ExitCode != interruptStatus)
}

// newestRuns returns the newest n runs, newest first.
func newestRuns(list []*run, n int) []*run {
	slices.SortFunc(list, func(a, b *run) int { return b.Started.Compare(a.Started) })
	return list[:min(len(list), n)]
}

// withPauses returns add with pauses, which leave the processor to other programs.
func withPauses(ctx context.Context, add func([]byte)) func([]byte) {
	var pauses cpulimit.Throttle
	began, lines := time.Now(), 0
	return func(line []byte) {
		add(line)
		if lines++; lines%linesPerPause == 0 {
			_ = pauses.Pause(ctx, time.Since(began), readShare) // the reader sees the end of ctx
			began = time.Now()
		}
	}
}
