// Package bpf assembles seccomp filters: rules about system calls in, the kernel's instructions out.
//
//	Rules → Assemble → []unix.SockFilter → seccomp(2)
//
// A filter is read from the top: the machine's own calling convention first (what comes by another one, 32-bit or
// x32, does not exist), then each rule, then "allowed". The first rule that fits decides. A rule is a system call's number
// and, for some, bits of its arguments; what arguments point to cannot be looked at here. It knows nothing of processes
// and makes no system call. Numbers are the machine's own (unix.SYS_…).
package bpf
