package bpf

import "golang.org/x/sys/unix"

var machine = arch{audit: unix.AUDIT_ARCH_X86_64, x32: 0x40000000} // __X32_SYSCALL_BIT
