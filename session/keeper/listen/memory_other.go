//go:build unix && !linux

package listen

import (
	"errors"
	"os"
)

// There are no listeners here.

func memory() (*os.File, error)         { return nil, errors.ErrUnsupported }
func reopen(*os.File) (*os.File, error) { return nil, errors.ErrUnsupported }
