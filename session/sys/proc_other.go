//go:build !linux

package sys

import (
	"errors"
	"time"
)

// root is empty: what others have at /proc, if anything, is of another format.
const root = ""

func uptime() (time.Duration, error) { return 0, errors.ErrUnsupported }

// Parent is Stat.Parent.
func Parent(pid int) (int, error) { return statParent(pid) }
