package confine

import (
	"cmp"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/confine/bpf"
)

// callNumbers maps the calls that can be rejected by name. Calls of one machine only are in a separate file.
var callNumbers = map[string]uint32{
	"acct": unix.SYS_ACCT, "add_key": unix.SYS_ADD_KEY, "adjtimex": unix.SYS_ADJTIMEX, "bind": unix.SYS_BIND,
	"bpf": unix.SYS_BPF, "chroot": unix.SYS_CHROOT, "clock_adjtime": unix.SYS_CLOCK_ADJTIME,
	"clock_settime": unix.SYS_CLOCK_SETTIME, "clone": unix.SYS_CLONE, "clone3": unix.SYS_CLONE3,
	"connect": unix.SYS_CONNECT, "delete_module": unix.SYS_DELETE_MODULE,
	"fchmod": unix.SYS_FCHMOD, "fchmodat": unix.SYS_FCHMODAT, "fchmodat2": unix.SYS_FCHMODAT2, "mknodat": unix.SYS_MKNODAT,
	"openat": unix.SYS_OPENAT, "openat2": unix.SYS_OPENAT2,
	"fanotify_init": unix.SYS_FANOTIFY_INIT, "finit_module": unix.SYS_FINIT_MODULE, "fsconfig": unix.SYS_FSCONFIG,
	"fsmount": unix.SYS_FSMOUNT, "fsopen": unix.SYS_FSOPEN, "fspick": unix.SYS_FSPICK,
	"init_module": unix.SYS_INIT_MODULE, "io_uring_enter": unix.SYS_IO_URING_ENTER,
	"io_uring_register": unix.SYS_IO_URING_REGISTER, "io_uring_setup": unix.SYS_IO_URING_SETUP, "ioctl": unix.SYS_IOCTL,
	"kcmp": unix.SYS_KCMP, "kexec_load": unix.SYS_KEXEC_LOAD,
	"keyctl": unix.SYS_KEYCTL, "listen": unix.SYS_LISTEN, "lookup_dcookie": unix.SYS_LOOKUP_DCOOKIE,
	"memfd_create": unix.SYS_MEMFD_CREATE, "mount": unix.SYS_MOUNT, "mount_setattr": unix.SYS_MOUNT_SETATTR,
	"move_mount": unix.SYS_MOVE_MOUNT, "name_to_handle_at": unix.SYS_NAME_TO_HANDLE_AT, "nfsservctl": unix.SYS_NFSSERVCTL,
	"open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT, "open_tree": unix.SYS_OPEN_TREE,
	"perf_event_open": unix.SYS_PERF_EVENT_OPEN, "personality": unix.SYS_PERSONALITY, "pidfd_getfd": unix.SYS_PIDFD_GETFD,
	"pidfd_send_signal": unix.SYS_PIDFD_SEND_SIGNAL, "pivot_root": unix.SYS_PIVOT_ROOT,
	"process_madvise": unix.SYS_PROCESS_MADVISE, "process_vm_readv": unix.SYS_PROCESS_VM_READV,
	"process_vm_writev": unix.SYS_PROCESS_VM_WRITEV, "ptrace": unix.SYS_PTRACE, "quotactl": unix.SYS_QUOTACTL,
	"quotactl_fd": unix.SYS_QUOTACTL_FD, "reboot": unix.SYS_REBOOT, "request_key": unix.SYS_REQUEST_KEY,
	"seccomp": unix.SYS_SECCOMP, "sethostname": unix.SYS_SETHOSTNAME, "setdomainname": unix.SYS_SETDOMAINNAME,
	"setns": unix.SYS_SETNS, "settimeofday": unix.SYS_SETTIMEOFDAY, "socket": unix.SYS_SOCKET,
	"socketpair": unix.SYS_SOCKETPAIR, "swapoff": unix.SYS_SWAPOFF, "swapon": unix.SYS_SWAPON, "syslog": unix.SYS_SYSLOG,
	"umount2": unix.SYS_UMOUNT2, "unshare": unix.SYS_UNSHARE, "userfaultfd": unix.SYS_USERFAULTFD,
	"vhangup": unix.SYS_VHANGUP, "vmsplice": unix.SYS_VMSPLICE,
}

// otherMachineCalls are calls that this machine may lack.
var otherMachineCalls = map[string]bool{
	"_sysctl": true, "create_module": true, "get_kernel_syms": true, "ioperm": true, "iopl": true, "kexec_file_load": true,
	"modify_ldt": true, "query_module": true, "uselib": true, "ustat": true, "vm86": true,
	"chmod": true, "creat": true, "mknod": true, "open": true,
}

// callRules returns the filter's rules for rejected calls.
func callRules(calls []Call) ([]bpf.Rule, error) {
	var rules []bpf.Rule
	for _, c := range calls {
		nr, ok := callNumbers[c.Name]
		if !ok {
			if otherMachineCalls[c.Name] {
				continue
			}
			return nil, fmt.Errorf("unknown system call %q", c.Name)
		}
		r := bpf.Rule{Nr: nr, Action: bpf.Fail(unix.Errno(cmp.Or(c.Errno, int(unix.EPERM))))}
		for _, a := range c.Args {
			r.Args = append(r.Args, bpf.Arg(a))
		}
		rules = append(rules, r)
	}
	return rules, nil
}
