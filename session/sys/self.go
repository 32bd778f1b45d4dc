package sys

import (
	"os"
	"strconv"
)

// SelfExe returns a path that starts this executable again, even if its file was removed or replaced.
func SelfExe() string {
	if root != "" {
		return root + "/self/exe"
	}
	exe, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return exe
}

// SharedExe returns a path by which other processes start this executable while this process runs, even if its file was
// removed or replaced; empty if impossible.
func SharedExe() string { return procPath(os.Getpid(), "exe") }

// OwnFilePath returns a path of an open descriptor for this process; ok is false if descriptors have no usable path here.
func OwnFilePath(fd uintptr) (name string, ok bool) {
	return root + "/self/fd/" + strconv.Itoa(int(fd)), root != ""
}

// SharedFilePath returns a path of an open descriptor for other processes.
func SharedFilePath(fd uintptr) (name string, ok bool) {
	return procPath(os.Getpid(), "fd/"+strconv.Itoa(int(fd))), root != ""
}
