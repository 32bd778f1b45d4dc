//go:build unix

package daemon

import "testing"

func TestTerminals(t *testing.T) {
	var all terminals
	if all.send([]byte("x")) != 0 {
		t.Error("nobody is there and somebody is reached")
	}
	slow, leave := all.join()
	for range cap(slow) {
		all.send([]byte("x"))
	}
	if all.send([]byte("x")) != 0 {
		t.Error("one that does not read is reached")
	}
	leave()
	if len(all.set) != 0 {
		t.Error("who left is still there")
	}
}
