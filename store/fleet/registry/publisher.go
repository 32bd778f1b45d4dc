package registry

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/store/fleet"
)

// Intervals and timeouts of a publisher.
const (
	gatherTime      = 100 * time.Millisecond // debounce: changes within this time are published together
	renewHost       = 6 * time.Second
	renewBlocks     = time.Hour              // renewal of blocks; a listing makes the server scan everything replaced since the oldest message
	compareInterval = 10 * time.Minute       // comparison with the registry, which another member may have damaged
	minBackoff      = 500 * time.Millisecond // backoff after a failure; doubles
	maxBackoff      = 2 * time.Second        // largest backoff
	flushTime       = 5 * time.Second        // timeout of one flush
)

// maxInFlight limits concurrent writes.
const maxInFlight = 256

// Publisher keeps a host's keys in the registry up to date. A failed write is retried later with the value that is
// current at that time.
type Publisher struct {
	Log  *slog.Logger
	js   jetstream.JetStream
	host string

	mu          sync.Mutex
	own         []byte               // desired value of the host's own record; nil to delete it
	blocks      map[string]block     // desired records, by key
	blockOf     map[string]string    // key of the block that contains each record
	published   map[string]published // last published values, by key
	dirty       map[string]bool      // keys to publish
	needsResync bool                 // the registry's content is unknown
	comparedAt  time.Time            // time of the last comparison with the registry
	jitter      time.Duration        // random delay of the next comparison
	withdrawn   bool                 // the host has left; nothing more is published
	wake        chan struct{}
	retryNow    chan struct{}    // ends the backoff after a failure
	lastErr     error            // error of the last flush
	rejected    map[string]error // errors of keys whose value the registry rejects
	inFlight    int              // number of writes in flight
}

// published is the last value that the registry acknowledged for a key.
type published struct {
	value   []byte    // for a block: uncompressed
	unknown bool      // the registry's content of this key is unknown
	when    time.Time // when it was published
}

// NewPublisher returns a publisher; Run publishes.
func NewPublisher(js jetstream.JetStream, host string) *Publisher {
	return &Publisher{
		js: js, host: host, blocks: map[string]block{}, blockOf: map[string]string{}, published: map[string]published{}, dirty: map[string]bool{}, needsResync: true,
		wake: make(chan struct{}, 1), retryNow: make(chan struct{}, 1), rejected: map[string]error{}, Log: slog.New(slog.DiscardHandler),
	}
}

// Host sets the host's own record.
func (p *Publisher) Host(value []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.withdrawn || bytes.Equal(p.own, value) {
		return
	}
	p.own = value
	p.markDirty(fleet.HostKey(p.host))
}

// Set adds or replaces a record.
func (p *Publisher) Set(record string, value []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.withdrawn {
		return
	}
	key, known := p.blockOf[record]
	if known {
		if bytes.Equal(p.blocks[key][record], value) {
			return
		}
		p.blocks[key][record] = value
		p.markDirty(key)
		if len(p.blocks[key]) == 1 || p.blocks[key].size() <= blockBytes {
			return
		}
		delete(p.blocks[key], record) // it has grown
	}
	key = p.blockFor(size(record, value))
	if p.blocks[key] == nil {
		p.blocks[key] = block{}
	}
	p.blocks[key][record], p.blockOf[record] = value, key
	p.markDirty(key)
}

// blockFor returns the key of the first block with space for a record of this size. The caller holds mu.
func (p *Publisher) blockFor(bytes int) string {
	for n := 0; ; n++ {
		key := fleet.BlockKey(p.host, n)
		if b := p.blocks[key]; len(b) == 0 || len(b) < blockRecords && b.size()+bytes <= blockBytes {
			return key
		}
	}
}

// Remove removes a record.
func (p *Publisher) Remove(record string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, known := p.blockOf[record]
	if p.withdrawn || !known {
		return
	}
	delete(p.blockOf, record)
	delete(p.blocks[key], record)
	p.markDirty(key)
}

