package listen

import (
	"os"

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

func reopen(f *os.File) (*os.File, error) { return sys.Reopen(f) }
