package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

// Options are how a log is kept.
type Options struct {
	Dir string // of the segments; the head is in the file Dir.head
	FS  FS     // nil: the operating system's
	Log *slog.Logger

	// Expected states that a log existed: a missing one is damage, which its successor records.
	Expected bool

	SegmentBytes int64         // a segment that is larger is followed by another; 0: 8 MiB
	SyncEvery    time.Duration // 0: a second
	// GoOn reports whether actions continue when their records cannot be written; nil: no.
	GoOn func() bool
	// Keep returns the limits of the log; nil: none.
	Keep func() Keep
	// Mask takes secrets out of a text, which keeps its length; nil: nothing is.
	Mask func(string) string
	Now  func() time.Time

	elapsed    func() time.Duration // time since opening, independent of clock changes; nil: an own clock
	pruneFirst time.Duration        // when it is looked first whether there is too much; 0: after ten seconds
}

const (
	defaultSegment = 8 << 20
	defaultSync    = time.Second
	soonDelay      = 5 * time.Millisecond
	maxWaiting     = 8192 // records of Later
)

// ErrNotWritten reports a record that could not be written although it was mandatory.
var ErrNotWritten = errors.New("the audit record cannot be written")

// Log is a log that is open for writing. There may be one of a directory.
type Log struct {
	o Options

	mu      sync.Mutex // guards the fields below
	queue   []entry
	waiting int    // of those in the queue, from Later
	refused uint64 // records that Later could not take
	failing bool   // the disk refused what was written last
	closed  bool
	soon    bool          // there was one of Soon since the writer ticked last
	ticking bool          // the writer looks by itself, every soonDelay
	head    Head          // of the written records
	grown   chan struct{} // closed when head changes
	wake    chan struct{} // capacity 1
	done    chan struct{} // the writer has ended

	w writer // the writer's own
}

// entry is a record on its way.
type entry struct {
	r    Record
	done chan result // nil: no caller waits
}

type result struct {
	seq uint64
	err error
}

