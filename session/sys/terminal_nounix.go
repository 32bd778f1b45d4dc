//go:build !unix

package sys

import (
	"fmt"
	"runtime"
)

// ForegroundGroup fails here: there is none.
func ForegroundGroup(int) (int, error) {
	return 0, fmt.Errorf("find the foreground process group: not possible on %s", runtime.GOOS)
}
