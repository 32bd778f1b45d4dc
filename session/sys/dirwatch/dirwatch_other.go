//go:build !linux

package dirwatch

import "errors"

type watch struct{}

func start(func(), []string) (*Watcher, error) { return nil, errors.ErrUnsupported }

// Again watches directories that were not there before.
func (*watch) Again() error { return nil }

// Close ends it.
func (*watch) Close() {}
