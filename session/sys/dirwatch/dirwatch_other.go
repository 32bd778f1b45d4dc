//go:build !linux

package dirwatch

import "errors"

// watch is unused: this system has no notifications.
type watch struct{}

func start(func(), []string) (*Watcher, error) { return nil, errors.ErrUnsupported }

// Reresolve does nothing.
func (*watch) Reresolve() error { return nil }

// Close does nothing.
func (*watch) Close() {}
