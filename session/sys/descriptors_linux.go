package sys

import "os"

// Reopen is another description of a file: those that share one share its lock.
func Reopen(f *os.File) (again *os.File, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	err = Control(raw, func(fd int) error {
		again, err = os.OpenFile(DescriptorPath(fd), os.O_RDWR, 0)
		return err
	})
	return again, err
}
