package events

import (
	"sync"

	"github.com/longterm-dev/longterm/vterm/input"
)

// Keys that tcell cannot express pass through it as characters of a private area of Unicode, one for each key in
// transit. tcell keeps their order. The terminal's reader replaces such characters if they are typed.
const (
	firstCarrier = 0x100000
	maxCarriers  = 0xfffe
)

// carriers maps characters to keys in transit, for all readers of the process, which has one terminal.
var carriers struct {
	mu   sync.Mutex // guards the rest
	keys []input.Key
	next int // where the oldest is replaced once there are maxCarriers
}

// IsCarrier reports whether a character is in the area that carries keys.
func IsCarrier(r rune) bool { return r >= firstCarrier && r < firstCarrier+maxCarriers }

// Carry returns a character that Key and PastedText convert back to k. It is valid for the next maxCarriers keys.
func Carry(k input.Key) rune {
	c := &carriers
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.next
	c.next = (at + 1) % maxCarriers
	if at == len(c.keys) {
		c.keys = append(c.keys, k)
	} else {
		c.keys[at] = k
	}
	return firstCarrier + rune(at)
}

// keyOf returns the key of a carrier character, or false if it carries none.
func keyOf(r rune) (input.Key, bool) {
	if !IsCarrier(r) {
		return input.Key{}, false
	}
	c := &carriers
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := int(r - firstCarrier); at < len(c.keys) {
		return c.keys[at], true
	}
	return input.Key{}, false
}
