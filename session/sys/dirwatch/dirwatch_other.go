//go:build !linux

package dirwatch

import "errors"

type watch struct{}

func start(func(), []string) (*Watcher, error) { return nil, errors.ErrUnsupported }

// Reresolve watches directories that were not there before.
func (*watch) Reresolve() error { return nil }

// Close ends it.
func (*watch) Close() {}
