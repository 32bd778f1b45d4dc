//go:build unix

package events

import "testing"

func TestTerminals(t *testing.T) {
	var all Terminals
	if all.Send([]byte("x")) != 0 {
		t.Error("without clients a client was reached")
	}
	slow, leave := all.Join()
	for range cap(slow) {
		all.Send([]byte("x"))
	}
	if all.Send([]byte("x")) != 0 {
		t.Error("one that does not read is reached")
	}
	leave()
	if len(all.set) != 0 {
		t.Error("a client that left is still listed")
	}
}
