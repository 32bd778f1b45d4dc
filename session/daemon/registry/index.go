//go:build unix

package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/internal/cpulimit"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/store/search"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

const (
	// indexInterval is the interval between checks for unindexed output. Output is indexed after being idle for
	// indexAfter.
	indexInterval = 2 * time.Second
	indexAfter    = time.Second
	// indexBytes is the amount of output after which it is indexed at once.
	indexBytes = 1 << 20
	// indexShare is the part of a core that indexing in the background takes.
	indexShare = 0.3
)

// Indexer feeds the search index with what sessions print, in the background.
type Indexer struct {
	reg *Registry

	path     string
	opened   atomic.Pointer[search.Index] // nil: not open
	feeding  chan struct{}                // semaphore of 1: held while the index is fed
	stopping atomic.Bool                  // stopping: no further session is indexed
	stale    atomic.Bool                  // it may still hold removed output

	mu       sync.Mutex
	openErr  error                   // why it could not be opened yet
	progress map[string]feedProgress // by session
}

// feedProgress is how far a session's output is indexed.
type feedProgress struct {
	to      uint64      // offset after the last byte
	indexed uint64      // offset up to which the index has lines
	open    search.Line // unfinished line at the end, which is not indexed; To == From if none
}

// OpenIndex opens the search index. Without it, search reads all output.
func (h *Registry) OpenIndex() {
	x := &Indexer{reg: h, path: filepath.Join(h.dirs.State, "search.db"), progress: map[string]feedProgress{}, feeding: make(chan struct{}, 1)}
	h.Index = x
	if x.open() != nil {
		h.log.Warn(x.Problem())
	}
}

// Problem returns what users should know about the index, or "".
func (x *Indexer) Problem() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.openErr == nil {
		return ""
	}
	return fmt.Sprintf("search unavailable: %v (retried automatically)", x.openErr)
}

// open opens the index, or notes why it cannot.
func (x *Indexer) open() error {
	index, err := search.Open(x.path)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.openErr = err; err == nil {
		x.opened.Store(index)
	}
	return err
}

// retryOpen retries to open the index, for example after a full disk.
func (x *Indexer) retryOpen(ctx context.Context) {
	if x.Usable() {
		return
	}
	if x.open() == nil {
		x.reg.log.Info("search available again")
		x.removeStale(ctx)
	}
}

// removeStale removes sessions and output from the index that no longer exist: removed while it could not be opened, or
// by a daemon that did not finish.
func (x *Indexer) removeStale(ctx context.Context) {
	index := x.opened.Load()
	if index == nil {
		return
	}
	held, err := index.Sessions(ctx)
	for id, floor := range held {
		if _, gone := os.Stat(x.reg.dirs.Session(id)); errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, index.Forget(ctx, id))
		} else if e := x.reg.ByID(id); e != nil && e.IsReady() {
			if start, _ := e.Session.OutputRange(); start > floor {
				err = errors.Join(err, index.ForgetBefore(ctx, id, start))
			}
		}
	}
	if err != nil && ctx.Err() == nil {
		if !x.stale.Swap(true) {
			x.reg.log.Error("what was removed may be found still", "err", err)
		}
		return
	}
	x.stale.Store(false)
}

// run feeds until ctx ends.
func (x *Indexer) run(ctx context.Context) {
	t := x.reg.poller.Ticker(indexInterval)
	defer t.Stop()
	x.removeStale(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C():
			t.Next()
			x.retryOpen(ctx)
			if x.stale.Load() {
				x.removeStale(ctx)
			}
			x.sweep(ctx, false, func(e *Handle, rest uint64) bool {
				return rest >= indexBytes || time.Since(e.Session.Status().LastOutput) >= indexAfter
			})
		}
	}
}

// close closes the index after the last feed.
func (x *Indexer) close() {
	x.feeding <- struct{}{}
	if index := x.opened.Load(); index != nil {
		_ = index.Close()
	}
}

// Usable reports whether the index is open.
func (x *Indexer) Usable() bool { return x.opened.Load() != nil }

// CatchUp indexes all output so far, until ctx ends.
func (x *Indexer) CatchUp(ctx context.Context) {
	x.sweep(ctx, true, func(*Handle, uint64) bool { return true })
}

