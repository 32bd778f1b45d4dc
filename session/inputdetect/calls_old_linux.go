//go:build amd64

package inputdetect

import "golang.org/x/sys/unix"

// init adds calls that only older architectures have.
func init() {
	syscalls[unix.SYS_POLL] = syscallInfo{name: "poll", kind: pollWait, timeout: timeoutMillis, arg: 2}
	syscalls[unix.SYS_SELECT] = syscallInfo{name: "select", kind: selectWait, timeout: timeoutTimeval, arg: 4}
	syscalls[unix.SYS_EPOLL_WAIT] = syscallInfo{name: "epoll_wait", kind: epollWait, timeout: timeoutMillis, arg: 3}
	syscalls[unix.SYS_PAUSE] = syscallInfo{name: "pause"}
}
