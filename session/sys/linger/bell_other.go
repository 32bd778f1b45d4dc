//go:build !linux

package linger

import "errors"

// Bell is there on Linux.
type Bell struct{}

// NewBell fails.
func NewBell(int) (*Bell, error) { return nil, errors.ErrUnsupported }

// Set does nothing.
func (*Bell) Set(bool) error { return nil }

// Wait fails.
func (*Bell) Wait(func() bool) error { return errors.ErrUnsupported }

// Wake does nothing.
func (*Bell) Wake() {}

// Close does nothing.
func (*Bell) Close() error { return nil }
