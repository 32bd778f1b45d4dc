//go:build !unix

package sys

import (
	"fmt"
	"runtime"
)

// FileID is not known: where no daemon runs nobody is shown a file.
func FileID(string) string { return "" }

// SetCellSize fails: it needs a request that this system lacks.
func SetCellSize(int, Cell) error {
	return fmt.Errorf("set the pixels of a terminal's cells: not possible on %s", runtime.GOOS)
}
