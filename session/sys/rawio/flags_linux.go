//go:build linux && race

package rawio

import "golang.org/x/sys/unix"

// cloexec has descriptors that come closed in children.
const cloexec = unix.MSG_CMSG_CLOEXEC
