//go:build !linux

package session

import "errors"

func unreadInput(int) (int, error) { return 0, errors.ErrUnsupported }
