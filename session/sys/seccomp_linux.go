package sys

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notification is struct seccomp_notif.
type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

// ReceiveNotification receives the next waiting call of a listener. It never blocks.
func ReceiveNotification(listener int) (Notification, error) {
	var raw notification
	return raw.receive(listener)
}

// NotificationSize is the size of a notification in bytes.
const NotificationSize = int(unsafe.Sizeof(notification{}))

// ReceiveNotificationInto receives into zeroed shared memory, aligned to eight bytes: the kernel stores the notification there
// when it delivers it, even if this process dies.
func ReceiveNotificationInto(listener int, memory []byte) (Notification, error) {
	return (*notification)(unsafe.Pointer(&memory[:NotificationSize][0])).receive(listener)
}

// NotificationAt returns the notification in such memory.
func NotificationAt(memory []byte) Notification {
	return (*notification)(unsafe.Pointer(&memory[:NotificationSize][0])).export()
}

// export converts the kernel's struct.
func (raw *notification) export() Notification {
	return Notification{ID: raw.id, PID: int(raw.pid), Nr: raw.nr, Args: raw.args}
}

// HasNotification reports whether a call waits at a listener.
func HasNotification(listener int) bool {
	events, err := pollListener(listener)
	return err == nil && events&unix.POLLIN != 0
}

// pollListener returns the poll events of a listener. It never blocks, so it bypasses the runtime's scheduler.
func pollListener(listener int) (int16, error) {
	for {
		poll := [1]unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		_, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1, uintptr(unsafe.Pointer(&unix.Timespec{})), 0, 0, 0)
		switch errno {
		case 0:
			return poll[0].Revents, nil
		case unix.EINTR:
		default:
			return 0, os.NewSyscallError("ppoll", errno)
		}
	}
}

// receive receives a waiting call into raw.
func (raw *notification) receive(listener int) (n Notification, err error) {
	for {
		events, err := pollListener(listener)
		switch {
		case err != nil:
			return n, err
		case events&unix.POLLIN != 0:
		case events&unix.POLLHUP != 0:
			return n, ErrFilterUnused
		default:
			return n, ErrNoNotification
		}
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(raw)))
		switch errno {
		case 0:
			return raw.export(), nil
		case unix.EINTR, unix.ENOENT: // the caller was killed meanwhile
		default:
			return n, os.NewSyscallError("ioctl", errno)
		}
	}
}

// AnswerNotification lets a call proceed (errno 0) or fail. fs.ErrNotExist reports that the call no longer waits.
func AnswerNotification(listener int, id uint64, errno unix.Errno) error {
	r := response{id: id, errno: -int32(errno)}
	if errno == 0 {
		r.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
	}
	return notificationIoctl(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
}

// IsNotificationValid reports whether the call of a notification still waits. Only then was the memory read in the meantime
// that of its process.
func IsNotificationValid(listener int, id uint64) bool {
	return notificationIoctl(listener, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)) == nil
}

// SetSyncWakeUp lets the kernel switch directly between the caller and the listener (Linux 6.6). Without it, answers are only
// slower.
func SetSyncWakeUp(listener int) {
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
}

func notificationIoctl(listener int, request uint, arg unsafe.Pointer) error {
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), uintptr(request), uintptr(arg))
		switch errno {
		case 0:
			return nil
		case unix.EINTR:
		default:
			return os.NewSyscallError("ioctl", errno)
		}
	}
}

// IsExecution reports whether the call executes a program. Other calls affect a process.
func (n Notification) IsExecution() bool { return n.Nr == unix.SYS_EXECVE || n.Nr == unix.SYS_EXECVEAT }

// Values of ioprio_set's first argument: IOPRIO_WHO_PGRP and IOPRIO_WHO_USER (linux/ioprio.h).
const (
	ioPriorityOfGroup = 2
	IOPriorityOfUser  = 3
)

// Target returns the target of a call other than an execution. The process may meanwhile change its descriptors. Pids are
// those of the caller's pid namespace.
func (n Notification) Target() SignalTarget {
	first, second := int(int32(n.Args[0])), int(int32(n.Args[1]))
	switch n.Nr {
	case unix.SYS_KILL:
		switch {
		case first == -1:
			return SignalTarget{IsAll: true}
		case first < 0:
			return SignalTarget{PID: -first, IsGroup: true}
		}
	case unix.SYS_SETPRIORITY:
		return SignalTarget{PID: second, IsGroup: first == unix.PRIO_PGRP, IsAll: first == unix.PRIO_USER}
	case unix.SYS_IOPRIO_SET:
		return SignalTarget{PID: second, IsGroup: first == ioPriorityOfGroup, IsAll: first == IOPriorityOfUser}
	case unix.SYS_PTRACE, unix.SYS_TGKILL, unix.SYS_RT_TGSIGQUEUEINFO:
		return SignalTarget{PID: second}
	case unix.SYS_PIDFD_SEND_SIGNAL:
		return SignalTarget{PID: pidBehindDescriptor(n.PID, first), IsGroup: true}
	}
	return SignalTarget{PID: first}
}

// pidBehindDescriptor returns the process behind a descriptor: from pidfd_open, or its directory in /proc.
func pidBehindDescriptor(of, fd int) int {
	number := strconv.Itoa(fd)
	if pid := NumberField(of, "fdinfo/"+number, "Pid"); pid > 0 {
		return int(pid)
	}
	link, _ := readLink(of, "fd/"+number) // an error leaves no pid
	pid, _ := strconv.Atoi(filepath.Base(link))
	return pid
}

// SharesPIDNamespace reports whether a process is in our pid namespace, as far as known.
func SharesPIDNamespace(pid int) bool {
	theirs, err := readLink(pid, "ns/pid")
	ours, err2 := readLink(0, "ns/pid")
	return err != nil || err2 != nil || theirs == ours
}

// stringReaders pools readers, which are too large to allocate per execution.
var stringReaders = sync.Pool{New: func() any { return new(stringReader) }}

// ReadExecution reads the arguments of an execve or execveat call, with at most maxArgv bytes of argv.
func ReadExecution(n Notification, maxArgv int) (e Execution, err error) {
	t, _ := stringReaders.Get().(*stringReader) // the pool contains nothing else
	defer stringReaders.Put(t)
	t.read, t.lastBytes = memoryOf(n.PID), nil
	path, argv, dirfd := n.Args[0], n.Args[1], int32(unix.AT_FDCWD)
	if n.Nr == unix.SYS_EXECVEAT {
		dirfd, path, argv, e.Flags = int32(n.Args[0]), n.Args[1], n.Args[2], n.Args[4]
	}
	var isComplete bool
	if e.Path, isComplete, err = t.readString(path, unix.PathMax); err == nil && !isComplete {
		err = unix.ENAMETOOLONG
	}
	if err != nil {
		return e, err
	}
	if e.Argv, e.IsComplete, err = t.readVector(argv, maxArgv); err != nil {
		return e, err
	}
	switch {
	case e.Path != "" && e.Path[0] == '/':
	case dirfd == unix.AT_FDCWD:
		e.Dir, err = readLink(n.PID, "cwd")
	default:
		e.Dir, err = readLink(n.PID, "fd/"+strconv.Itoa(int(dirfd)))
	}
	return e, err
}

// memoryOf returns a reader of a process's memory, which needs the same user and a readable program.
func memoryOf(pid int) Reader {
	return func(at uint64, into []byte) (int, error) {
		local := []unix.Iovec{{Base: &into[0]}}
		local[0].SetLen(len(into))
		n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(into)}}, 0)
		return n, os.NewSyscallError("process_vm_readv", err)
	}
}
