//go:build !linux

package sys

import "errors"

// DescriptorTarget is unsupported here.
func DescriptorTarget(int, int) (string, error) { return "", errors.ErrUnsupported }

// MachineLoad is the load of this machine. A figure that is unknown is 0.
type MachineLoad struct {
	Load         float64 // processes that want a processor, over a minute
	Memory, Free uint64  // bytes; free is what programs could have
}

// LookAtMachine returns zeros: unsupported here.
func LookAtMachine() MachineLoad { return MachineLoad{} }

// PageFaults returns 0: unknown here.
func PageFaults() uint64 { return 0 }

// Threads returns 0: unknown here.
func Threads() int { return 0 }

// LeaveOwnPages leaves nothing here.
func LeaveOwnPages() {}
