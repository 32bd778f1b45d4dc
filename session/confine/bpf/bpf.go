//go:build linux

package bpf

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Action is the kernel's return value for a system call.
type Action uint32

// Ask passes the call to the owner of the filter's listener.
const Ask Action = unix.SECCOMP_RET_USER_NOTIF

// Allow lets the call proceed.
const Allow Action = unix.SECCOMP_RET_ALLOW

// Fail returns the action that fails a call with an error number.
func Fail(errno unix.Errno) Action {
	return unix.SECCOMP_RET_ERRNO | Action(errno)&unix.SECCOMP_RET_DATA
}

// Arg is a condition on an argument: masked by Mask, it equals Value.
type Arg struct {
	Index int // 0 to 5
	Mask  uint64
	Value uint64
	Not   bool // the argument must differ from Value
}

// Rule sets the action for a system call. All its conditions must hold; none means any call.
type Rule struct {
	Nr     uint32
	Args   []Arg
	Action Action
}

// Offsets in struct seccomp_data (linux/seccomp.h), in the machine's byte order: both supported machines are little endian.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16
)

const maxInstructions = 4096 // BPF_MAXINSNS

// ErrMachine is returned on machines without filters.
var ErrMachine = errors.New("system calls can be filtered on amd64 and arm64 only")

// Assemble returns the filter for rules.
func Assemble(rules []Rule) ([]unix.SockFilter, error) { return assemble(machine, rules) }

// arch identifies a machine's system call conventions.
type arch struct {
	audit uint32 // AUDIT_ARCH_…; 0: unsupported
	x32   uint32 // bit of a call number that marks another convention; 0: none
}

// assemble returns the filter for rules on a machine.
func assemble(m arch, rules []Rule) ([]unix.SockFilter, error) {
	if m.audit == 0 {
		return nil, ErrMachine
	}
	none := uint32(Fail(unix.ENOSYS))
	prog := []unix.SockFilter{
		loadWord(offArch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: m.audit},
		returnAction(none),
	}
	if m.x32 != 0 {
		prog = append(prog, loadWord(offNr),
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: 1, K: m.x32}, returnAction(none))
	}
	for _, r := range rules {
		block, err := r.block()
		if err != nil {
			return nil, err
		}
		prog = append(prog, block...)
	}
	prog = append(prog, returnAction(uint32(Allow)))
	if len(prog) > maxInstructions {
		return nil, fmt.Errorf("a filter of %d instructions, the kernel takes %d", len(prog), maxInstructions)
	}
	return prog, nil
}

// block returns a rule's instructions. They jump to the end of the block if the rule does not match.
func (r Rule) block() ([]unix.SockFilter, error) {
	b := []unix.SockFilter{loadWord(offNr), {Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: r.Nr}}
	leave := []int{1} // instructions that jump to the end on a mismatch
	for _, a := range r.Args {
		if a.Index < 0 || a.Index > 5 {
			return nil, fmt.Errorf("system call %d has no argument %d", r.Nr, a.Index)
		}
		part, out := a.condition(len(b))
		b, leave = append(b, part...), append(leave, out...)
	}
	b = append(b, returnAction(uint32(r.Action)))
	for _, at := range leave {
		jump := len(b) - at - 1
		if jump > 255 {
			return nil, fmt.Errorf("a rule about system call %d with %d conditions is too long", r.Nr, len(r.Args))
		}
		b[at].Jf = uint8(jump)
	}
	return b, nil
}

// condition returns the instructions of one argument, from index at of its block, and those that leave the block on a
// mismatch. It skips a half without bits in the mask.
func (a Arg) condition(at int) (b []unix.SockFilter, leave []int) {
	var halves []uint32 // offset, mask, value
	for half := range uint32(2) {
		if mask := uint32(a.Mask >> (32 * half)); mask != 0 {
			halves = append(halves, offArgs+8*uint32(a.Index)+4*half, mask, uint32(a.Value>>(32*half))&mask)
		}
	}
	for i := 0; i < len(halves); i += 3 {
		b = append(b, loadWord(halves[i]),
			unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: halves[i+1]},
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: halves[i+2]})
	}
	if !a.Not {
		for i := 2; i < len(b); i += 3 {
			leave = append(leave, at+i)
		}
		return b, leave
	}
	// A match of all halves leaves the block, by an instruction after the last. A mismatch continues after that.
	for i := 2; i < len(b); i += 3 {
		b[i].Jf = uint8(len(b) - i)
	}
	b = append(b, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: 0}) // never matches
	return b, append(leave, at+len(b)-1)
}

// loadWord loads a word of struct seccomp_data.
func loadWord(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// returnAction ends the filter with an action.
func returnAction(what uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what}
}
