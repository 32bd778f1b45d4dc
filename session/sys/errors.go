package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"syscall"
)

// Errors of reading a process's files. ErrEnded is also returned for a file that the kernel lacks.
var (
	ErrEnded     = errors.New("the process has ended")
	ErrHidden    = errors.New("the process may not be seen by us")
	ErrMalformed = errors.New("not in the format that the kernel documents")
)

// Error is a failed read of a process file. With errors.Is it matches ErrEnded, ErrHidden, ErrMalformed, errors.ErrUnsupported
// or the system's error.
type Error struct {
	PID  int    // 0: this process, or none
	File string // below /proc/PID, or /proc
	Err  error
}

func (e *Error) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("read %s: %v", e.File, e.Err)
	}
	return "read " + e.File + " of process " + strconv.Itoa(e.PID) + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Is maps system errors to ErrEnded and ErrHidden.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrEnded:
		return errors.Is(e.Err, fs.ErrNotExist) || errors.Is(e.Err, syscall.ESRCH)
	case ErrHidden:
		return errors.Is(e.Err, fs.ErrPermission)
	}
	return false
}
