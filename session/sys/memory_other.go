//go:build !linux

package sys

import "errors"

// DescriptorTarget is what a descriptor of a process is open on: not told here.
func DescriptorTarget(int, int) (string, error) { return "", errors.ErrUnsupported }

// Machine is how busy this machine is. What cannot be known is 0.
type Machine struct {
	Load         float64 // processes that want a processor, over a minute
	Memory, Free uint64  // bytes; free is what programs could have
}

// LookAtMachine knows nothing of machines of this system.
func LookAtMachine() Machine { return Machine{} }

// PageFaults is not known here.
func PageFaults() uint64 { return 0 }

// Threads is not known here.
func Threads() int { return 0 }

// LeaveOwnPages leaves nothing here.
func LeaveOwnPages() {}
