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

// Times of a publisher.
const (
	gather    = 100 * time.Millisecond // changes within are told as one
	renewHost = 6 * time.Second
	renewRest = time.Hour              // who lists all has the server go through all that was replaced since the oldest
	lookAgain = 10 * time.Minute       // what is kept may have been spoiled by another member
	retryTime = 500 * time.Millisecond // doubles
	lastRetry = 2 * time.Second
	flushTime = 5 * time.Second // for all that is told at once
)

// maxFlying bounds what is on its way.
const maxFlying = 256

// Publisher sees to it that the registry says of a host what is the case. What cannot be told is told later; what
// changed meanwhile is told as it is then.
type Publisher struct {
	Log  *slog.Logger
	js   jetstream.JetStream
	host string

	mu     sync.Mutex
	own    []byte            // what the host's own record is to be; nil: there is to be none
	blocks map[string]block  // what records are to be, by key
	place  map[string]string // the key that a record is in
	have   map[string]told   // by key
	dirty  map[string]bool
	anew   bool          // nothing is known of what the registry says
	looked time.Time     // when it was last known
	late   time.Duration // how much later than others it is looked at again
	left   bool          // nothing is to be told any more
	wake   chan struct{}
	soon   chan struct{} // ends the pause after a failure
	failed error
	no     map[string]error // of keys that the registry does not take as they are
	flying int              // being told
}

// told is what the registry was told last.
type told struct {
	value []byte // of a block: raw
	bad   bool   // nobody knows what is there
	when  time.Time
}

// NewPublisher makes one; Run does the work.
func NewPublisher(js jetstream.JetStream, host string) *Publisher {
	return &Publisher{
		js: js, host: host, blocks: map[string]block{}, place: map[string]string{}, have: map[string]told{}, dirty: map[string]bool{}, anew: true,
		wake: make(chan struct{}, 1), soon: make(chan struct{}, 1), no: map[string]error{}, Log: slog.New(slog.DiscardHandler),
	}
}

// Host says what the host's own record is.
func (p *Publisher) Host(value []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left || bytes.Equal(p.own, value) {
		return
	}
	p.own = value
	p.mark(fleet.HostKey(p.host))
}

// Set says what a record is.
func (p *Publisher) Set(record string, value []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left {
		return
	}
	key, known := p.place[record]
	if known {
		if bytes.Equal(p.blocks[key][record], value) {
			return
		}
		p.blocks[key][record] = value
		p.mark(key)
		if len(p.blocks[key]) == 1 || p.blocks[key].size() <= blockBytes {
			return
		}
		delete(p.blocks[key], record) // it has grown
	}
	key = p.room(size(record, value))
	if p.blocks[key] == nil {
		p.blocks[key] = block{}
	}
	p.blocks[key][record], p.place[record] = value, key
	p.mark(key)
}

// room is the first block that has room for so many bytes. The caller holds mu.
func (p *Publisher) room(bytes int) string {
	for n := 0; ; n++ {
		key := fleet.BlockKey(p.host, n)
		if b := p.blocks[key]; len(b) == 0 || len(b) < blockRecords && b.size()+bytes <= blockBytes {
			return key
		}
	}
}

// Remove says that there is no such record any more.
func (p *Publisher) Remove(record string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, known := p.place[record]
	if p.left || !known {
		return
	}
	delete(p.place, record)
	delete(p.blocks[key], record)
	p.mark(key)
}

// mark has a key be told. The caller holds mu.
func (p *Publisher) mark(key string) {
	p.dirty[key] = true
	p.rouse()
}

// wanted is what a key is to be; nil: there is to be none. The caller holds mu.
func (p *Publisher) wanted(key string) []byte {
	if key == fleet.HostKey(p.host) {
		return p.own
	}
	if b := p.blocks[key]; len(b) > 0 {
		return b.raw()
	}
	return nil
}

func (p *Publisher) rouse() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Anew has everything compared with what the registry says: after a cut others may have lost it.
func (p *Publisher) Anew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.anew = true
	p.rouse()
	select {
	case p.soon <- struct{}{}:
	default:
	}
}

// Leave says that there is neither the host nor any of its records any more.
func (p *Publisher) Leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dirty[fleet.HostKey(p.host)] = true
	for key := range p.blocks {
		p.dirty[key] = true
	}
	p.own = nil
	clear(p.blocks)
	clear(p.place)
	p.left = true
	p.rouse()
}

// Settled says that the registry is known to say what is the case.
func (p *Publisher) Settled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.anew && p.flying == 0 && len(p.dirty) == 0
}

