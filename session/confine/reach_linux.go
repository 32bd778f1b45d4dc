package confine

import (
	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/confine/bpf"
	"github.com/longterm-dev/longterm/session/sys"
)

// Calls that affect another process are checked together with executions. The owner of the listener rejects those that
// would stop, end or change longterm's own processes. A shell's built-in kill executes nothing.

const (
	intMask = 1<<32 - 1 // the part of an argument that the kernel reads as an int
	fSetSig = 10        // F_SETSIG
)

// harmlessSignals are the signals below 32 that longterm's processes survive, being Go programs (os/signal), and 0. Language
// runtimes often send them to their own threads.
var harmlessSignals = []unix.Signal{
	0, unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE, unix.SIGALRM, unix.SIGCHLD, unix.SIGCONT, unix.SIGURG, unix.SIGXCPU,
	unix.SIGXFSZ, unix.SIGVTALRM, unix.SIGPROF, unix.SIGWINCH, unix.SIGIO, unix.SIGPWR,
}

// harmfulSignal returns the conditions under which a signal argument affects the processes. Real-time signals have no effect.
func harmfulSignal(index int) []bpf.Arg {
	args := []bpf.Arg{{Index: index, Mask: intMask &^ 31}}
	for _, s := range harmlessSignals {
		args = append(args, bpf.Arg{Index: index, Mask: intMask, Value: uint64(s), Not: true})
	}
	return args
}

// reachRules returns the rules for calls that affect other processes.
func reachRules() []bpf.Rule {
	other := func(index int) bpf.Arg { return bpf.Arg{Index: index, Mask: intMask, Not: true} } // 0 is the process itself
	rules := []bpf.Rule{
		{Nr: unix.SYS_PTRACE, Args: []bpf.Arg{{Index: 0, Mask: intMask, Value: unix.PTRACE_ATTACH}}, Action: bpf.Ask},
		{Nr: unix.SYS_PTRACE, Args: []bpf.Arg{{Index: 0, Mask: intMask, Value: unix.PTRACE_SEIZE}}, Action: bpf.Ask},
		{Nr: unix.SYS_PROCESS_VM_READV, Action: bpf.Ask},
		{Nr: unix.SYS_PROCESS_VM_WRITEV, Action: bpf.Ask},
		{Nr: unix.SYS_PRLIMIT64, Args: []bpf.Arg{other(0), {Index: 2, Mask: ^uint64(0), Not: true}}, Action: bpf.Ask},
		{Nr: unix.SYS_SETPRIORITY, Args: []bpf.Arg{other(1)}, Action: bpf.Ask},
		{Nr: unix.SYS_SETPRIORITY, Args: []bpf.Arg{{Index: 0, Mask: intMask, Value: unix.PRIO_USER}}, Action: bpf.Ask}, // 0 means all of the user's
		{Nr: unix.SYS_IOPRIO_SET, Args: []bpf.Arg{other(1)}, Action: bpf.Ask},
		{Nr: unix.SYS_IOPRIO_SET, Args: []bpf.Arg{{Index: 0, Mask: intMask, Value: sys.IOPriorityOfUser}}, Action: bpf.Ask},
		// The descriptors of another process, by which its listener could be answered. The process behind a descriptor
		// may change before the check, so this call always fails.
		{Nr: unix.SYS_PIDFD_GETFD, Action: bpf.Fail(unix.EPERM)},
		// A file that notifies its owner by a chosen signal: no program needs one of these.
		{Nr: unix.SYS_FCNTL, Args: append([]bpf.Arg{{Index: 1, Mask: intMask, Value: fSetSig}}, harmfulSignal(2)...), Action: bpf.Fail(unix.EPERM)},
	}
	for nr, index := range map[uint32]int{
		unix.SYS_KILL: 1, unix.SYS_TKILL: 1, unix.SYS_TGKILL: 2, unix.SYS_RT_SIGQUEUEINFO: 1, unix.SYS_RT_TGSIGQUEUEINFO: 2,
		unix.SYS_PIDFD_SEND_SIGNAL: 1,
	} {
		rules = append(rules, bpf.Rule{Nr: nr, Args: harmfulSignal(index), Action: bpf.Ask})
	}
	for _, nr := range []uint32{unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR} {
		rules = append(rules, bpf.Rule{Nr: nr, Args: []bpf.Arg{other(0)}, Action: bpf.Ask})
	}
	return rules
}