// markDirty schedules a key to be published. The caller holds mu.
func (p *Publisher) markDirty(key string) {
	p.dirty[key] = true
	p.wakeRun()
}

// desiredValue returns the value that a key should have, or nil to delete the key. The caller holds mu.
func (p *Publisher) desiredValue(key string) []byte {
	if key == fleet.HostKey(p.host) {
		return p.own
	}
	if b := p.blocks[key]; len(b) > 0 {
		return b.raw()
	}
	return nil
}

// wakeRun wakes Run.
func (p *Publisher) wakeRun() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Resync compares everything with the registry. Call it after an outage, as the servers may have lost data.
func (p *Publisher) Resync() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.needsResync = true
	p.wakeRun()
	select {
	case p.retryNow <- struct{}{}:
	default:
	}
}

// Withdraw removes the host and all its records.
func (p *Publisher) Withdraw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dirty[fleet.HostKey(p.host)] = true
	for key := range p.blocks {
		p.dirty[key] = true
	}
	p.own = nil
	clear(p.blocks)
	clear(p.blockOf)
	p.withdrawn = true
	p.wakeRun()
}

// IsSynced reports whether the registry is known to match the host's records.
func (p *Publisher) IsSynced() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.needsResync && p.inFlight == 0 && len(p.dirty) == 0
}

// State returns the number of unpublished changes and the reason why they wait.
func (p *Publisher) State() (waiting int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err = p.lastErr
	for _, no := range p.rejected {
		if err == nil {
			err = no
		}
	}
	return len(p.dirty) + p.inFlight, err
}

// Run publishes changes until the context ends.
func (p *Publisher) Run(ctx context.Context) {
	renew := time.NewTicker(renewHost)
	defer renew.Stop()
	pause := minBackoff
	for {
		select { // what it ended is over
		case <-p.retryNow:
		default:
		}
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-renew.C:
			p.renew()
		}
		select { // changes until then are published together (debounce)
		case <-ctx.Done():
			return
		case <-time.After(gatherTime):
		}
		err := p.flush(ctx)
		p.mu.Lock()
		p.lastErr = err
		p.mu.Unlock()
		if err == nil {
			pause = minBackoff
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-p.retryNow:
			pause = minBackoff
		case <-time.After(Jitter(pause)):
			pause = min(2*pause, maxBackoff)
		}
		p.wakeRun()
	}
}

// renew marks keys that would otherwise expire.
func (p *Publisher) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.withdrawn {
		return
	}
	now := time.Now()
	if now.Sub(p.comparedAt) > compareInterval+p.jitter {
		p.needsResync = true
	}
	p.dirty[fleet.HostKey(p.host)] = true
	for key, t := range p.published {
		if t.value != nil && now.Sub(t.when) > renewBlocks {
			p.dirty[key] = true
		}
	}
}

// compare reads the host's keys from the registry and marks those that differ.
func (p *Publisher) compare(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, 30*time.Second)
	defer done()
	all, err := snapshot(ctx, p.js, HostPatterns(p.host))
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.published = map[string]published{}
	for i := range all {
		k := &all[i]
		p.published[k.key] = published{k.value, k.corrupt, k.time}
		if k.corrupt || !bytes.Equal(p.desiredValue(k.key), k.value) {
			p.dirty[k.key] = true
		}
	}
	if _, ok := p.published[fleet.HostKey(p.host)]; !ok && p.own != nil {
		p.dirty[fleet.HostKey(p.host)] = true
	}
	for key, b := range p.blocks {
		if _, ok := p.published[key]; !ok && len(b) > 0 {
			p.dirty[key] = true
		}
	}
	p.needsResync, p.comparedAt, p.jitter = false, time.Now(), Jitter(compareInterval/4)
	return nil
}

