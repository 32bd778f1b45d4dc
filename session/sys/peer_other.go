//go:build unix && !linux

package sys

import (
	"os"
	"syscall"
)

// PeerOf trusts the 0700 directory that holds the socket.
func PeerOf(syscall.Conn) (uid, pid int, err error) { return os.Getuid(), 0, nil }

// PeerLives returns true: this system names no process.
func PeerLives(syscall.Conn) bool { return true }