// State is how many changes the registry has not been told yet, and why.
func (p *Publisher) State() (waiting int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err = p.failed
	for _, no := range p.no {
		if err == nil {
			err = no
		}
	}
	return len(p.dirty) + p.flying, err
}

// Run works until the context ends.
func (p *Publisher) Run(ctx context.Context) {
	renew := time.NewTicker(renewHost)
	defer renew.Stop()
	pause := retryTime
	for {
		select { // what it ended is over
		case <-p.soon:
		default:
		}
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-renew.C:
			p.renew()
		}
		select { // what else changes now goes along
		case <-ctx.Done():
			return
		case <-time.After(gather):
		}
		err := p.flush(ctx)
		p.mu.Lock()
		p.failed = err
		p.mu.Unlock()
		if err == nil {
			pause = retryTime
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-p.soon:
			pause = retryTime
		case <-time.After(Jitter(pause)):
			pause = min(2*pause, lastRetry)
		}
		p.rouse()
	}
}

// renew marks what would go by itself.
func (p *Publisher) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left {
		return
	}
	now := time.Now()
	if now.Sub(p.looked) > lookAgain+p.late {
		p.anew = true
	}
	p.dirty[fleet.HostKey(p.host)] = true
	for key, t := range p.have {
		if t.value != nil && now.Sub(t.when) > renewRest {
			p.dirty[key] = true
		}
	}
}

// compare learns what the registry says of the host, and marks what is not so.
func (p *Publisher) compare(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, 30*time.Second)
	defer done()
	all, err := snapshot(ctx, p.js, Of(p.host))
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.have = map[string]told{}
	for i := range all {
		k := &all[i]
		p.have[k.key] = told{k.value, k.bad, k.time}
		if k.bad || !bytes.Equal(p.wanted(k.key), k.value) {
			p.dirty[k.key] = true
		}
	}
	if _, ok := p.have[fleet.HostKey(p.host)]; !ok && p.own != nil {
		p.dirty[fleet.HostKey(p.host)] = true
	}
	for key, b := range p.blocks {
		if _, ok := p.have[key]; !ok && len(b) > 0 {
			p.dirty[key] = true
		}
	}
	p.anew, p.looked, p.late = false, time.Now(), Jitter(lookAgain/4)
	return nil
}

// flush tells everything that changed.
func (p *Publisher) flush(ctx context.Context) error {
	p.mu.Lock()
	anew := p.anew
	p.mu.Unlock()
	if anew {
		if err := p.compare(ctx); err != nil {
			return err
		}
	}
	p.mu.Lock()
	dirty := p.dirty
	p.dirty = make(map[string]bool, len(dirty))
	defer func() {
		p.mu.Lock()
		p.flying = 0
		p.mu.Unlock()
	}()
	values := make(map[string][]byte, len(dirty))
	for key := range dirty {
		if v := p.wanted(key); v != nil {
			values[key] = v
		} else if _, there := p.have[key]; there { // else there is nothing to take away
			values[key] = nil
		} else {
			delete(dirty, key)
		}
	}
	p.flying = len(dirty)
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
		if p.refused(f.key, err) {
			return
		}
		if err != nil {
			p.dirty[f.key] = true
			p.have[f.key] = told{bad: true, when: time.Now()} // it may have been taken all the same
			if first == nil {
				first = err
			}
			return
		}
		p.have[f.key] = told{value: values[f.key], when: time.Now()}
		if values[f.key] == nil {
			delete(p.have, f.key)
		}
	}
	for _, key := range p.inOrder(values) {
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
			if !p.refused(key, err) {
				first, p.dirty[key] = err, true
			}
			p.mu.Unlock()
			continue
		}
		if flying = append(flying, flight{key, ack}); len(flying) >= maxFlying {
			land(flying[0])
			flying = flying[1:]
		}
	}
	for _, f := range flying {
		land(f)
	}
	return first
}

// inOrder are keys in the order in which they are told: first the host's own, by which others see that it is there, and
// last what goes, of which the records may be in other blocks now.
func (p *Publisher) inOrder(values map[string][]byte) []string {
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

// refused says that the registry does not take a key as it is. It is not tried again until there is something else to
// tell of it: the others are told all the same. The caller holds mu.
func (p *Publisher) refused(key string, err error) bool {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, nats.ErrBadSubject):
	case errors.As(err, &api) && api.Code == 400: // not one of those that pass, as 503 does
	default:
		if err == nil {
			delete(p.no, key)
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
	if p.no[key] == nil {
		p.Log.Warn("the fleet", "err", err)
	}
	p.no[key] = err
	return true
}
