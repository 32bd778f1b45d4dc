//go:build linux && race

package rawio

import "golang.org/x/sys/unix"

// cloexecFlag marks received descriptors close-on-exec.
const cloexecFlag = unix.MSG_CMSG_CLOEXEC
