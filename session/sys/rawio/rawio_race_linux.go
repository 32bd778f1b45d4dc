//go:build race

package rawio

import "golang.org/x/sys/unix"

// SendFile calls sendfile(2) from the position of a memory file to a non-blocking descriptor.
func SendFile(to, file, n int) (int, error) { return unix.Sendfile(to, file, nil, n) }
