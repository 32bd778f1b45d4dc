//go:build unix && !linux

package keeper

import "errors"

func setLimit(int, int, uint64) error { return errors.ErrUnsupported }
