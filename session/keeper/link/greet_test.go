//go:build unix

package link

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// TestDial_GreetingTimeout checks a keeper that accepts the connection and sends nothing, such as a stopped one.
//
// FAULT: D
func TestDial_GreetingTimeout(t *testing.T) {
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := unixsock.Listen(filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	handshakeTimeout = 20 * time.Millisecond
	defer func() { handshakeTimeout = 10 * time.Second }()
	if _, err := Dial(filepath.Join(dir, "s"), wire.RoleTool, "test", nil); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
