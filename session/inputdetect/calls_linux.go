package inputdetect

import "golang.org/x/sys/unix"

// callKind is the way in which a system call waits.
type callKind uint8

const (
	otherCall  callKind = iota // for something that is not this terminal's input
	readCall                   // for input of the descriptor in its first argument
	writeCall                  // until the descriptor in its first argument takes output
	pollCall                   // for an array of pollfd
	selectCall                 // for sets of descriptors
	epollCall                  // for an epoll instance
	againCall                  // restart_syscall: one that a stop interrupted
	ringCall                   // io_uring_enter: what for is not to be seen
)

// callRow is an entry of callTable.
type callRow struct {
	name    string
	kind    callKind
	timeout timeoutKind
	arg     int // of the timeout
	pause   pauseKind
}

// pauseKind is the way in which a call lets time pass without waiting for input.
type pauseKind uint8

const (
	noPause    pauseKind = iota
	plainPause           // for the timeout
	clockPause           // for the timeout, or until it: a clock and flags are the first arguments
)

// timeoutKind is the type of a call's timeout argument.
type timeoutKind uint8

const (
	noTimeout timeoutKind = iota
	millis                // an int
	timeval               // pointer to seconds and microseconds; NULL: none
	timespec              // pointer to seconds and nanoseconds; NULL: none
)

// callTable is indexed by call number, of the machine's native programs. A 32-bit program on a 64-bit kernel has other
// numbers and is misjudged as Sleeping, since its descriptors will not fit.
var callTable = map[int]callRow{
	unix.SYS_READ:            {name: "read", kind: readCall},
	unix.SYS_READV:           {name: "readv", kind: readCall},
	unix.SYS_PREADV:          {name: "preadv", kind: readCall},
	unix.SYS_PREADV2:         {name: "preadv2", kind: readCall},
	unix.SYS_SPLICE:          {name: "splice", kind: readCall},
	unix.SYS_WRITE:           {name: "write", kind: writeCall},
	unix.SYS_WRITEV:          {name: "writev", kind: writeCall},
	unix.SYS_PPOLL:           {name: "ppoll", kind: pollCall, timeout: timespec, arg: 2},
	unix.SYS_PSELECT6:        {name: "pselect6", kind: selectCall, timeout: timespec, arg: 4},
	unix.SYS_EPOLL_PWAIT:     {name: "epoll_pwait", kind: epollCall, timeout: millis, arg: 3},
	unix.SYS_EPOLL_PWAIT2:    {name: "epoll_pwait2", kind: epollCall, timeout: timespec, arg: 3},
	unix.SYS_RESTART_SYSCALL: {name: "restart_syscall", kind: againCall},
	unix.SYS_IO_URING_ENTER:  {name: "io_uring_enter", kind: ringCall},
	unix.SYS_WAIT4:           {name: "wait4"},
	unix.SYS_WAITID:          {name: "waitid"},
	unix.SYS_FUTEX:           {name: "futex"},
	unix.SYS_NANOSLEEP:       {name: "nanosleep", timeout: timespec, pause: plainPause},
	unix.SYS_CLOCK_NANOSLEEP: {name: "clock_nanosleep", timeout: timespec, arg: 2, pause: clockPause},
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
