//go:build unix

package fleetmember

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet/registry"
	"github.com/longterm-dev/longterm/store/fleet/replica"
	"github.com/longterm-dev/longterm/store/journal"
)

// Source is a session whose output and record are copied to the fleet.
type Source struct {
	ID      string
	Journal *journal.Journal
	// Record returns the session's record, in at most replica.MaxBody bytes.
	Record func(ctx context.Context) ([]byte, error)
}

// Intervals of copying: copyInterval bounds the output that is lost with a host, recordInterval is the interval between
// checks of records.
const (
	copyInterval       = time.Second
	recordInterval     = 5 * time.Second
	copyTime           = 10 * time.Second // bound of one message
	idleRecordInterval = time.Minute      // recordInterval of sessions that print nothing
	renewInterval      = 24 * time.Hour   // records are sent again, because the fleet does not store them forever
	// maxChunks bounds the chunks of one session that are copied before the next session's.
	maxChunks = 8
	// minBackoff is the pause after a first failure. It doubles up to maxBackoff: a cluster that lost a server accepts
	// copies again after its election.
	minBackoff = 2 * time.Second
	maxBackoff = 15 * time.Second
)

// copier copies sessions' output to the fleet. One goroutine copies; any may read the status.
type copier struct {
	p     *membership
	next  time.Time // next check of records
	more  bool      // a session has more output than maxChunks
	swept bool      // the fleet was notified of sessions removed while it was unreachable

	reconnected atomic.Bool           // the link reconnected: the streams may have been recreated
	streams     replica.CreationTimes // creation times of the streams

	mu          sync.Mutex // guards what follows
	sessions    map[string]*copyProgress
	copiedUntil time.Time // all output up to then is copied
	err         error
	// former counts sessions of an earlier machine with this host's name. Their replicas belong to that machine only.
	former int
}

// copyProgress is the progress of copying one session.
type copyProgress struct {
	j             *journal.Journal
	cursor        *replica.Cursor
	done          replica.Place     // end of the output that the fleet has
	stateRead     bool              // the replica's state was read
	record        [sha256.Size]byte // hash of the last record sent
	recorded      time.Time         // time of the last record
	recordChecked time.Time         // time of the last check of the record
	end           uint64            // end of the output then
}

func newCopier(p *membership) *copier {
	return &copier{p: p, sessions: map[string]*copyProgress{}, copiedUntil: time.Now()}
}

// run copies until ctx ends. Failed copies are retried, as the local disk has the data.
func (c *copier) run(ctx context.Context) {
	said, failed := "", minBackoff
	for pause := copyInterval; ; {
		err := c.copyAll(ctx)
		if err != nil && ctx.Err() == nil && err.Error() != said {
			said = err.Error()
			c.p.m.cfg.Log.Warn("what sessions print is not copied to the fleet now", "err", err)
		}
		c.mu.Lock()
		c.err = withHint(err)
		c.mu.Unlock()
		switch pause = copyInterval; {
		case err != nil && !errors.Is(err, errLocal):
			pause, failed = registry.Jitter(failed), min(2*failed, maxBackoff)
		case c.more:
			pause, failed = 0, minBackoff
		default:
			failed = minBackoff
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		case <-c.p.copyNow:
		}
	}
}

// withHint adds a hint to errors without one.
func withHint(err error) error {
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return fmt.Errorf("fleet server keeps no copies (disk full?); see its log: %w", err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, jetstream.ErrNoStreamResponse):
		return fmt.Errorf("fleet server accepts no copies now (disk full?); see its log: %w", err)
	}
	return err
}

// copyAll copies the new output of all sessions.
func (c *copier) copyAll(ctx context.Context) error {
	if c.p.m.cfg.CopyRate() <= 0 {
		return nil
	}
	if err := c.verifyReplicas(ctx); err != nil {
		return err
	}
	began := time.Now()
	all := c.p.m.cfg.CopySources()
	records := !began.Before(c.next)
	if records {
		c.next = began.Add(recordInterval)
	}
	c.more = false
	there := map[string]bool{}
	var here []error
	for i := range all {
		there[all[i].ID] = true
		switch err := c.copySession(ctx, &all[i], records); {
		case errors.Is(err, errLocal): // of that session; the others' are copied
			here = append(here, fmt.Errorf("session %s: %w", all[i].ID, err))
		case err != nil:
			return err
		}
	}
	c.mu.Lock()
	var gone []string
	for id := range c.sessions {
		if !there[id] {
			gone = append(gone, id)
		}
	}
	if !c.more && here == nil {
		c.copiedUntil = began
	}
	c.mu.Unlock()
	for _, id := range gone {
		if err := c.removeReplica(ctx, id); err != nil {
			return err
		}
		c.mu.Lock()
		delete(c.sessions, id)
		c.mu.Unlock()
	}
	return errors.Join(here...)
}

// verifyReplicas checks whether the fleet still has the replicas: a server may have lost its disk or been replaced. The
// first time it also reports the sessions removed meanwhile.
func (c *copier) verifyReplicas(ctx context.Context) error {
	js := c.p.link.JetStream()
	if c.reconnected.Swap(false) {
		asking, done := context.WithTimeout(ctx, copyTime)
		made, err := replica.StreamsCreated(asking, js)
		done()
		if err != nil {
			c.reconnected.Store(true)
			return err
		}
		if made != c.streams {
			c.streams, c.swept = made, false
			c.mu.Lock()
			clear(c.sessions)
			c.mu.Unlock()
		}
	}
	if c.swept {
		return nil
	}
	asking, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	list, err := replica.Sessions(asking, js, c.p.id.Name)
	if err != nil {
		return err
	}
	former := 0
	for _, id := range list {
		if c.p.m.cfg.HasSession(id) {
			continue
		}
		h, _, err := replica.Record(asking, js, c.p.id.CA, c.p.id.Name, id)
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound), err == nil && h.Removed:
			continue
		case err == nil && h.Serial != c.p.id.Serial: // it belongs to an earlier machine
			former++
			continue
		case err != nil && !errors.Is(err, replica.ErrForged) && !errors.Is(err, replica.ErrDamaged):
			return err // whose it is, is not known
		}
		if err := c.removeReplica(asking, id); err != nil {
			return err
		}
	}
	if former > 0 {
		c.p.m.cfg.Log.Warn("the fleet has copies of sessions of a former machine of this host's name; `longterm fleet restore` has them here", "sessions", former)
	}
	c.mu.Lock()
	c.former = former
	c.mu.Unlock()
	c.swept = true
	return nil
}

