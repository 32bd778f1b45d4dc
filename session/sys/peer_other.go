//go:build unix && !linux

package sys

import (
	"net"
	"os"
)

// PeerOf trusts the 0700 directory that holds the socket.
func PeerOf(*net.UnixConn) (uid, pid int, err error) { return os.Getuid(), 0, nil }

// PeerLives says nothing here, where no process is named.
func PeerLives(*net.UnixConn) bool { return true }