// Search finds lines, newest first, including those not yet indexed. It skips removed output that the index still has.
func (x *Indexer) Search(ctx context.Context, q search.Query) iter.Seq2[search.Hit, error] {
	meant := q.Within
	q.Within = func(id string) bool { return x.reg.ByID(id) != nil && (meant == nil || meant(id)) }
	q.Unindexed = func(indexed map[string]uint64) iter.Seq2[search.Batch, error] {
		return x.readAllUnindexed(ctx, indexed, func(e *Handle) bool {
			return (q.Session == "" || q.Session == e.ID()) && q.Within(e.ID())
		})
	}
	return x.opened.Load().Search(ctx, q)
}

// sweep indexes the due output of every session. wanted means that a search waits for it.
func (x *Indexer) sweep(ctx context.Context, wanted bool, due func(e *Handle, rest uint64) bool) {
	for _, e := range x.reg.All() {
		if ctx.Err() != nil || x.stopping.Load() {
			return
		}
		x.mu.Lock()
		seen := x.progress[e.rec.ID].to
		x.mu.Unlock()
		_, end := e.Session.OutputRange()
		if end <= seen || e.Record().Temporary || !due(e, end-seen) {
			continue
		}
		if err := recoverPanics(x.reg.log, "index for search", e.rec.ID, func() error { return x.feed(ctx, e, wanted) }); err != nil && ctx.Err() == nil {
			x.reg.log.Error("index for search", "session", e.rec.ID, "err", err)
		}
	}
}

// feed indexes a session's new output, unless another call is doing that, which can take long.
func (x *Indexer) feed(ctx context.Context, e *Handle, wanted bool) error {
	index := x.opened.Load()
	if index == nil {
		return nil
	}
	select {
	case x.feeding <- struct{}{}:
		defer func() { <-x.feeding }()
	default:
		return nil
	}
	from, err := index.IndexedTo(ctx, e.rec.ID)
	if err != nil {
		return err
	}
	start, end := e.Session.OutputRange()
	f := newFeeder(x, e, max(from, start))
	f.throttleWait = func(ctx context.Context, took time.Duration) error {
		return f.throttle.Pause(ctx, took, f.share(wanted))
	}
	f.emit = func(ctx context.Context, b search.Batch) error {
		err := index.Add(ctx, b)
		if err == nil {
			from = max(from, b.To)
			x.setProgress(e.rec.ID, feedProgress{to: b.To, indexed: from})
		}
		return err
	}
	if f.commands, err = x.reg.store.Commands(ctx, store.CommandQuery{Session: e.rec.ID}); err != nil {
		return err
	}
	if err := f.read(ctx); err != nil {
		return err
	}
	x.setProgress(e.rec.ID, feedProgress{end, from, f.unfinishedLine(time.Now())}) // more output brings that line up again
	return nil
}

// setProgress records how far a session's output was indexed, and the unfinished line there.
func (x *Indexer) setProgress(id string, now feedProgress) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if now.to >= x.progress[id].to {
		x.progress[id] = now
	}
}

// feeder splits a session's output into lines for the index.
type feeder struct {
	x        *Indexer
	e        *Handle
	commands []store.Command // by number, and so by offset
	plain    plaintext.Writer
	base     uint64 // offset of the plain text's first byte
	pos      uint64 // offset after the last byte read
	batch    search.Batch
	bytes    int // size of the batch
	throttle cpulimit.Throttle
	emit     func(context.Context, search.Batch) error // stores a batch
	// waits, so that other work can run; nil for a caller that waits
	throttleWait func(ctx context.Context, took time.Duration) error
}

// newFeeder returns a feeder of a session's output from an offset on.
func newFeeder(x *Indexer, e *Handle, from uint64) *feeder {
	return &feeder{x: x, e: e, base: from, batch: search.Batch{Session: e.rec.ID}}
}

// share returns the part of a core that indexing may use now.
func (f *feeder) share(wanted bool) float64 {
	return shareOfIndexing(wanted, time.Since(f.e.Session.Status().LastOutput))
}

// shareOfIndexing returns the share of a core for indexing a session that was quiet for the given time. Programs that
// print have priority unless a search waits.
func shareOfIndexing(wanted bool, quiet time.Duration) float64 {
	if !wanted && quiet < indexAfter {
		return floodShare
	}
	return indexShare
}

