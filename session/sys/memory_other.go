//go:build !linux

package sys

import "errors"

// DescriptorTarget fails: unsupported here.
func DescriptorTarget(int, int) (string, error) { return "", errors.ErrUnsupported }

// MachineLoad is the load of this machine. A figure that is unknown is 0.
type MachineLoad struct {
	Load         float64 // average number of runnable processes in a minute
	Memory, Free uint64  // bytes; Free is available to programs
}

// ReadMachineLoad returns zeros: unsupported here.
func ReadMachineLoad() MachineLoad { return MachineLoad{} }

// PageFaults returns 0: unknown here.
func PageFaults() uint64 { return 0 }

// ThreadCount returns 0: unknown here.
func ThreadCount() int { return 0 }

// ReleaseOwnPages does nothing here.
func ReleaseOwnPages() {}
