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

// A keeper that takes the connection and says nothing, as one that is stopped does, is given
// up in time.
//
// FAULT: D
func TestGreetingHasADeadline(t *testing.T) {
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
	greetTime = 20 * time.Millisecond
	defer func() { greetTime = 10 * time.Second }()
	if _, err := Dial(filepath.Join(dir, "s"), wire.RoleTool, "test", nil); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
