//go:build !linux

package sys

import (
	"errors"
	"os"
	"time"
)

// root is empty: /proc of other systems has another format.
const root = ""

func uptime() (time.Duration, error) { return 0, errors.ErrUnsupported }

// Parent returns Stat.Parent.
func Parent(pid int) (int, error) { return statParent(pid) }

// OpenDirInRoot returns an error: the mounts of other processes cannot be reached on this system.
func OpenDirInRoot(int, string) (*os.File, error) { return nil, errors.ErrUnsupported }
