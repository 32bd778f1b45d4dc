package web

import (
	"sync"
	"time"
)

// loginLimiter bounds how often an address may fail to log in: burst times, then once every refill. Codes have 130 random
// bits and are not guessed; this keeps attempts from filling the log.
type loginLimiter struct {
	burst  int
	refill time.Duration
	most   int // addresses that are remembered
	now    func() time.Time

	mu  sync.Mutex
	all map[string]bucket
}

type bucket struct {
	left int
	at   time.Time // when it was filled last
}

// wait returns how long an address must wait before the next attempt, or 0.
func (k *loginLimiter) wait(from string) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.refillBucket(from)
	if b.left > 0 {
		return 0
	}
	return b.at.Add(k.refill).Sub(k.now())
}

// recordFailure notes that an address did not get in.
func (k *loginLimiter) recordFailure(from string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.refillBucket(from)
	b.left = max(0, b.left-1)
	if _, known := k.all[from]; !known && len(k.all) >= k.most {
		k.forget()
	}
	k.all[from] = b
}

// refillBucket returns an address's current bucket. The caller holds mu.
func (k *loginLimiter) refillBucket(from string) bucket {
	if k.all == nil {
		k.all = map[string]bucket{}
	}
	b, known := k.all[from]
	if !known {
		return bucket{k.burst, k.now()}
	}
	n := int(k.now().Sub(b.at) / k.refill)
	if b.left += n; b.left >= k.burst {
		return bucket{k.burst, k.now()}
	}
	b.at = b.at.Add(time.Duration(n) * k.refill)
	return b
}

// forget makes room: it drops full buckets, or all if none is full.
func (k *loginLimiter) forget() {
	for from := range k.all {
		if k.refillBucket(from).left == k.burst {
			delete(k.all, from)
		}
	}
	if len(k.all) >= k.most {
		k.all = map[string]bucket{}
	}
}

// Limit bounds how often an address may do something: burst times at once, then once every refill.
type Limit struct{ k loginLimiter }

// NewLimit returns a limit that remembers at most most addresses.
func NewLimit(burst int, refill time.Duration, most int) *Limit {
	return &Limit{loginLimiter{burst: burst, refill: refill, most: most, now: time.Now}}
}

// Take uses one attempt, or returns how long the address must wait.
func (l *Limit) Take(from string) (wait time.Duration) {
	if wait = l.k.wait(from); wait <= 0 {
		l.k.recordFailure(from)
	}
	return wait
}
