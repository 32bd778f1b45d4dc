//go:build unix

package member

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet/copies"
	"github.com/longterm-dev/longterm/store/fleet/registry"
	"github.com/longterm-dev/longterm/store/journal"
)

// Source is a session whose output and record are copied to the fleet.
type Source struct {
	ID      string
	Journal *journal.Journal
	// Record is what is recorded of it, in at most copies.MaxBody bytes.
	Record func(ctx context.Context) ([]byte, error)
}

// Times of copying: copyEvery bounds what of a tail may be missing on a host that dies, recordEvery how often what is
// recorded is looked at.
const (
	copyEvery   = time.Second
	recordEvery = 5 * time.Second
	copyTime    = 10 * time.Second // for one message
	restEvery   = time.Minute      // of sessions that print nothing, instead of recordEvery
	renewEvery  = 24 * time.Hour   // what is recorded is handed over again: the fleet keeps nothing for ever
	// chunksARound bounds what one session has copied until it is the others' turn.
	chunksARound = 8
	// After a failure it is tried again after a pause, which doubles: a cluster that lost a server takes copies again when
	// it has voted.
	firstFailed = 2 * time.Second
	lastFailed  = 15 * time.Second
)

// copier copies what sessions print. One goroutine copies; status may be asked by any.
type copier struct {
	p     *part
	next  time.Time // when records are looked at again
	more  bool      // a session has more than its turn allowed
	swept bool      // the fleet was told which sessions were removed while nobody told it

	back    atomic.Bool // the link was away: the streams may be others
	streams copies.Made // when they were made

	mu  sync.Mutex // guards what follows
	of  map[string]*copied
	all time.Time // what was printed until then is there
	err error
	// former counts sessions of a machine that had this host's name before, whose copies are nobody's but its.
	former int
}

// copied is how far a session is.
type copied struct {
	j        *journal.Journal
	cursor   *copies.Cursor
	done     copies.Place // up to here the fleet has it
	looked   bool         // what the fleet has was asked for
	record   [sha256.Size]byte
	recorded time.Time // when that was handed over
	looks    time.Time // when what is recorded was looked at
	end      uint64    // where it ended then
}

func newCopier(p *part) *copier { return &copier{p: p, of: map[string]*copied{}, all: time.Now()} }

// run copies until the end. What cannot be copied now is copied when it can be: the local disk has it.
func (c *copier) run(ctx context.Context) {
	said, failed := "", firstFailed
	for pause := copyEvery; ; {
		err := c.round(ctx)
		if err != nil && ctx.Err() == nil && err.Error() != said {
			said = err.Error()
			c.p.m.cfg.Log.Warn("what sessions print is not copied to the fleet now", "err", err)
		}
		c.mu.Lock()
		c.err = plain(err)
		c.mu.Unlock()
		switch pause = copyEvery; {
		case err != nil && !errors.Is(err, errHere):
			pause, failed = registry.Jitter(failed), min(2*failed, lastFailed)
		case c.more:
			pause, failed = 0, firstFailed
		default:
			failed = firstFailed
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		case <-c.p.copyNow:
		}
	}
}

// plain says of an error what it means where it was not said by who has it.
func plain(err error) error {
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return fmt.Errorf("the fleet's server keeps no copies, for want of room perhaps; it says why where it runs: %w", err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, jetstream.ErrNoStreamResponse):
		return fmt.Errorf("the fleet's server takes none now; its disk may be full, which it says where it runs: %w", err)
	}
	return err
}

// round copies what there is of all sessions.
func (c *copier) round(ctx context.Context) error {
	if c.p.m.cfg.CopyRate() <= 0 {
		return nil
	}
	if err := c.look(ctx); err != nil {
		return err
	}
	began := time.Now()
	all := c.p.m.cfg.Copies()
	records := !began.Before(c.next)
	if records {
		c.next = began.Add(recordEvery)
	}
	c.more = false
	there := map[string]bool{}
	var here []error
	for i := range all {
		there[all[i].ID] = true
		switch err := c.session(ctx, &all[i], records); {
		case errors.Is(err, errHere): // of that session; the others' are copied
			here = append(here, fmt.Errorf("session %s: %w", all[i].ID, err))
		case err != nil:
			return err
		}
	}
	c.mu.Lock()
	var gone []string
	for id := range c.of {
		if !there[id] {
			gone = append(gone, id)
		}
	}
	if !c.more && here == nil {
		c.all = began
	}
	c.mu.Unlock()
	for _, id := range gone {
		if err := c.removed(ctx, id); err != nil {
			return err
		}
		c.mu.Lock()
		delete(c.of, id)
		c.mu.Unlock()
	}
	return errors.Join(here...)
}

