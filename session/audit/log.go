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

// Options configure a log.
type Options struct {
	Dir string // directory of the segments; the head is in the file Dir.head
	FS  FS     // nil: the operating system's
	Log *slog.Logger

	// IsExpected states that a log existed: a missing one is damage, which its successor records.
	IsExpected bool

	SegmentBytes int64         // size from which a new segment starts; 0: 8 MiB
	SyncEvery    time.Duration // interval of syncs; 0: a second
	// ContinuesUnwritten reports whether actions continue when their records cannot be written. Without it they stop.
	ContinuesUnwritten func() bool
	// Retention returns the limits of the log. Without it the log is unlimited.
	Retention func() Retention
	// Mask masks secrets in a text and keeps its length. It may be nil.
	Mask func(string) string
	Now  func() time.Time

	elapsed         func() time.Duration // time since opening, independent of clock changes; nil: an own clock
	firstPruneDelay time.Duration        // delay of the first pruning; 0: ten seconds
}

// Defaults and bounds.
const (
	defaultSegment = 8 << 20
	defaultSync    = time.Second
	soonDelay      = 5 * time.Millisecond
	maxWaiting     = 8192 // records of AppendLater in the queue
)

// ErrNotWritten reports a mandatory record that could not be written.
var ErrNotWritten = errors.New("the audit record cannot be written")

// Log is a log that is open for writing. A directory may have only one.
type Log struct {
	options Options

	mu          sync.Mutex // guards the fields below
	queue       []entry
	waiting     int    // number of entries in the queue without a waiting caller
	rejected    uint64 // records that AppendLater rejected
	isFailing   bool   // the last write failed
	closed      bool
	hasSoon     bool          // AppendSoon was called since the writer's last tick
	isTicking   bool          // the writer checks the queue every soonDelay
	head        Head          // of the written records
	headChanged chan struct{} // closed and replaced when head changes
	wake        chan struct{} // capacity 1
	done        chan struct{} // closed when the writer has ended

	writer writer // owned by the writer's goroutine
}

// entry is a queued record.
type entry struct {
	record Record
	done   chan result // nil if no caller waits
}

// result is the outcome of an Append.
type result struct {
	seq uint64
	err error
}

// Open opens a log, creates it if missing, and repairs its end: it saves a partial record and records what is missing. A
// failing disk is an error of each record, not of Open.
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
	if o.firstPruneDelay <= 0 {
		o.firstPruneDelay = defaultFirstPrune
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.elapsed == nil {
		at := time.Now()
		o.elapsed = func() time.Duration { return time.Since(at) }
	}
	l := &Log{options: o, headChanged: make(chan struct{}), wake: make(chan struct{}, 1), done: make(chan struct{})}
	l.writer = writer{options: &l.options, opened: o.Now()}
	l.writer.prepare()
	l.head, l.isFailing = l.writer.last, l.writer.hasFailed
	go l.run()
	return l, nil
}

// Append writes a record and returns its number once the system has it, so that it survives this process. The number is
// 0 if it could not be written and actions continue anyway (Options.ContinuesUnwritten). A goroutine that must not wait for a
// disk uses AppendLater.
func (l *Log) Append(r Record) (seq uint64, err error) {
	done := make(chan result, 1)
	if !l.enqueue(entry{r, done}, 0) {
		return 0, fmt.Errorf("%w: the log is closed", ErrNotWritten)
	}
	got := <-done
	return got.seq, got.err
}

// AppendSoon writes a record before any that is added later, without waiting for the disk: records are batched for up to 5
// ms, and a kill of this process then loses them. If the last write failed, or the queue is long, it waits like Append: with
// mandatory records, only actions in progress then continue.
func (l *Log) AppendSoon(r Record) error {
	l.mu.Lock()
	slow := l.isFailing || l.waiting >= maxWaiting/2
	l.mu.Unlock()
	if slow {
		_, err := l.Append(r)
		return err
	}
	if !l.enqueue(entry{r, nil}, soonDelay) {
		return fmt.Errorf("%w: the log is closed", ErrNotWritten)
	}
	return nil
}

// AppendLater writes a record without waiting. A Gap record counts those beyond the limit.
func (l *Log) AppendLater(r Record) { l.enqueue(entry{r, nil}, 0) }

