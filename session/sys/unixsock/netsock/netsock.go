//go:build unix

// Package netsock wraps the sockets of package unixsock as those of package net, for callers that need net types.
package netsock

import (
	"errors"
	"fmt"
	"net"

	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// Dial wraps unixsock.Dial.
func Dial(path string) (*net.UnixConn, error) {
	f, err := unixsock.Dial(path)
	if err != nil {
		return nil, err
	}
	c, err := net.FileConn(f) // a duplicate
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return c.(*net.UnixConn), nil
}

// Listen wraps unixsock.Listen.
func Listen(path string) (*net.UnixListener, error) {
	l, err := unixsock.Listen(path)
	if err != nil {
		return nil, err
	}
	defer l.Close()                       // a duplicate; its Close keeps the socket's name
	nl, err := net.FileListener(l.File()) // a duplicate; it leaves the name when it is closed
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return nl.(*net.UnixListener), nil
}
