//go:build unix && !linux

package daemon

import (
	"net"
	"os"
)

// peerOf trusts the 0700 directory that holds the socket.
func peerOf(net.Conn) (uid, pid int, err error) { return os.Getuid(), 0, nil }
