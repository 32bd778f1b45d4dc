//go:build linux

package bpf

import (
	"encoding/binary"
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// runFilter interprets a filter as the kernel does (Documentation/networking/filter.rst).
func runFilter(t *testing.T, prog []unix.SockFilter, audit, nr uint32, args [6]uint64) Action {
	t.Helper()
	data := binary.LittleEndian.AppendUint32(nil, nr)
	data = binary.LittleEndian.AppendUint32(data, audit)
	data = binary.LittleEndian.AppendUint64(data, 0)
	for _, a := range args {
		data = binary.LittleEndian.AppendUint64(data, a)
	}
	var acc uint32
	for pc := 0; pc < len(prog); pc++ {
		in := prog[pc]
		holds := false
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			acc = binary.LittleEndian.Uint32(data[in.K:])
			continue
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			acc &= in.K
			continue
		case unix.BPF_RET | unix.BPF_K:
			return Action(in.K)
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			holds = acc == in.K
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			holds = acc&in.K != 0
		default:
			t.Fatalf("instruction %d: code %#x", pc, in.Code)
		}
		if holds {
			pc += int(in.Jt)
		} else {
			pc += int(in.Jf)
		}
	}
	t.Fatal("a filter without an end")
	return 0
}

// FEATURES: R107
func TestAssemble(t *testing.T) {
	const here, there, x32 = 0xc000003e, 0x40000003, 0x40000000
	eperm, enosys := Fail(unix.EPERM), Fail(unix.ENOSYS)
	prog, err := assemble(arch{audit: here, x32: x32}, []Rule{
		{Nr: 59, Action: Ask},
		{Nr: 41, Args: []Arg{{Index: 0, Mask: 0xffffffff, Value: 40}}, Action: eperm},
		{Nr: 41, Args: []Arg{{Index: 0, Mask: 0xff, Value: 2, Not: true}, {Index: 1, Mask: 0xf, Value: 3}}, Action: enosys},
		{Nr: 16, Args: []Arg{{Index: 5, Mask: ^uint64(0), Value: 0x1234567887654321}}, Action: eperm},
		{Nr: 17, Args: []Arg{{Index: 2, Mask: ^uint64(0), Value: 0x100000001, Not: true}}, Action: eperm},
		{Nr: 59, Action: eperm}, // the first match decides
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		audit, nr uint32
		args      [6]uint64
		want      Action
	}{
		{here, 59, [6]uint64{}, Ask},
		{there, 59, [6]uint64{}, enosys},
		{there, 0, [6]uint64{}, enosys},
		{here, 59 | x32, [6]uint64{}, enosys},
		{here, 0, [6]uint64{}, Allow},
		{here, 41, [6]uint64{40}, eperm},
		{here, 41, [6]uint64{40 | 1<<40}, eperm}, // the kernel takes an int
		{here, 41, [6]uint64{2, 3}, Allow},
		{here, 41, [6]uint64{3, 3}, enosys},
		{here, 41, [6]uint64{3, 0x13}, enosys},
		{here, 41, [6]uint64{3, 4}, Allow},
		{here, 16, [6]uint64{5: 0x1234567887654321}, eperm},
		{here, 16, [6]uint64{5: 0x1234567887654320}, Allow},
		{here, 16, [6]uint64{5: 0x1234567987654321}, Allow},
		{here, 17, [6]uint64{2: 0x100000001}, Allow},
		{here, 17, [6]uint64{2: 0x100000000}, eperm},
		{here, 17, [6]uint64{2: 0x000000001}, eperm},
	} {
		if got := runFilter(t, prog, c.audit, c.nr, c.args); got != c.want {
			t.Errorf("call %#x of %#x with %x: %#x, want %#x", c.nr, c.audit, c.args, got, c.want)
		}
	}
}

func TestAssemble_Refuses(t *testing.T) {
	long := Rule{Nr: 1, Args: make([]Arg, 60), Action: Ask}
	for i := range long.Args {
		long.Args[i].Mask = ^uint64(0)
	}
	if _, err := assemble(arch{}, nil); !errors.Is(err, ErrMachine) {
		t.Errorf("an unknown machine: %v", err)
	}
	for name, rules := range map[string][]Rule{
		"no such argument": {{Nr: 1, Args: []Arg{{Index: 6, Mask: 1}}}},
		"a long rule":      {long},
		"many rules":       make([]Rule, 2000),
	} {
		if _, err := assemble(arch{audit: 1}, rules); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

// TestAssemble_AcceptedByKernel checks that the kernel accepts filters for this machine.
func TestAssemble_AcceptedByKernel(t *testing.T) {
	prog, err := Assemble([]Rule{{Nr: unix.SYS_EXECVE, Action: Ask}, {Nr: unix.SYS_KEYCTL, Action: Fail(unix.EPERM)}})
	if errors.Is(err, ErrMachine) {
		t.Skip(err)
	}
	if err != nil || runFilter(t, prog, machine.audit, unix.SYS_KEYCTL, [6]uint64{}) != Fail(unix.EPERM) {
		t.Error(err)
	}
}
