// Package bpf assembles seccomp filters from rules about system calls.
//
//	Rules → Assemble → []unix.SockFilter → seccomp(2)
//
// A filter runs from the top: first the machine's calling convention (calls by another one, 32-bit or x32, are
// rejected), then each rule, then "allowed". The first matching rule decides. A rule is a system call number and, for
// some, bits of its arguments; filters cannot read what arguments point to. The package knows no processes and makes no
// system calls. Numbers are the machine's own (unix.SYS_…).
package bpf
