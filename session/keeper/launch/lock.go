//go:build unix

package launch

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrRunning is returned when another process holds a lock.
var ErrRunning = errors.New("it is running already")

// Lock locks a file and creates it if missing. It returns ErrRunning if another process holds the lock. The lock ends
// when the file is closed, or with the process.
func Lock(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return nil, errors.Join(ErrRunning, f.Close())
		case err != nil:
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		case IsSameFile(f, path):
			return f, nil
		}
		_ = f.Close() // removed between the two steps: a lock without a name is useless
	}
}

// IsHeld reports whether a process holds a lock file.
func IsHeld(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// HolderSocket returns the socket path that the holder of the lock wrote into the file, or "".
func HolderSocket(path string) string {
	b, _ := os.ReadFile(path)
	return string(b)
}

// RemoveLock removes a lock file that no process holds.
func RemoveLock(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	f, err := Lock(path)
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(path), f.Close())
}

// Relock returns a lock that other processes can find: if the locked file was removed, it creates and locks a new file.
func Relock(f *os.File, path string) (*os.File, error) {
	if f != nil && IsSameFile(f, path) {
		return f, nil
	}
	again, err := Lock(path)
	if err != nil {
		return f, err
	}
	if f != nil {
		_ = f.Close()
	}
	return again, nil
}

// IsSameFile reports whether path still names the open file f.
func IsSameFile(f *os.File, path string) bool {
	ours, err := f.Stat()
	named, lerr := os.Lstat(path)
	return err == nil && lerr == nil && os.SameFile(ours, named)
}
