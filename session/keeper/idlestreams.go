//go:build unix

package keeper

import "time"

// idleChecks is the number of checks (launch.WatchInterval) without output after which a stream is parked.
const idleChecks = 5

// parkIdleStreams parks the streams that have been idle for a while.
func (k *Keeper) parkIdleStreams() {
	if k.checks++; k.checks%idleChecks != 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.children {
		if len(c.outputs) != 1 || c.reaped.Load() { // the order of two streams matters
			continue
		}
		if o, head := c.outputs[0], c.ring.Head(); head != c.seenHead {
			c.seenHead = head
		} else if !o.idle.Swap(true) {
			_ = o.file.SetReadDeadline(time.Unix(1, 0)) // wakes the goroutine, which parks the stream
		}
	}
}

// parkStream ends a stream's goroutine until the stream is readable; false: the goroutine continues.
func (k *Keeper) parkStream(c *child, o *stream) bool {
	return !c.reaped.Load() && k.parker.park(o, func() { k.pump(c, o) })
}
