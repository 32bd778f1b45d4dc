//go:build unix

package keeper

import "time"

// restLooks is after how many looks (launch.WatchEvery) without output a stream's goroutine rests.
const restLooks = 5

// restAll has the goroutines rest from whose streams nothing has come for a while.
func (k *Keeper) restAll() {
	if k.looks++; k.looks%restLooks != 0 {
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

// rest gives a stream's goroutine up until there is something to read; false: it goes on.
func (k *Keeper) rest(c *child, o *stream) bool {
	return !c.reaped.Load() && k.resting.rest(o, func() { k.pump(c, o) })
}
