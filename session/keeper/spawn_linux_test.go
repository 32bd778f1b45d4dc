package keeper

import "golang.org/x/sys/unix"

// setLimit lowers a resource limit of another process.
func setLimit(pid, which int, limit uint64) error {
	return unix.Prlimit(pid, which, &unix.Rlimit{Cur: limit, Max: limit}, nil)
}
