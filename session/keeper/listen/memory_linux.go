package listen

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// memory is a file without a name.
func memory() (*os.File, error) {
	fd, err := unix.MemfdCreate("longterm-executions", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "taken executions"), nil
}

// reopen is a description of its own of a file: those that share one share its lock.
func reopen(f *os.File) (again *os.File, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	err = sys.Control(raw, func(fd int) error {
		again, err = os.OpenFile("/proc/self/fd/"+strconv.Itoa(fd), os.O_RDWR, 0)
		return err
	})
	return again, err
}