// removeReplica removes the replica of a removed session.
func (c *copier) removeReplica(ctx context.Context, id string) error {
	return c.publish(ctx, replica.Head{Session: id, Record: true, Removed: true}, nil)
}

// errLocal marks errors of this machine, as opposed to the fleet's.
var errLocal = errors.New("not readable on this machine")

// copySession copies the new output of one session. A chunk counts once the fleet has confirmed it.
func (c *copier) copySession(ctx context.Context, s *Source, records bool) error {
	c.mu.Lock()
	e := c.sessions[s.ID]
	if e == nil || e.j != s.Journal { // new, or started again
		e = &copyProgress{j: s.Journal}
		c.sessions[s.ID] = e
	}
	c.mu.Unlock()
	if !e.stateRead {
		asking, done := context.WithTimeout(ctx, copyTime)
		h, ok, err := replica.LastChunk(asking, c.p.link.JetStream(), c.p.id.CA, c.p.id.Name, s.ID)
		done()
		if err != nil {
			return err
		}
		from := replica.Place{Offset: s.Journal.Start()}
		if ok && h.To.Offset <= s.Journal.End() {
			from = h.To
		}
		c.mu.Lock()
		e.done, e.stateRead = from, true
		c.mu.Unlock()
		records = true
	}
	end := s.Journal.End()
	records = records && (e.recordChecked.IsZero() || end != e.end || time.Since(e.recordChecked) > idleRecordInterval)
	var failed error
	if records {
		e.recordChecked, e.end = time.Now(), end
		if failed = c.sendRecord(ctx, s, e); failed != nil && !errors.Is(failed, errLocal) {
			return failed
		}
	}
	// Copies up to the end at the start of the turn. Missing output is looked up together with records, so an idle
	// session costs nothing.
	for n := 0; records || end > e.done.Offset; n++ {
		if n == maxChunks {
			c.more = true
			break
		}
		if e.cursor == nil {
			e.cursor = replica.NewCursor(s.Journal, e.done)
		}
		body, to, err := e.cursor.Next(replica.MaxBody)
		if err != nil {
			e.cursor = nil
			return errors.Join(failed, fmt.Errorf("%w: %w", errLocal, err))
		}
		if len(body) == 0 {
			e.cursor = nil
			break
		}
		if err := c.publish(ctx, replica.Head{Session: s.ID, From: e.done, To: to, End: s.Journal.End()}, body); err != nil {
			e.cursor = nil // the chunk is read again
			return err
		}
		c.mu.Lock()
		e.done = to
		c.mu.Unlock()
		records = records && to.Offset < end
	}
	return failed
}

// sendRecord sends a session's record, if it has changed or must be renewed.
func (c *copier) sendRecord(ctx context.Context, s *Source, e *copyProgress) error {
	b, err := s.Record(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errLocal, err)
	}
	sum := sha256.Sum256(b)
	if sum == e.record && time.Since(e.recorded) < renewInterval {
		return nil
	}
	if err := c.publish(ctx, replica.Head{Session: s.ID, Record: true, End: s.Journal.End()}, b); err != nil {
		return err
	}
	e.record, e.recorded = sum, time.Now()
	return nil
}

// publish sends one message and waits as the rate requires.
func (c *copier) publish(ctx context.Context, h replica.Head, body []byte) error {
	h.Host = c.p.id.Name
	b, err := replica.Seal(c.p.id, h, body)
	if err != nil {
		return err
	}
	asking, done := context.WithTimeout(ctx, copyTime)
	defer done()
	if err := replica.Publish(asking, c.p.link.JetStream(), h, b); err != nil {
		return err
	}
	rate := max(c.p.m.cfg.CopyRate(), 1)
	if rest := time.Duration(float64(len(b)) / float64(rate) * float64(time.Second)); rest > time.Millisecond {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rest):
		}
	}
	return nil
}

// lag returns the number of bytes that the fleet does not have, and the time up to which it has everything.
func (c *copier) lag(all []Source) (bytes uint64, since time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range all {
		from := all[i].Journal.Start()
		if e := c.sessions[all[i].ID]; e != nil && e.stateRead && e.j == all[i].Journal {
			from = max(from, e.done.Offset)
		}
		if end := all[i].Journal.End(); end > from {
			bytes += end - from
		}
	}
	return bytes, c.copiedUntil, c.err
}

// countFormer counts sessions of a former machine of this name that can be restored.
func (c *copier) countFormer() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.former
}

// lag returns how much of this machine's output the fleet does not have, and for how long.
func (p *membership) lag() (bytes uint64, age time.Duration, err error) {
	if p.m.cfg.CopyRate() <= 0 {
		return 0, 0, errNotCopied
	}
	bytes, since, err := p.copier.lag(p.m.cfg.CopySources())
	if bytes > 0 {
		age = time.Since(since)
	}
	return bytes, age, err
}

// errNotCopied reports that copying is off.
var errNotCopied = errors.New("fleet.copy_rate is 0")
