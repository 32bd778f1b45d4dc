//go:build unix

// Package netconn has connections of package net read and written as package nowait does.
package netconn

import (
	"errors"
	"io"
	"net"

	"github.com/longterm-dev/longterm/session/sys/rawio"
)

// Of returns a connection that reads and writes that way if supported, else c itself.
func Of(c net.Conn) net.Conn {
	u, ok := c.(*net.UnixConn)
	if !ok || !rawio.Works {
		return c
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return c
	}
	return &conn{u, rawio.Stream{Raw: raw}}
}

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

// wrap returns an error in the form of other connections.
func (c *conn) wrap(op string, err error) error {
	var told *net.OpError
	if err == nil || errors.Is(err, io.EOF) || errors.As(err, &told) {
		return err
	}
	return &net.OpError{Op: op, Net: "unix", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
