package bpf

import "golang.org/x/sys/unix"

var machine = arch{audit: unix.AUDIT_ARCH_AARCH64}
