//go:build unix && !linux

package launch

import "os"

// startUnblocked works like os.StartProcess.
func startUnblocked(name string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	return os.StartProcess(name, argv, attr)
}
