package ring

import (
	"errors"
	"os"
)

// Windows has no keeper yet: sessions there run in process, over a Local ring.

func sharedFile(int64) (*os.File, error)    { return nil, errors.ErrUnsupported }
func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }
func unmap([]byte) error                    { return errors.ErrUnsupported }
func releasePages([]byte) error             { return nil }