// enqueue queues a record that is written after the given time at most. It returns false if the log is closed.
func (l *Log) enqueue(e entry, after time.Duration) bool {
	if e.record.Time.IsZero() {
		e.record.Time = l.options.Now()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if e.done == nil {
		if l.waiting >= maxWaiting {
			l.rejected++
			return true
		}
		l.waiting++
	}
	l.queue = append(l.queue, e)
	l.hasSoon = l.hasSoon || after > 0
	switch {
	case after == 0:
		l.wakeLocked()
	case len(l.queue) == 1 && !l.isTicking: // earlier entries have woken the writer
		time.AfterFunc(after, l.wakeNow)
	}
	return true
}

// wakeNow wakes the writer.
func (l *Log) wakeNow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wakeLocked()
}

// wakeLocked wakes the writer. The caller holds mu.
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
		newest, grown := l.head.Seq, l.headChanged
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
func (l *Log) Dir() string { return l.options.Dir }

// Close writes and syncs the queued records.
func (l *Log) Close() error { return l.closeWith(nil) }

// CloseMarked closes like Close, after a final record of kind Close: Verify and the next Open find records appended after it.
func (l *Log) CloseMarked(r Record) error {
	r.Kind, r.Time = Close, l.options.Now()
	return l.closeWith(&r)
}

// closeWith closes the log after an optional final record.
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
	return l.writer.close()
}

// run writes queued records on the writer's goroutine until the log is closed.
func (l *Log) run() {
	defer close(l.done)
	var due, tick <-chan time.Time
	idleTicks := 0 // consecutive checks without records
	prune := time.NewTimer(l.options.firstPruneDelay)
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
			l.writer.sync()
			due = nil
			continue
		}
		batch, rejected, closed := l.takeQueue()
		l.write(batch, rejected)
		if idleTicks++; len(batch) > 0 {
			idleTicks = 0
		}
		if tick == nil && l.keepsTicking(idleTicks) {
			tick = time.After(soonDelay)
		}
		if l.writer.isDirty && due == nil {
			due = time.After(l.options.SyncEvery)
		}
		if closed {
			return
		}
	}
}

// prune drops old segments and returns when to check again.
func (l *Log) prune() (next time.Duration) {
	if l.options.Retention == nil {
		return pruneInterval
	}
	more := l.writer.prune(l.options.Retention())
	l.mu.Lock()
	if l.head != l.writer.last {
		l.head = l.writer.last
		close(l.headChanged)
		l.headChanged = make(chan struct{})
	}
	l.mu.Unlock()
	if more {
		return pruneContinueDelay
	}
	return pruneInterval
}

// maxIdleTicks is the number of checks without records after which the writer must be woken.
const maxIdleTicks = 4

// keepsTicking reports whether the writer checks again after soonDelay without being woken. The next record then needs no
// timer and no thread wake-up.
func (l *Log) keepsTicking(idleTicks int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isTicking = l.hasSoon && (idleTicks < maxIdleTicks || len(l.queue) > 0)
	l.hasSoon = l.hasSoon && l.isTicking
	return l.isTicking
}

// takeQueue empties the queue.
func (l *Log) takeQueue() (batch []entry, rejected uint64, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch, rejected = l.queue, l.rejected
	l.queue, l.waiting, l.rejected = nil, 0, 0
	return batch, rejected, l.closed
}

// write writes a batch and notifies its callers.
func (l *Log) write(batch []entry, rejected uint64) {
	l.writer.countUnwritten(rejected, l.options.Now())
	if len(batch) == 0 && rejected == 0 {
		return
	}
	records := make([]Record, len(batch))
	for i := range batch {
		records[i] = batch[i].record
	}
	first, err := l.writer.write(records)
	if err == nil {
		l.mu.Lock()
		l.head, l.isFailing = l.writer.last, false
		close(l.headChanged)
		l.headChanged = make(chan struct{})
		l.mu.Unlock()
	} else {
		l.mu.Lock()
		l.isFailing = true
		l.mu.Unlock()
		l.writer.countUnwritten(uint64(len(batch)), l.options.Now())
		err = fmt.Errorf("%w: %w", ErrNotWritten, err)
		if l.options.ContinuesUnwritten != nil && l.options.ContinuesUnwritten() {
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
