//go:build unix

package netconn

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// pair returns the two ends of a connection.
func pair(t *testing.T) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = net.Dial("unix", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return a, b
}

// TestConn_CarriesAll checks that a write that exceeds the socket buffer arrives completely, then the end.
func TestConn_CarriesAll(t *testing.T) {
	a, b := pair(t)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	go func() {
		_, _ = Wrap(a).Write(sent)
		_ = a.Close()
	}()
	if got, err := io.ReadAll(Wrap(b)); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes of %d, %v", len(got), len(sent), err)
	}
	if n, err := Wrap(b).Read(nil); n != 0 || err != nil {
		t.Errorf("without a reader: %d, %v", n, err)
	}
}

// TestConn_Errors checks that errors have the form of package net: closed, deadline exceeded, reset.
func TestConn_Errors(t *testing.T) {
	a, b := pair(t)
	late := Wrap(b)
	if err := late.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := late.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("late: %v", err)
	}
	_ = b.Close()
	if _, err := late.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	var told *net.OpError
	if _, err := Wrap(a).Write([]byte("x")); !errors.As(err, &told) || told.Op != "write" {
		t.Errorf("gone: %v", err)
	}
}
