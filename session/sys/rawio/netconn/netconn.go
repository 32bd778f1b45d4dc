//go:build unix

// Package netconn wraps connections of package net so that they read and write like package rawio.
package netconn

import (
	"errors"
	"io"
	"net"

	"github.com/longterm-dev/longterm/session/sys/rawio"
)

// Wrap returns a connection that reads and writes by package rawio if supported, else c itself.
func Wrap(c net.Conn) net.Conn {
	u, ok := c.(*net.UnixConn)
	if !ok || !rawio.Supported {
		return c
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return c
	}
	return &conn{u, rawio.Stream{Raw: raw}}
}

// conn is a net.UnixConn whose reads and writes bypass the runtime.
type conn struct {
	*net.UnixConn
	rawio.Stream
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Stream.Read(p)
	return n, c.wrap("read", err)
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Stream.Write(p)
	return n, c.wrap("write", err)
}

// wrap returns an error in the form of package net.
func (c *conn) wrap(op string, err error) error {
	var opError *net.OpError
	if err == nil || errors.Is(err, io.EOF) || errors.As(err, &opError) {
		return err
	}
	return &net.OpError{Op: op, Net: "unix", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
