//go:build !linux

// Package notifyqueue is for Linux, where calls wait for processes.
package notifyqueue

import (
	"errors"
	"os"

	"github.com/longterm-dev/longterm/session/sys"
)

// Errors of receivers.
var (
	ErrFull = errors.New("all places are taken")
	ErrBusy = errors.New("another process is taking")
)

// Inbox is unsupported here.
type Inbox struct{}

// New fails.
func New() (*Inbox, error) { return nil, errors.ErrUnsupported }

// Keep fails likewise.
func Keep(*os.File) (*Inbox, error) { return nil, errors.ErrUnsupported }

// Map fails likewise.
func Map(*os.File) (*Inbox, error) { return nil, errors.ErrUnsupported }

// File returns nil.
func (*Inbox) File() *os.File { return nil }

// Close does nothing.
func (*Inbox) Close() error { return nil }

// Grant does nothing.
func (*Inbox) Grant(int) {}

// Receive fails.
func (*Inbox) Receive(int) (sys.Notification, error) {
	return sys.Notification{}, errors.ErrUnsupported
}

// Take fails likewise.
func (*Inbox) Take(int) (sys.Notification, error) { return sys.Notification{}, errors.ErrUnsupported }

// Clear does nothing.
func (*Inbox) Clear(uint64) {}

// Pending returns nothing.
func (*Inbox) Pending() ([]sys.Notification, error) { return nil, nil }

// Find finds nothing.
func (*Inbox) Find(uint64) (n sys.Notification, ok bool) { return n, false }
