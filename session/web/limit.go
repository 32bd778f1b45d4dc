package web

import (
	"sync"
	"time"
)

// knocks bounds how often an address may fail to log in: burst times, then once every refill. Codes have 130 random
// bits and are not guessed; this keeps attempts from filling the log.
type knocks struct {
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

// wait is how long an address has to wait before it may try; 0: it may.
func (k *knocks) wait(from string) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.filled(from)
	if b.left > 0 {
		return 0
	}
	return b.at.Add(k.refill).Sub(k.now())
}

// failed notes that an address did not get in.
func (k *knocks) failed(from string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.filled(from)
	b.left = max(0, b.left-1)
	if _, known := k.all[from]; !known && len(k.all) >= k.most {
		k.forget()
	}
	k.all[from] = b
}

// filled is an address's bucket as it is now. The caller holds mu.
func (k *knocks) filled(from string) bucket {
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

// forget makes room: those that are full again first, and if there are none, all.
func (k *knocks) forget() {
	for from := range k.all {
		if k.filled(from).left == k.burst {
			delete(k.all, from)
		}
	}
	if len(k.all) >= k.most {
		k.all = map[string]bucket{}
	}
}

// Limit bounds how often an address may do something: burst times at once, then once every refill.
type Limit struct{ k knocks }

// NewLimit remembers at most so many addresses.
func NewLimit(burst int, refill time.Duration, most int) *Limit {
	return &Limit{knocks{burst: burst, refill: refill, most: most, now: time.Now}}
}

// Take counts one, or says how long the address has to wait.
func (l *Limit) Take(from string) (wait time.Duration) {
	if wait = l.k.wait(from); wait <= 0 {
		l.k.failed(from)
	}
	return wait
}