// look finds out whether the fleet has what it had: a server may have lost its disk, or another one come into its place.
// The first time it tells, too, what was removed while it was not told.
func (c *copier) look(ctx context.Context) error {
	js := c.p.link.JetStream()
	if c.back.Swap(false) {
		asking, done := context.WithTimeout(ctx, copyTime)
		made, err := copies.When(asking, js)
		done()
		if err != nil {
			c.back.Store(true)
			return err
		}
		if made != c.streams {
			c.streams, c.swept = made, false
			c.mu.Lock()
			clear(c.of)
			c.mu.Unlock()
		}
	}
	if c.swept {
		return nil
	}
	asking, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	list, err := copies.Sessions(asking, js, c.p.id.Name)
	if err != nil {
		return err
	}
	former := 0
	for _, id := range list {
		if c.p.m.cfg.Here(id) {
			continue
		}
		h, _, err := copies.Record(asking, js, c.p.id.CA, c.p.id.Name, id)
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound), err == nil && h.Removed:
			continue
		case err == nil && h.Serial != c.p.id.Serial: // nobody removed it here: a machine that is gone had it
			former++
			continue
		case err != nil && !errors.Is(err, copies.ErrForged) && !errors.Is(err, copies.ErrDamaged):
			return err // whose it is, is not known
		}
		if err := c.removed(asking, id); err != nil {
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

func (c *copier) removed(ctx context.Context, id string) error {
	return c.publish(ctx, copies.Head{Session: id, Record: true, Removed: true}, nil)
}

// errHere is of what cannot be read on this machine, which is not the fleet's fault.
var errHere = errors.New("it cannot be read here")

// session copies what there is of one. A chunk counts when the fleet has confirmed it.
func (c *copier) session(ctx context.Context, s *Source, records bool) error {
	c.mu.Lock()
	e := c.of[s.ID]
	if e == nil || e.j != s.Journal { // new, or started again
		e = &copied{j: s.Journal}
		c.of[s.ID] = e
	}
	c.mu.Unlock()
	if !e.looked {
		asking, done := context.WithTimeout(ctx, copyTime)
		h, ok, err := copies.Last(asking, c.p.link.JetStream(), c.p.id.CA, c.p.id.Name, s.ID)
		done()
		if err != nil {
			return err
		}
		from := copies.Place{Offset: s.Journal.Start()}
		if ok && h.To.Offset <= s.Journal.End() {
			from = h.To
		}
		c.mu.Lock()
		e.done, e.looked = from, true
		c.mu.Unlock()
		records = true
	}
	end := s.Journal.End()
	records = records && (e.looks.IsZero() || end != e.end || time.Since(e.looks) > restEvery)
	var failed error
	if records {
		e.looks, e.end = time.Now(), end
		if failed = c.record(ctx, s, e); failed != nil && !errors.Is(failed, errHere) {
			return failed
		}
	}
	// Up to where it ended when its turn came. What stands for no output is looked for with records: a resting session
	// costs nothing.
	for n := 0; records || end > e.done.Offset; n++ {
		if n == chunksARound {
			c.more = true
			break
		}
		if e.cursor == nil {
			e.cursor = copies.NewCursor(s.Journal, e.done)
		}
		body, to, err := e.cursor.Next(copies.MaxBody)
		if err != nil {
			e.cursor = nil
			return errors.Join(failed, fmt.Errorf("%w: %w", errHere, err))
		}
		if len(body) == 0 {
			e.cursor = nil
			break
		}
		if err := c.publish(ctx, copies.Head{Session: s.ID, From: e.done, To: to, End: s.Journal.End()}, body); err != nil {
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

func (c *copier) record(ctx context.Context, s *Source, e *copied) error {
	b, err := s.Record(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errHere, err)
	}
	sum := sha256.Sum256(b)
	if sum == e.record && time.Since(e.recorded) < renewEvery {
		return nil
	}
	if err := c.publish(ctx, copies.Head{Session: s.ID, Record: true, End: s.Journal.End()}, b); err != nil {
		return err
	}
	e.record, e.recorded = sum, time.Now()
	return nil
}

// publish hands one message over, and takes the time that the rate demands.
func (c *copier) publish(ctx context.Context, h copies.Head, body []byte) error {
	h.Host = c.p.id.Name
	b, err := copies.Seal(c.p.id, h, body)
	if err != nil {
		return err
	}
	asking, done := context.WithTimeout(ctx, copyTime)
	defer done()
	if err := copies.Publish(asking, c.p.link.JetStream(), h, b); err != nil {
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

// behind is how many bytes of sessions the fleet does not have, and up to when it has all.
func (c *copier) behind(all []Source) (bytes uint64, since time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range all {
		from := all[i].Journal.Start()
		if e := c.of[all[i].ID]; e != nil && e.looked && e.j == all[i].Journal {
			from = max(from, e.done.Offset)
		}
		if end := all[i].Journal.End(); end > from {
			bytes += end - from
		}
	}
	return bytes, c.all, c.err
}

// formers counts sessions of a former machine of this name that can be restored.
func (c *copier) formers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.former
}

// behind is what of this machine's sessions the fleet does not have.
func (p *part) behind() (bytes uint64, age time.Duration, err error) {
	if p.m.cfg.CopyRate() <= 0 {
		return 0, 0, errNotCopied
	}
	bytes, since, err := p.copier.behind(p.m.cfg.Copies())
	if bytes > 0 {
		age = time.Since(since)
	}
	return bytes, age, err
}

// errNotCopied says that copying is off.
var errNotCopied = errors.New("fleet.copy_rate is 0")
