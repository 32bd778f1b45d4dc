//go:build unix && !linux

package keeper

import "os"

func neutralPriority() error { return nil }

func startUnblocked(name string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	return os.StartProcess(name, argv, attr)
}
