package confine

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/confine/bpf"
)

// process is the process that restricts itself.
type process struct {
	spec      Spec
	argv, env []string // of the program
	report    Report
	keeper    bool // the keeper can take a listener
	listener  int  // -1: none
}

// steps are applied in this order. Each handles its part of the spec and returns at once if that is empty. Steps before the
// filter may use every system call; those that need privileges precede no_new_privs.
var steps = []struct {
	name  string
	apply func(*process) error
}{
	{"observe", (*process).observe},
	{"namespaces", (*process).enterNamespaces},
	{"capabilities", (*process).dropCapabilities},
	{"Landlock", (*process).restrictPaths},
	{"no new privileges", (*process).dropPrivileges},
	{"system calls", (*process).filterCalls},
}

// dropPrivileges makes setuid programs run without extra rights. The kernel requires that for a user's filter, and
// another user's program would escape the restrictions.
func (p *process) dropPrivileges() error {
	if p.spec.Executions == "" && len(p.spec.Calls) == 0 && p.spec.Sandbox == nil {
		return nil
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// filterCalls installs the filter. It rejects calls even if the kernel provides no listener.
func (p *process) filterCalls() error {
	refused, err := callRules(p.spec.Calls)
	if err != nil {
		return err
	}
	if p.spec.Executions != "" {
		err = errOldKeeper // without an owner of the listener, no execution would ever be answered
		if p.keeper {
			rules := append(refused[:len(refused):len(refused)],
				bpf.Rule{Nr: unix.SYS_EXECVE, Action: bpf.Ask}, bpf.Rule{Nr: unix.SYS_EXECVEAT, Action: bpf.Ask})
			if p.spec.Reach {
				rules = append(rules, reachRules()...)
			}
			err = p.listen(rules)
		}
		if err == nil {
			p.report.Executions = true
			if len(refused) > 0 {
				p.report.Levels = append(p.report.Levels, "seccomp")
			}
			return nil
		}
		if p.spec.Executions == ExecutionsRequired {
			return fmt.Errorf(uncheckedPrefix+": %w", err)
		}
		p.report.Why = err.Error()
	}
	if len(refused) == 0 {
		return nil
	}
	prog, err := bpf.Assemble(refused)
	if err != nil {
		return err
	}
	p.report.Levels = append(p.report.Levels, "seccomp")
	_, err = setFilter(prog, 0)
	return err
}

// listen installs the rules and keeps the listener.
func (p *process) listen(rules []bpf.Rule) error {
	prog, err := bpf.Assemble(rules)
	if err != nil {
		return err
	}
	p.listener, err = newListener(prog)
	return err
}

// newListener installs a filter on this thread and returns its listener.
func newListener(prog []unix.SockFilter) (int, error) {
	// A signal that does not kill must not interrupt a waiting execution (Linux 5.19): its caller would see EINTR.
	fd, err := setFilter(prog, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	if errors.Is(err, unix.EINVAL) {
		fd, err = setFilter(prog, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	}
	return fd, explainListener(err)
}

// explainListener explains the kernel's errors about a listener.
func explainListener(err error) error {
	switch {
	case errors.Is(err, unix.EBUSY):
		return fmt.Errorf("another listener exists in this container or session, and only one is possible (%w)", err)
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("execution checks require Linux 5.5 with CONFIG_SECCOMP_FILTER (%w)", err)
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("the container allows no system call filters (%w)", err)
	}
	return err
}

// setFilter installs a filter on this thread.
func setFilter(prog []unix.SockFilter, flags uintptr) (int, error) {
	f := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&f)))
	runtime.KeepAlive(prog)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// Probe returns why execution checks are unavailable here, or nil. It tries on a thread that then ends.
func Probe() error {
	prog, err := bpf.Assemble([]bpf.Rule{{Nr: unix.SYS_EXECVE, Action: bpf.Ask}})
	if err != nil {
		return err
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			result <- err
			return
		}
		fd, err := newListener(prog)
		if err == nil {
			err = unix.Close(fd)
		}
		result <- err
	}()
	return <-result
}
