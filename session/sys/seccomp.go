package sys

import "errors"

// Notification is a system call that waits for the owner of the listener (seccomp_unotify(2)).
type Notification struct {
	ID   uint64 // the kernel's, until it is answered or its process ends
	PID  int    // of the thread that waits
	Nr   int32
	Args [6]uint64
}

// Errors of ReceiveNotification.
var (
	ErrNoNotification = errors.New("no call is waiting")
	ErrNobodyLeft     = errors.New("all processes under the filter have ended")
)

// Execution is what a process is about to execute, as it asked the kernel to.
type Execution struct {
	Path  string
	Argv  []string
	Whole bool   // Argv is all of it
	Dir   string // what a path that is not absolute is below; of an empty path, the file itself
	Flags uint64 // AT_…
}

// Aim is the process that a call acts on: one of its threads, and more than it.
type Aim struct {
	PID      int
	Group    bool // the process group of that number, too
	Everyone bool // all that the caller may signal
}
