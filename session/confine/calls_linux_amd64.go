package confine

import "golang.org/x/sys/unix"

func init() {
	for name, nr := range map[string]uint32{
		"chmod": unix.SYS_CHMOD, "creat": unix.SYS_CREAT, "mknod": unix.SYS_MKNOD, "open": unix.SYS_OPEN,
		"_sysctl": unix.SYS__SYSCTL, "kexec_file_load": unix.SYS_KEXEC_FILE_LOAD, "ioperm": unix.SYS_IOPERM, "iopl": unix.SYS_IOPL, "modify_ldt": unix.SYS_MODIFY_LDT,
		"uselib": unix.SYS_USELIB, "ustat": unix.SYS_USTAT, "create_module": unix.SYS_CREATE_MODULE,
		"query_module": unix.SYS_QUERY_MODULE, "get_kernel_syms": unix.SYS_GET_KERNEL_SYMS,
	} {
		callNumbers[name] = nr
	}
}
