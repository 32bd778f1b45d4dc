//go:build amd64

package inputdetect

import "golang.org/x/sys/unix"

// init adds calls that only older architectures have.
func init() {
	callTable[unix.SYS_POLL] = callRow{name: "poll", kind: pollCall, timeout: millis, arg: 2}
	callTable[unix.SYS_SELECT] = callRow{name: "select", kind: selectCall, timeout: timeval, arg: 4}
	callTable[unix.SYS_EPOLL_WAIT] = callRow{name: "epoll_wait", kind: epollCall, timeout: millis, arg: 3}
	callTable[unix.SYS_PAUSE] = callRow{name: "pause"}
}
