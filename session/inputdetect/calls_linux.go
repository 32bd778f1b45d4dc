package inputdetect

import "golang.org/x/sys/unix"

// waitKind is the way in which a system call waits.
type waitKind uint8

const (
	otherWait     waitKind = iota // for events other than this terminal's input
	readWait                      // for input of the descriptor in its first argument
	writeWait                     // until the descriptor in its first argument accepts output
	pollWait                      // for an array of pollfd
	selectWait                    // for sets of descriptors
	epollWait                     // for an epoll instance
	restartedWait                 // restart_syscall: a call that a stop signal interrupted
	uringWait                     // io_uring_enter: the awaited events are not visible
)

// syscallInfo describes a system call that waits.
type syscallInfo struct {
	name    string
	kind    waitKind
	timeout timeoutKind
	arg     int // index of the timeout argument
	pause   pauseKind
}

// pauseKind is how a call sleeps for a time without waiting for input.
type pauseKind uint8

const (
	noPause       pauseKind = iota
	relativePause           // for the timeout
	clockPause              // for the timeout, or until it: the first arguments are a clock and flags
)

// timeoutKind is the type of a call's timeout argument.
type timeoutKind uint8

const (
	noTimeout       timeoutKind = iota
	timeoutMillis               // int
	timeoutTimeval              // pointer to seconds and microseconds; NULL: none
	timeoutTimespec             // pointer to seconds and nanoseconds; NULL: none
)

// syscalls maps the call numbers of the machine's native programs. A 32-bit program on a 64-bit kernel has other
// numbers. It is misjudged as Sleeping, since its descriptors do not match.
var syscalls = map[int]syscallInfo{
	unix.SYS_READ:            {name: "read", kind: readWait},
	unix.SYS_READV:           {name: "readv", kind: readWait},
	unix.SYS_PREADV:          {name: "preadv", kind: readWait},
	unix.SYS_PREADV2:         {name: "preadv2", kind: readWait},
	unix.SYS_SPLICE:          {name: "splice", kind: readWait},
	unix.SYS_WRITE:           {name: "write", kind: writeWait},
	unix.SYS_WRITEV:          {name: "writev", kind: writeWait},
	unix.SYS_PPOLL:           {name: "ppoll", kind: pollWait, timeout: timeoutTimespec, arg: 2},
	unix.SYS_PSELECT6:        {name: "pselect6", kind: selectWait, timeout: timeoutTimespec, arg: 4},
	unix.SYS_EPOLL_PWAIT:     {name: "epoll_pwait", kind: epollWait, timeout: timeoutMillis, arg: 3},
	unix.SYS_EPOLL_PWAIT2:    {name: "epoll_pwait2", kind: epollWait, timeout: timeoutTimespec, arg: 3},
	unix.SYS_RESTART_SYSCALL: {name: "restart_syscall", kind: restartedWait},
	unix.SYS_IO_URING_ENTER:  {name: "io_uring_enter", kind: uringWait},
	unix.SYS_WAIT4:           {name: "wait4"},
	unix.SYS_WAITID:          {name: "waitid"},
	unix.SYS_FUTEX:           {name: "futex"},
	unix.SYS_NANOSLEEP:       {name: "nanosleep", timeout: timeoutTimespec, pause: relativePause},
	unix.SYS_CLOCK_NANOSLEEP: {name: "clock_nanosleep", timeout: timeoutTimespec, arg: 2, pause: clockPause},
	unix.SYS_RT_SIGSUSPEND:   {name: "rt_sigsuspend"},
	unix.SYS_RT_SIGTIMEDWAIT: {name: "rt_sigtimedwait"},
	unix.SYS_FLOCK:           {name: "flock"},
	unix.SYS_FCNTL:           {name: "fcntl"},
	unix.SYS_IOCTL:           {name: "ioctl"},
	unix.SYS_CONNECT:         {name: "connect"},
	unix.SYS_ACCEPT4:         {name: "accept4"},
	unix.SYS_RECVFROM:        {name: "recvfrom"},
	unix.SYS_RECVMSG:         {name: "recvmsg"},
	unix.SYS_SENDTO:          {name: "sendto"},
	unix.SYS_SENDMSG:         {name: "sendmsg"},
}
