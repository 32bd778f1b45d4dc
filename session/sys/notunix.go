//go:build !unix

package sys

import (
	"fmt"
	"runtime"
)

// FileID returns "": systems without a daemon compare no files.
func FileID(string) string { return "" }

// SetCellSize fails: it needs a request that this system lacks.
func SetCellSize(int, Cell) error {
	return fmt.Errorf("set the pixels of a terminal's cells: not possible on %s", runtime.GOOS)
}