// flush publishes all changed keys.
func (p *Publisher) flush(ctx context.Context) error {
	p.mu.Lock()
	resync := p.needsResync
	p.mu.Unlock()
	if resync {
		if err := p.compare(ctx); err != nil {
			return err
		}
	}
	p.mu.Lock()
	dirty := p.dirty
	p.dirty = make(map[string]bool, len(dirty))
	defer func() {
		p.mu.Lock()
		p.inFlight = 0
		p.mu.Unlock()
	}()
	values := make(map[string][]byte, len(dirty))
	for key := range dirty {
		if v := p.desiredValue(key); v != nil {
			values[key] = v
		} else if _, there := p.published[key]; there { // else the key was never published
			values[key] = nil
		} else {
			delete(dirty, key)
		}
	}
	p.inFlight = len(dirty)
	p.mu.Unlock()
	late, done := context.WithTimeout(ctx, flushTime)
	defer done()
	type flight struct {
		key string
		ack jetstream.PubAckFuture
	}
	var flying []flight
	var first error
	land := func(f flight) {
		var err error
		select {
		case <-f.ack.Ok():
		case err = <-f.ack.Err():
		case <-late.Done():
			err = late.Err()
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.isRejected(f.key, err) {
			return
		}
		if err != nil {
			p.dirty[f.key] = true
			p.published[f.key] = published{unknown: true, when: time.Now()} // the server may have accepted it
			if first == nil {
				first = err
			}
			return
		}
		p.published[f.key] = published{value: values[f.key], when: time.Now()}
		if values[f.key] == nil {
			delete(p.published, f.key)
		}
	}
	for _, key := range p.publishOrder(values) {
		if first != nil {
			p.mu.Lock()
			p.dirty[key] = true
			p.mu.Unlock()
			continue
		}
		m := &nats.Msg{Subject: fleet.KeySubject(key), Data: values[key], Header: nats.Header{}}
		ttl := RecordTime
		if key == fleet.HostKey(p.host) {
			ttl = HostTime
		} else if values[key] != nil {
			m.Data = pack(values[key])
		}
		if values[key] == nil {
			m.Header.Set("KV-Operation", "DEL")
			ttl = time.Hour
		}
		ack, err := p.js.PublishMsgAsync(m, jetstream.WithMsgTTL(ttl))
		if err != nil {
			p.mu.Lock()
			if !p.isRejected(key, err) {
				first, p.dirty[key] = err, true
			}
			p.mu.Unlock()
			continue
		}
		if flying = append(flying, flight{key, ack}); len(flying) >= maxInFlight {
			land(flying[0])
			flying = flying[1:]
		}
	}
	for _, f := range flying {
		land(f)
	}
	return first
}

// publishOrder returns keys in publishing order. The host's own key comes first, as it makes the host visible. Deletions
// come last, as their records may be in other blocks by now.
func (p *Publisher) publishOrder(values map[string][]byte) []string {
	rank := func(key string) int {
		switch {
		case values[key] == nil:
			return 2
		case key == fleet.HostKey(p.host):
			return 0
		}
		return 1
	}
	return slices.SortedFunc(maps.Keys(values), func(a, b string) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a, b)) })
}

// isRejected reports whether the registry rejected a key for its content. Such a key is not retried until it changes,
// and the other keys are published anyway. The caller holds mu.
func (p *Publisher) isRejected(key string, err error) bool {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, nats.ErrBadSubject):
	case errors.As(err, &api) && api.Code == 400: // not one of those that pass, as 503 does
	default:
		if err == nil {
			delete(p.rejected, key)
		}
		return false
	}
	what := key
	for record := range p.blocks[key] {
		if len(p.blocks[key]) == 1 {
			what = record
		}
	}
	err = fmt.Errorf("the registry does not take %s: %w", what, err)
	if p.rejected[key] == nil {
		p.Log.Warn("the fleet", "err", err)
	}
	p.rejected[key] = err
	return true
}
