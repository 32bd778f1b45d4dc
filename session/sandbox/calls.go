package sandbox

import "github.com/longterm-dev/longterm/session/confine"

// Linux constants that are equal on all supported machines.
const (
	oCreat, oTmpfile                   = 0o100, 0o20000000 // O_CREAT, and the bit of O_TMPFILE that other flags lack
	afUnix, afInet, afInet6, afNetlink = 1, 2, 10, 16
	sockRaw, sockPacket                = 3, 10
	sockTypes                          = 0xf
	tiocSTI, tiocLinux                 = 0x5412, 0x541c
	newNamespaces                      = 0x7e020000 | 0x80 // CLONE_NEW*
	enosys, eacces, eafnosupport       = 38, 13, 97
	lowBits                            = 0xffffffff
)

// refusedNames are calls that no sandboxed program may make: they reach other processes, the kernel itself or mounts.
var refusedNames = []string{
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
	"bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register",
	"add_key", "keyctl", "request_key",
	"mount", "umount2", "pivot_root", "chroot", "setns", "fsopen", "fsconfig", "fsmount", "fspick", "open_tree", "move_mount", "mount_setattr",
	"open_by_handle_at", "fanotify_init", "quotactl", "quotactl_fd", "acct", "swapon", "swapoff",
	"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "syslog", "vhangup",
	"settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "sethostname", "setdomainname",
	"iopl", "ioperm", "modify_ldt", "uselib", "lookup_dcookie", "nfsservctl", "_sysctl",
}

// refusedCalls returns the system calls that rules reject.
func (r *Rules) refusedCalls(l Level) (calls []confine.Call) {
	for _, name := range refusedNames {
		calls = append(calls, confine.Call{Name: name})
	}
	some := func(name string, errno int, args ...confine.Arg) {
		calls = append(calls, confine.Call{Name: name, Errno: errno, Args: args})
	}
	is := func(i int, v uint64) confine.Arg { return confine.Arg{Index: i, Mask: lowBits, Value: v} }
	not := func(i int, v uint64) confine.Arg { return confine.Arg{Index: i, Mask: lowBits, Value: v, Not: true} }
	some("unshare", 0, confine.Arg{Index: 0, Mask: newNamespaces, Not: true})
	some("clone", 0, confine.Arg{Index: 0, Mask: newNamespaces &^ 0x80, Not: true}) // for clone, 0x80 is among the bits of the signal
	some("clone3", enosys)                                                          // its flags are in memory: programs fall back to clone
	some("ioctl", 0, is(1, tiocSTI))
	some("ioctl", 0, is(1, tiocLinux))
	// Families of sockets without restrictions here: vsock, packets, Bluetooth, the kernel's own.
	some("socket", eafnosupport, not(0, afUnix), not(0, afInet), not(0, afInet6), not(0, afNetlink))
	some("socketpair", eafnosupport, not(0, afUnix))
	some("socket", 0, is(0, afNetlink), not(2, 0)) // of netlink only routes and addresses are allowed
	if !r.UnixSockets {
		some("socket", eacces, is(0, afUnix))
	}
	for _, family := range []uint64{afInet, afInet6} {
		some("socket", 0, is(0, family), confine.Arg{Index: 1, Mask: sockTypes, Value: sockRaw})
		some("socket", 0, is(0, family), confine.Arg{Index: 1, Mask: sockTypes, Value: sockPacket})
		if r.Network == NetworkOff && l == Landlock {
			some("socket", eacces, is(0, family))
		}
	}
	// Setuid and setgid files: the sandbox ignores these bits, but the files would remain afterwards.
	for _, bit := range []uint64{0o4000, 0o2000} {
		has := func(i int, bits uint64) confine.Arg { return confine.Arg{Index: i, Mask: bits, Value: bits} }
		some("chmod", 0, has(1, bit))
		some("fchmod", 0, has(1, bit))
		some("fchmodat", 0, has(2, bit))
		some("fchmodat2", 0, has(2, bit))
		some("creat", 0, has(1, bit))
		some("mknod", 0, has(1, bit))
		some("mknodat", 0, has(2, bit))
		for _, made := range []uint64{oCreat, oTmpfile} { // the mode has an effect only then
			some("open", 0, has(1, made), has(2, bit))
			some("openat", 0, has(2, made), has(3, bit))
		}
	}
	some("openat2", enosys) // its mode is in memory: programs fall back to openat
	return calls
}
