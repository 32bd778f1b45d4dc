//go:build !linux

package fastpath

// showSession does nothing: the verb attaches.
func showSession(*parsedArgs) {}

// holdInterrupt does nothing on this system.
func deferInterrupt() {}
