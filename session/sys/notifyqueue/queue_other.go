//go:build !linux

// Package notifyqueue is a stub: only Linux has seccomp listeners.
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

// Queue is unsupported here.
type Queue struct{}

// New fails.
func New() (*Queue, error) { return nil, errors.ErrUnsupported }

// MapOwned fails.
func MapOwned(*os.File) (*Queue, error) { return nil, errors.ErrUnsupported }

// Map fails.
func Map(*os.File) (*Queue, error) { return nil, errors.ErrUnsupported }

// File returns nil.
func (*Queue) File() *os.File { return nil }

// Close does nothing.
func (*Queue) Close() error { return nil }

// Grant does nothing.
func (*Queue) Grant(int) {}

// Receive fails.
func (*Queue) Receive(int) (sys.Notification, error) {
	return sys.Notification{}, errors.ErrUnsupported
}

// ReceiveUnstored fails.
func (*Queue) ReceiveUnstored(int) (sys.Notification, error) {
	return sys.Notification{}, errors.ErrUnsupported
}

// Clear does nothing.
func (*Queue) Clear(uint64) {}

// Pending returns nothing.
func (*Queue) Pending() ([]sys.Notification, error) { return nil, nil }

// Find finds nothing.
func (*Queue) Find(uint64) (n sys.Notification, ok bool) { return n, false }
