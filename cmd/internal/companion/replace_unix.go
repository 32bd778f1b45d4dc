//go:build unix

package companion

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Replace replaces this process by a program. It returns only if that fails.
func Replace(path string, args, env []string) error {
	err := unix.Exec(path, append([]string{path}, args...), append(os.Environ(), env...))
	return fmt.Errorf("start %s: %w", path, err)
}
