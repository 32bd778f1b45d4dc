//go:build unix

// Package listen is what is done with calls that ask at a session's listener, by whoever hears it: the daemon, or the
// keeper while there is none.
//
//	execve ─▶ kernel ─▶ Slots.Take ─▶ Read ─▶ … judged … ─▶ sys.AnswerNotification ─▶ Slots.Done
//
// One process hears a listener at a time, the one that has the lock of its slots: of two the kernel would have one wait.
package listen

import (
	"errors"
	"os"
	"syscall"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

const (
	// maxArgv bounds what is read of an execution's arguments, in bytes.
	maxArgv = 128 << 10
	// Most and MostBytes bound what waits for answers, by session; what is beyond that waits in the kernel.
	Most      = 256
	MostBytes = 1 << 20
)

// Read looks at what a process is about to execute, in a session whose own process is lead. It may be another one's when
// the call does not wait any more afterwards.
func Read(id string, lead int64, n sys.Notification) *wire.Execution {
	e := &wire.Execution{ID: id, Number: n.ID, PID: int64(n.PID), Lead: lead}
	if st, err := sys.ReadStat(n.PID); err == nil {
		e.Parent, e.Start = int64(st.Parent), st.Start
	}
	x, err := sys.ReadExecution(n, maxArgv)
	e.Path, e.Argv, e.Cut, e.Dir, e.Flags = x.Path, x.Argv, !x.Whole, x.Dir, x.Flags
	if e.Cwd, _ = sys.Cwd(n.PID); err != nil {
		e.Error = err.Error()
	}
	return e
}

// Weight is what an execution that waits counts for, in bytes.
func Weight(e *wire.Execution) int {
	n := 256 + len(e.Path)
	for _, a := range e.Argv {
		n += 24 + len(a)
	}
	return n
}

// Refused says that a call that executes nothing is not to happen: what runs in a session whose executions are asked about
// may not stop, end or look into the processes that ask and judge: ours, and those of others. Whom a call acts on is a
// number, which is compared; nothing of it is read from the caller's memory.
func Refused(n sys.Notification, ours ...int) bool {
	aim := n.Aim()
	if aim.PID <= 0 && !aim.Everyone || !sys.SharesPIDs(n.PID) {
		return false // in a namespace of its own it knows none of us
	}
	if aim.Everyone {
		return true
	}
	process := int(sys.Number(aim.PID, "status", "Tgid")) // a thread's number is as good
	for _, pid := range ours {
		if pid <= 0 {
			continue
		}
		if group, err := syscall.Getpgid(pid); process == pid || aim.Group && err == nil && group == aim.PID {
			return true
		}
	}
	return process > 0 && isOurs(process)
}

// isOurs says that a process is a keeper or daemon, and none that was started in such a session itself.
func isOurs(pid int) bool {
	argv, err := sys.Cmdline(pid)
	return err == nil && len(argv) > 1 && argv[0] == "longterm" && (argv[1] == "keeper" || argv[1] == "daemon") && !sys.Filtered(pid)
}

// Polled is another descriptor of a listener, of which the runtime tells when something asks there. The one that is given
// must not be polled: its process would be woken by each call, whoever hears it.
func Polled(listener *os.File) (*os.File, error) {
	dup, err := wire.Duplicate(listener)
	if err != nil {
		return nil, err
	}
	// What does not block when it becomes a file is polled. The others share that with it.
	if err := syscall.SetNonblock(dup[0], true); err != nil {
		dup.Close()
		return nil, os.NewSyscallError("fcntl", err)
	}
	f := os.NewFile(uintptr(dup[0]), "seccomp listener")
	if err := syscall.SetNonblock(dup[0], false); err != nil {
		return nil, errors.Join(os.NewSyscallError("fcntl", err), f.Close())
	}
	return f, nil
}
