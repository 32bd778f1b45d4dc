//go:build !linux

package spinwait

import "errors"

// ReadySignal is unsupported here.
type ReadySignal struct{}

// NewReadySignal fails.
func NewReadySignal(int) (*ReadySignal, error) { return nil, errors.ErrUnsupported }

// SetEnabled does nothing.
func (*ReadySignal) SetEnabled(bool) error { return nil }

// Wait fails.
func (*ReadySignal) Wait(func() bool) error { return errors.ErrUnsupported }

// Wake does nothing.
func (*ReadySignal) Wake() {}

// Close does nothing.
func (*ReadySignal) Close() error { return nil }
