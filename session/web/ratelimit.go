package web

import (
	"sync"
	"time"
)

// loginLimiter bounds the failed logins of an address: a burst, then one every refill. Codes have 130 random bits and cannot
// be guessed; the limit keeps attempts from filling the log.
type loginLimiter struct {
	burst        int
	refill       time.Duration
	maxAddresses int // addresses that are remembered
	now          func() time.Time

	mu      sync.Mutex
	buckets map[string]bucket
}

// bucket is the token bucket of an address.
type bucket struct {
	tokens int       // failures left
	filled time.Time // time of the last refill
}

// wait returns how long an address must wait before the next attempt, or 0.
func (k *loginLimiter) wait(from string) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.refillBucket(from)
	if b.tokens > 0 {
		return 0
	}
	return b.filled.Add(k.refill).Sub(k.now())
}

// recordFailure counts a failed login of an address.
func (k *loginLimiter) recordFailure(from string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.refillBucket(from)
	b.tokens = max(0, b.tokens-1)
	if _, known := k.buckets[from]; !known && len(k.buckets) >= k.maxAddresses {
		k.evict()
	}
	k.buckets[from] = b
}

// refillBucket returns an address's current bucket. The caller holds mu.
func (k *loginLimiter) refillBucket(from string) bucket {
	if k.buckets == nil {
		k.buckets = map[string]bucket{}
	}
	b, known := k.buckets[from]
	if !known {
		return bucket{k.burst, k.now()}
	}
	n := int(k.now().Sub(b.filled) / k.refill)
	if b.tokens += n; b.tokens >= k.burst {
		return bucket{k.burst, k.now()}
	}
	b.filled = b.filled.Add(time.Duration(n) * k.refill)
	return b
}

// evict makes room: it drops full buckets, or all if none is full.
func (k *loginLimiter) evict() {
	for from := range k.buckets {
		if k.refillBucket(from).tokens == k.burst {
			delete(k.buckets, from)
		}
	}
	if len(k.buckets) >= k.maxAddresses {
		k.buckets = map[string]bucket{}
	}
}

// Limit bounds the rate of an action per address: a burst, then one every refill.
type Limit struct{ limiter loginLimiter }

// NewLimit returns a limit that remembers at most most addresses.
func NewLimit(burst int, refill time.Duration, most int) *Limit {
	return &Limit{loginLimiter{burst: burst, refill: refill, maxAddresses: most, now: time.Now}}
}

// Take uses one attempt, or returns how long the address must wait.
func (l *Limit) Take(from string) (wait time.Duration) {
	if wait = l.limiter.wait(from); wait <= 0 {
		l.limiter.recordFailure(from)
	}
	return wait
}