// Open opens a log, creates it if missing, and repairs its end: it sets half a record aside and records what is
// missing. A failing disk is not an error here but one of each record.
func Open(o Options) (*Log, error) {
	if o.Dir == "" {
		return nil, errors.New("audit: no directory")
	}
	if o.FS == nil {
		o.FS = osFS{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.SegmentBytes <= 0 {
		o.SegmentBytes = defaultSegment
	}
	if o.SyncEvery <= 0 {
		o.SyncEvery = defaultSync
	}
	if o.pruneFirst <= 0 {
		o.pruneFirst = pruneAtFirst
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.elapsed == nil {
		at := time.Now()
		o.elapsed = func() time.Duration { return time.Since(at) }
	}
	l := &Log{o: o, grown: make(chan struct{}), wake: make(chan struct{}, 1), done: make(chan struct{})}
	l.w = writer{o: &l.o, opened: o.Now()}
	l.w.try()
	l.head, l.failing = l.w.last, l.w.failed
	go l.work()
	return l, nil
}

// Append writes a record and returns its number once the system has it, so that it survives this process. The number is
// 0 if it could not be written and actions continue anyway (Options.GoOn). A goroutine that must not wait for a disk
// uses Later.
func (l *Log) Append(r Record) (seq uint64, err error) {
	done := make(chan result, 1)
	if !l.add(entry{r, done}, 0) {
		return 0, fmt.Errorf("%w: the log is closed", ErrNotWritten)
	}
	got := <-done
	return got.seq, got.err
}

// Soon writes a record before any that is added later, without waiting for the disk: records are batched for up to 5
// ms, and a kill of this process then loses them. If the last write failed, or the writer is far behind, it is Append:
// with mandatory records only actions in progress then continue.
func (l *Log) Soon(r Record) error {
	l.mu.Lock()
	slow := l.failing || l.waiting >= maxWaiting/2
	l.mu.Unlock()
	if slow {
		_, err := l.Append(r)
		return err
	}
	if !l.add(entry{r, nil}, soonDelay) {
		return fmt.Errorf("%w: the log is closed", ErrNotWritten)
	}
	return nil
}

// Later writes a record without waiting. A Gap record counts those beyond the limit.
func (l *Log) Later(r Record) { l.add(entry{r, nil}, 0) }

// add queues a record that is written after so long at most.
func (l *Log) add(e entry, after time.Duration) bool {
	if e.r.Time.IsZero() {
		e.r.Time = l.o.Now()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if e.done == nil {
		if l.waiting >= maxWaiting {
			l.refused++
			return true
		}
		l.waiting++
	}
	l.queue = append(l.queue, e)
	l.soon = l.soon || after > 0
	switch {
	case after == 0:
		l.wakeLocked()
	case len(l.queue) == 1 && !l.ticking: // what is there already wakes the writer
		time.AfterFunc(after, l.wakeNow)
	}
	return true
}

func (l *Log) wakeNow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wakeLocked()
}

func (l *Log) wakeLocked() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Head returns the newest written record.
func (l *Log) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head
}

// Await waits until there is a record newer than seq, or ctx ends.
func (l *Log) Await(ctx context.Context, seq uint64) error {
	for {
		l.mu.Lock()
		newest, grown := l.head.Seq, l.grown
		l.mu.Unlock()
		if newest > seq {
			return nil
		}
		select {
		case <-grown:
		case <-l.done:
			return fmt.Errorf("%w: the log is closed", ErrNotWritten)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Dir returns the directory of the segments.
func (l *Log) Dir() string { return l.o.Dir }

// Close writes and syncs what is queued.
func (l *Log) Close() error { return l.closeWith(nil) }

// CloseMarked closes like Close, after a last record of kind Close: Verify and the next Open find records appended after it.
func (l *Log) CloseMarked(r Record) error {
	r.Kind, r.Time = Close, l.o.Now()
	return l.closeWith(&r)
}

func (l *Log) closeWith(last *Record) error {
	l.mu.Lock()
	already := l.closed
	if l.closed = true; last != nil && !already {
		l.queue = append(l.queue, entry{*last, nil})
	}
	l.wakeLocked()
	l.mu.Unlock()
	<-l.done
	if already {
		return nil
	}
	return l.w.close()
}

// work is the writer's goroutine; it ends with the log.
func (l *Log) work() {
	defer close(l.done)
	var due, tick <-chan time.Time
	quiet := 0 // consecutive checks without records
	prune := time.NewTimer(l.o.pruneFirst)
	defer prune.Stop()
	for {
		select {
		case <-l.wake:
		case <-tick:
			tick = nil
		case <-prune.C:
			prune.Reset(l.prune())
			continue
		case <-due:
			l.w.sync()
			due = nil
			continue
		}
		batch, lost, closed := l.take()
		l.write(batch, lost)
		if quiet++; len(batch) > 0 {
			quiet = 0
		}
		if tick == nil && l.ticks(quiet) {
			tick = time.After(soonDelay)
		}
		if l.w.dirty && due == nil {
			due = time.After(l.o.SyncEvery)
		}
		if closed {
			return
		}
	}
}

// prune drops old segments and returns when to check again.
func (l *Log) prune() (next time.Duration) {
	if l.o.Keep == nil {
		return pruneEvery
	}
	more := l.w.prune(l.o.Keep())
	l.mu.Lock()
	if l.head != l.w.last {
		l.head = l.w.last
		close(l.grown)
		l.grown = make(chan struct{})
	}
	l.mu.Unlock()
	if more {
		return pruneGoesOn
	}
	return pruneEvery
}

// quietTicks is how many checks without records the writer makes before it must be woken.
const quietTicks = 4

// ticks reports whether the writer checks again after soonDelay without being woken. The next record then needs no
// timer and no thread wake-up.
func (l *Log) ticks(quiet int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ticking = l.soon && (quiet < quietTicks || len(l.queue) > 0)
	l.soon = l.soon && l.ticking
	return l.ticking
}

func (l *Log) take() (batch []entry, lost uint64, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch, lost = l.queue, l.refused
	l.queue, l.waiting, l.refused = nil, 0, 0
	return batch, lost, l.closed
}

// write writes a batch and notifies its callers.
func (l *Log) write(batch []entry, lost uint64) {
	l.w.lose(lost, l.o.Now())
	if len(batch) == 0 && lost == 0 {
		return
	}
	records := make([]Record, len(batch))
	for i := range batch {
		records[i] = batch[i].r
	}
	first, err := l.w.write(records)
	if err == nil {
		l.mu.Lock()
		l.head, l.failing = l.w.last, false
		close(l.grown)
		l.grown = make(chan struct{})
		l.mu.Unlock()
	} else {
		l.mu.Lock()
		l.failing = true
		l.mu.Unlock()
		l.w.lose(uint64(len(batch)), l.o.Now())
		err = fmt.Errorf("%w: %w", ErrNotWritten, err)
		if l.o.GoOn != nil && l.o.GoOn() {
			first, err = 0, nil
		}
	}
	for i := range batch {
		if batch[i].done == nil {
			continue
		}
		r := result{err: err}
		if first > 0 && err == nil {
			r.seq = first + uint64(i)
		}
		batch[i].done <- r
	}
}
