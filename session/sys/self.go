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
func SharedExe() string { return path(os.Getpid(), "exe") }

// OwnFile names a file by a descriptor of ours, for this process; ok is false where descriptors have
// no names that can be opened or executed.
func OwnFile(fd uintptr) (name string, ok bool) {
	return root + "/self/fd/" + strconv.Itoa(int(fd)), root != ""
}

// SharedFile names a file by a descriptor of ours, for other processes.
func SharedFile(fd uintptr) (name string, ok bool) {
	return path(os.Getpid(), "fd/"+strconv.Itoa(int(fd))), root != ""
}
