package launch

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// startUnblocked works like os.StartProcess with no signal blocked in the new process, even if the caller's starter
// blocked some.
func startUnblocked(name string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var none, old unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &none, &old); err == nil {
		defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }()
	}
	return os.StartProcess(name, argv, attr)
}
