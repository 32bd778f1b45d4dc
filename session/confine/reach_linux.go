package confine

import (
	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/confine/bpf"
	"github.com/longterm-dev/longterm/session/sys"
)

// Calls that affect another process are checked together with executions. The owner of the listener rejects those that
// would stop, end or change longterm's own processes. A shell's built-in kill executes nothing.

const (
	word   = 1<<32 - 1 // what the kernel takes of an int
	fSetSi = 10        // F_SETSIG
)

// idle are the signals below 32 that longterm's processes do not mind, being Go programs (os/signal), and 0, which is
// none. They are what runtimes of languages send their own threads all the time.
var idle = []unix.Signal{
	0, unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE, unix.SIGALRM, unix.SIGCHLD, unix.SIGCONT, unix.SIGURG, unix.SIGXCPU,
	unix.SIGXFSZ, unix.SIGVTALRM, unix.SIGPROF, unix.SIGWINCH, unix.SIGIO, unix.SIGPWR,
}

// harm returns the conditions under which a signal argument affects the processes. Real-time signals have no effect.
func harm(index int) []bpf.Arg {
	args := []bpf.Arg{{Index: index, Mask: word &^ 31}}
	for _, s := range idle {
		args = append(args, bpf.Arg{Index: index, Mask: word, Value: uint64(s), Not: true})
	}
	return args
}

// reachRules returns the rules for those calls.
func reachRules() []bpf.Rule {
	other := func(index int) bpf.Arg { return bpf.Arg{Index: index, Mask: word, Not: true} } // 0 is the process itself
	rules := []bpf.Rule{
		{Nr: unix.SYS_PTRACE, Args: []bpf.Arg{{Index: 0, Mask: word, Value: unix.PTRACE_ATTACH}}, Then: bpf.Ask},
		{Nr: unix.SYS_PTRACE, Args: []bpf.Arg{{Index: 0, Mask: word, Value: unix.PTRACE_SEIZE}}, Then: bpf.Ask},
		{Nr: unix.SYS_PROCESS_VM_READV, Then: bpf.Ask},
		{Nr: unix.SYS_PROCESS_VM_WRITEV, Then: bpf.Ask},
		{Nr: unix.SYS_PRLIMIT64, Args: []bpf.Arg{other(0), {Index: 2, Mask: ^uint64(0), Not: true}}, Then: bpf.Ask},
		{Nr: unix.SYS_SETPRIORITY, Args: []bpf.Arg{other(1)}, Then: bpf.Ask},
		{Nr: unix.SYS_SETPRIORITY, Args: []bpf.Arg{{Index: 0, Mask: word, Value: unix.PRIO_USER}}, Then: bpf.Ask}, // 0 is all of the user's
		{Nr: unix.SYS_IOPRIO_SET, Args: []bpf.Arg{other(1)}, Then: bpf.Ask},
		{Nr: unix.SYS_IOPRIO_SET, Args: []bpf.Arg{{Index: 0, Mask: word, Value: sys.IOPriorityOfUser}}, Then: bpf.Ask},
		// The descriptors of another process, by which its listener could be answered. The process behind a descriptor
		// may change before the check, so this call always fails.
		{Nr: unix.SYS_PIDFD_GETFD, Then: bpf.Fail(unix.EPERM)},
		// A file that notifies its owner by a chosen signal: no program needs one of these.
		{Nr: unix.SYS_FCNTL, Args: append([]bpf.Arg{{Index: 1, Mask: word, Value: fSetSi}}, harm(2)...), Then: bpf.Fail(unix.EPERM)},
	}
	for nr, index := range map[uint32]int{
		unix.SYS_KILL: 1, unix.SYS_TKILL: 1, unix.SYS_TGKILL: 2, unix.SYS_RT_SIGQUEUEINFO: 1, unix.SYS_RT_TGSIGQUEUEINFO: 2,
		unix.SYS_PIDFD_SEND_SIGNAL: 1,
	} {
		rules = append(rules, bpf.Rule{Nr: nr, Args: harm(index), Then: bpf.Ask})
	}
	for _, nr := range []uint32{unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR} {
		rules = append(rules, bpf.Rule{Nr: nr, Args: []bpf.Arg{other(0)}, Then: bpf.Ask})
	}
	return rules
}