// read reads the journal and emits its lines.
func (f *feeder) read(ctx context.Context) error {
	r := f.e.Session.Records(f.base)
	defer r.Close()
	f.pos = f.base
	for {
		began := time.Now()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := f.addRecord(ctx, &rec); err != nil {
			return err
		}
		if f.throttleWait == nil {
			continue
		}
		if err := f.throttleWait(ctx, time.Since(began)); err != nil {
			return err
		}
	}
	if f.e.Session.Status().State != session.Running { // no further output completes the line
		text, from, to := f.plain.AppendUnfinished(nil)
		f.add(text, from, to, time.Now())
	}
	return f.flush(ctx)
}

// addRecord adds a journal record.
func (f *feeder) addRecord(ctx context.Context, rec *journal.Record) error {
	switch rec.Kind {
	case journal.KindGap:
		if rec.Lost > 0 { // the text after a gap does not continue the line
			if err := f.flush(ctx); err != nil {
				return err
			}
			f.plain, f.base = plaintext.Writer{}, rec.Offset+rec.Lost
			f.pos = f.base
		}
		return nil
	case journal.KindOutput:
	default:
		return nil
	}
	f.plain.Each(rec.Data, func(l plaintext.Line) { f.add(l.Text, l.From, l.To, rec.Time) })
	f.pos = rec.Offset + uint64(len(rec.Data))
	if f.bytes >= indexBytes {
		return f.flush(ctx)
	}
	return nil
}

// add adds a line of plain text.
func (f *feeder) add(text []byte, from, to uint64, at time.Time) {
	if len(text) > 0 {
		from += f.base
		f.batch.Lines = append(f.batch.Lines, search.Line{
			From: from, To: f.base + to, Time: at, Command: f.commandAt(f.base + to - 1), Text: string(text),
		})
	}
	f.batch.To = f.base + to
	f.bytes += len(text)
}

// commandAt returns the number of the command that printed the byte at an offset, or 0.
func (f *feeder) commandAt(off uint64) int {
	i := sort.Search(len(f.commands), func(i int) bool { return f.commands[i].From > off }) - 1
	if i < 0 || f.commands[i].To != 0 && f.commands[i].To <= off {
		return 0
	}
	return f.commands[i].N
}

// flush emits the batch.
func (f *feeder) flush(ctx context.Context) error {
	if len(f.batch.Lines) == 0 && f.batch.To == 0 {
		return nil
	}
	if f.x.reg.ByID(f.e.rec.ID) == nil { // already removed
		return nil
	}
	err := f.emit(ctx, f.batch)
	f.batch = search.Batch{Session: f.e.rec.ID}
	f.bytes = 0
	return err
}

// forget removes a session from the index. If the index cannot be written, removeStale does it later.
func (x *Indexer) forget(ctx context.Context, id string) {
	x.mu.Lock()
	delete(x.progress, id)
	x.mu.Unlock()
	if index := x.opened.Load(); index != nil && index.Forget(ctx, id) != nil {
		x.stale.Store(true)
	}
}

// forgetBefore removes a session's output before an offset from the index.
func (x *Indexer) forgetBefore(ctx context.Context, id string, off uint64) error {
	if index := x.opened.Load(); index != nil {
		return index.ForgetBefore(ctx, id, off)
	}
	return nil
}

// errEnough stops a read whose reader has all that it needs.
var errEnough = errors.New("enough")

// readAllUnindexed yields lines that are not indexed: output of the last seconds, unfinished lines such as prompts, and
// all output of temporary sessions, which are never indexed.
func (x *Indexer) readAllUnindexed(ctx context.Context, indexed map[string]uint64, meant func(*Handle) bool) iter.Seq2[search.Batch, error] {
	return func(yield func(search.Batch, error) bool) {
		for _, e := range x.reg.All() {
			if !meant(e) {
				continue
			}
			err := recoverPanics(x.reg.log, "search", e.rec.ID, func() error {
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
	known := x.progress[e.rec.ID]
	x.mu.Unlock()
	if known.to >= end && known.indexed == from { // all but an unfinished line is indexed
		if known.open.To <= known.open.From {
			return nil
		}
		return emit(ctx, search.Batch{Session: e.rec.ID, Lines: []search.Line{known.open}})
	}
	f := newFeeder(x, e, max(from, start))
	f.emit = emit
	if !e.IsTemporary() {
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
	text, from, to := f.plain.AppendUnfinished(nil)
	if len(text) == 0 || to <= from {
		return search.Line{}
	}
	return search.Line{From: f.base + from, To: f.base + to, Time: at, Command: f.commandAt(f.base + to - 1), Text: string(text)}
}
