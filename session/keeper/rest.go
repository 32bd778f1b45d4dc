//go:build unix

package keeper

import "time"

// idleChecks is the number of checks (launch.WatchEvery) without output after which a stream is parked.
const idleChecks = 5

// parkIdleStreams parks the streams that have been idle for a while.
func (k *Keeper) parkIdleStreams() {
	if k.checks++; k.checks%idleChecks != 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.children {
		if len(c.outs) != 1 || c.reaped.Load() { // of two the order counts
			continue
		}
		if o, head := c.outs[0], c.ring.Head(); head != c.seen {
			c.seen = head
		} else if !o.idle.Swap(true) {
			_ = o.file.SetReadDeadline(time.Unix(1, 0)) // it looks itself
		}
	}
}

// parkStream ends a stream's goroutine until the stream is readable; false: the goroutine continues.
func (k *Keeper) parkStream(c *child, o *stream) bool {
	return !c.reaped.Load() && k.resting.park(o, func() { k.pump(c, o) })
}
