//go:build !linux

package spinwait

import "errors"

// ReadySignal is there on Linux.
type ReadySignal struct{}

// NewBell fails.
func NewBell(int) (*ReadySignal, error) { return nil, errors.ErrUnsupported }

// Set does nothing.
func (*ReadySignal) Set(bool) error { return nil }

// Wait fails.
func (*ReadySignal) Wait(func() bool) error { return errors.ErrUnsupported }

// Wake does nothing.
func (*ReadySignal) Wake() {}

// Close does nothing.
func (*ReadySignal) Close() error { return nil }
