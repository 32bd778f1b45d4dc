//go:build unix

// Package netconn has connections of package net read and written as package nowait does.
package netconn

import (
	"errors"
	"io"
	"net"

	"github.com/longterm-dev/longterm/session/sys/nowait"
)

// Of is a connection that reads and writes so, where the system lets it: else c itself.
func Of(c net.Conn) net.Conn {
	u, ok := c.(*net.UnixConn)
	if !ok || !nowait.Works {
		return c
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return c
	}
	return &conn{u, nowait.Stream{Raw: raw}}
}

type conn struct {
	*net.UnixConn
	nowait.Stream
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Stream.Read(p)
	return n, c.told("read", err)
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Stream.Write(p)
	return n, c.told("write", err)
}

// told is an error as other connections return it.
func (c *conn) told(op string, err error) error {
	var told *net.OpError
	if err == nil || errors.Is(err, io.EOF) || errors.As(err, &told) {
		return err
	}
	return &net.OpError{Op: op, Net: "unix", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
