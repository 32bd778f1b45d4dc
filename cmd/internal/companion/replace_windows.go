package companion

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
)

// Replace runs a program in place of this process and returns its exit status as an error.
func Replace(path string, args, env []string) error {
	c := exec.Command(path, args...)
	c.Stdin, c.Stdout, c.Stderr, c.Env = os.Stdin, os.Stdout, os.Stderr, append(os.Environ(), env...)
	err := c.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return exit.Silent(ended.ExitCode())
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", path, err)
	}
	return nil
}
