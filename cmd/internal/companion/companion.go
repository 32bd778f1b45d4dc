// Package companion finds and starts the programs that belong to longterm: longterm-fleetd and ltbench.
package companion

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Env is the environment variable with which longterm passes its path to ltbench.
const Env = "LONGTERM_PROGRAM"

// Find returns the path of a program: in the directory of this executable, else in PATH.
func Find(name string) (string, error) {
	if own, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(own); err == nil {
			own = real
		}
		at := filepath.Join(filepath.Dir(own), name)
		if runtime.GOOS == "windows" {
			at += ".exe"
		}
		if s, err := os.Stat(at); err == nil && s.Mode().IsRegular() && (runtime.GOOS == "windows" || s.Mode()&0o111 != 0) {
			return at, nil
		}
	}
	at, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is neither beside this program nor in PATH; with Go: "+
			"`CGO_ENABLED=0 go install github.com/longterm-dev/longterm/cmd/%s@latest`, or build ./cmd/%s in the repository", name, name, name)
	}
	return at, nil
}
