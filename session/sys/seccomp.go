package sys

import "errors"

// Notification is a system call that waits for the owner of the listener (seccomp_unotify(2)).
type Notification struct {
	ID   uint64 // the kernel's id, valid until it is answered or its process exits
	PID  int    // of the thread that waits
	Nr   int32
	Args [6]uint64
}

// Errors of ReceiveNotification.
var (
	ErrNoNotification = errors.New("no call is waiting")
	ErrFilterUnused   = errors.New("all processes under the filter have ended")
)

// Execution describes the arguments of an execve or execveat call.
type Execution struct {
	Path       string
	Argv       []string
	IsComplete bool   // Argv is complete
	Dir        string // directory of a relative path; for an empty path, the file itself
	Flags      uint64 // AT_…
}

// SignalTarget is the process, or the processes, that a call affects.
type SignalTarget struct {
	PID     int
	IsGroup bool // also the process group with that id
	IsAll   bool // all processes that the caller may signal
}
