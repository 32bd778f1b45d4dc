//go:build unix

package registry

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/search"
)

// errEnough ends the reading of output whose reader has what it wants.
var errEnough = errors.New("enough")

// readAllUnindexed yields the lines of sessions behind the offsets up to which they are indexed: output of the last seconds,
// unfinished lines such as prompts, and all output of temporary sessions, which are never indexed.
func (x *Indexer) readAllUnindexed(ctx context.Context, indexed map[string]uint64, meant func(*Handle) bool) iter.Seq2[search.Batch, error] {
	return func(yield func(search.Batch, error) bool) {
		for _, e := range x.reg.All() {
			if !meant(e) {
				continue
			}
			err := contain(x.reg.log, "search", e.rec.ID, func() error {
				return x.readUnindexed(ctx, e, indexed[e.rec.ID], func(b search.Batch) bool { return yield(b, nil) })
			})
			switch {
			case errors.Is(err, errEnough):
				return
			case ctx.Err() != nil:
				yield(search.Batch{}, ctx.Err())
				return
			case err != nil: // the other sessions can be searched
				x.reg.log.Error("search", "session", e.rec.ID, "err", err)
			}
		}
	}
}

// readUnindexed calls take with the lines of a session from an offset on.
func (x *Indexer) readUnindexed(ctx context.Context, e *Handle, from uint64, take func(search.Batch) bool) error {
	start, end := e.Session.OutputRange()
	if end <= max(from, start) {
		return nil
	}
	emit := func(_ context.Context, b search.Batch) error {
		if len(b.Lines) > 0 && !take(b) {
			return errEnough
		}
		return nil
	}
	x.mu.Lock()
	known := x.seen[e.rec.ID]
	x.mu.Unlock()
	if known.to >= end && known.indexed == from { // all but an unfinished line is indexed
		if known.open.To <= known.open.From {
			return nil
		}
		return emit(ctx, search.Batch{Session: e.rec.ID, Lines: []search.Line{known.open}})
	}
	f := newFeeder(x, e, max(from, start))
	f.emit = emit
	if !e.Temporary() {
		var err error
		if f.commands, err = x.reg.store.Commands(ctx, store.CommandQuery{Session: e.rec.ID}); err != nil {
			return err
		}
	}
	if err := f.read(ctx); err != nil {
		return err
	}
	if open := f.unfinishedLine(e.Session.Status().LastOutput); open.To > open.From {
		return emit(ctx, search.Batch{Session: e.rec.ID, Lines: []search.Line{open}})
	}
	return nil
}

// unfinishedLine returns the line at the end of a running session's output that has not ended, or a Line with From == To if
// the output ends with a newline.
func (f *feeder) unfinishedLine(at time.Time) search.Line {
	if f.e.Session.Status().State != session.Running {
		return search.Line{}
	}
	text, from, to := f.plain.Rest(nil)
	if len(text) == 0 || to <= from {
		return search.Line{}
	}
	return search.Line{From: f.base + from, To: f.base + to, Time: at, Command: f.commandAt(f.base + to - 1), Text: string(text)}
}
