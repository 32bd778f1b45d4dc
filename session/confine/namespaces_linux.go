package confine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// Three processes create the namespaces:
//
// stageOutside  the one that the keeper started. It detaches from the terminal, forwards signals, serves the allowed
//               network, and exits like the program. When it is killed, so are the others.
// stageFirst    pid 1 of the namespaces. It mounts, starts the program and reaps; its exit ends everything inside.
// stageInside   leads a new session on the terminal, and executes the program.

// Descriptors of the inner processes, beside 0 to 3.
const (
	outerFD = 4 // of stageFirst: a socket to the outer process
	exeFD   = 4 // of stageInside: our own executable
)

// Messages of stageFirst to the outer process.
const (
	msgListener = 'N' // with a descriptor: a listener to serve
	msgEnded    = 'X' // with the program's wait status, 4 bytes
)

// ignoreSignals ignores the signals that the program, in the same group, also receives.
func ignoreSignals() {
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGPIPE)
}

// firstCapabilities are needed by stageFirst, which mounts, enables loopback and listens there. An overlay's directory below work
// has mode 000, so mounting one requires CAP_DAC_OVERRIDE.
var firstCapabilities = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE}

// enterNamespaces returns nil only in the process that executes the program.
func (p *process) enterNamespaces() error {
	sb := p.spec.Sandbox
	if sb == nil || sb.Namespaces == nil {
		return nil
	}
	switch sb.Stage {
	case stageOutside:
		return p.runOutside()
	case stageFirst:
		return p.runFirst()
	}
	unix.CloseOnExec(exeFD)
	if size := sb.Namespaces.DraftSize; size > 0 {
		if err := sys.LimitFileSize(size); err != nil {
			return err
		}
	}
	p.report.Levels = append(p.report.Levels, "userns")
	return nil
}

// nextCommand returns the arguments and environment of the next process.
func (p *process) nextCommand(s stage) (argv, env []string, err error) {
	spec, sb := p.spec, *p.spec.Sandbox
	sb.Stage = s
	if spec.Sandbox = &sb; s == stageInside { // completed parts are not passed on
		ns := *sb.Namespaces
		ns.Mounts, ns.Locks, ns.Serve, ns.Local = nil, nil, nil, nil
		sb.Namespaces = &ns
	}
	return spec.Command(p.argv, p.env)
}

// runOutside starts the namespaces and exits like the program in them.
func (p *process) runOutside() error {
	argv, env, err := p.nextCommand(stageFirst)
	if err != nil {
		return err
	}
	tie, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if sys.TerminalOf(0) != "" {
		signal.Ignore(syscall.SIGHUP)
		// The process is not the leader if the terminal belongs to its caller, which keeps it.
		if err := sys.DetachTerminal(0); err != nil && !errors.Is(err, unix.ENOTTY) {
			return err
		}
		signal.Reset(syscall.SIGHUP)
	}
	signals := make(chan os.Signal, 64)
	signal.Notify(signals)
	shim, null, err := p.shimOrNull()
	if err != nil {
		return err
	}
	users, groups := sys.UserMaps()
	flags := unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if p.spec.Sandbox.Namespaces.Network {
		flags |= unix.CLONE_NEWNET
	}
	pid, err := syscall.ForkExec(sys.Executable, argv, &syscall.ProcAttr{
		Files: []uintptr{0, 1, 2, uintptr(shim), uintptr(tie[1])},
		Env:   env,
		Sys: &syscall.SysProcAttr{
			Cloneflags: uintptr(flags), UidMappings: users, GidMappings: groups, GidMappingsEnableSetgroups: os.Geteuid() == 0,
			AmbientCaps: firstCapabilities, Pdeathsig: syscall.SIGKILL,
		},
	})
	if err != nil {
		return explainNamespaces(err)
	}
	_ = unix.Close(tie[1])
	_ = unix.Close(wire.ShimFD) // the keeper sees its end when the program is executed
	for fd := range 3 {
		_ = unix.Dup3(null, fd, 0)
	}
	go func() {
		for s := range signals {
			switch s {
			case syscall.SIGCHLD, syscall.SIGURG, syscall.SIGPIPE, syscall.SIGWINCH, syscall.SIGTTOU, syscall.SIGTTIN:
			default:
				_ = syscall.Kill(pid, s.(syscall.Signal))
			}
		}
	}()
	status := p.awaitStatus(tie[0])
	var ws syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &ws, 0, nil); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if status == nil { // it exited without a report
		status = &ws
	}
	exitLike(*status)
	return nil
}

// shimOrNull returns the keeper's socket, or /dev/null if it is missing; null is /dev/null.
func (p *process) shimOrNull() (shim, null int, err error) {
	if null, err = unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil || isSocket(wire.ShimFD) {
		return wire.ShimFD, null, err
	}
	return null, null, nil
}

// explainNamespaces explains the kernel's errors.
func explainNamespaces(err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("user namespaces not allowed (%w): by the container, kernel.unprivileged_userns_clone, or kernel.apparmor_restrict_unprivileged_userns", err)
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EUSERS):
		return fmt.Errorf("too many user namespaces (%w); see user.max_user_namespaces", err)
	case errors.Is(err, unix.EINVAL):
		return fmt.Errorf("no user namespaces in this kernel (%w)", err)
	}
	return err
}

// awaitStatus reads the messages of stageFirst until it exits, and returns the program's status.
func (p *process) awaitStatus(tie int) (status *syscall.WaitStatus) {
	buf, oob := make([]byte, 8), make([]byte, 64)
	for {
		n, oobn, _, _, err := unix.Recvmsg(tie, buf, oob, unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || n == 0:
			return status
		case buf[0] == msgEnded && n == 5:
			s := syscall.WaitStatus(binary.LittleEndian.Uint32(buf[1:]))
			status = &s
		case buf[0] == msgListener:
			p.serveListener(oob[:oobn])
		}
	}
}

// serveListener serves connections that are made inside.
func (p *process) serveListener(oob []byte) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(msgs) != 1 {
		return
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil || len(fds) != 1 {
		return
	}
	f := os.NewFile(uintptr(fds[0]), "network")
	defer f.Close()
	if l, err := net.FileListener(f); err == nil && ServeNetwork != nil {
		go ServeNetwork(l, p.spec.Sandbox.Namespaces.Serve)
	}
}

// exitLike exits with the status of another process, or by its signal.
func exitLike(ws syscall.WaitStatus) {
	if !ws.Signaled() {
		os.Exit(ws.ExitStatus())
	}
	s := ws.Signal()
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // only the program dumps core
	signal.Reset()
	var dflt [4]uint64 // struct sigaction: SIG_DFL, no flags, no mask
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&dflt)), 0, 8, 0, 0)
	runtime.KeepAlive(&dflt)
	_ = syscall.Kill(os.Getpid(), s)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// runFirst mounts, starts the program and reaps until it has exited. It returns only an error before the start.
func (p *process) runFirst() error {
	unix.CloseOnExec(outerFD)
	signals := make(chan os.Signal, 64)
	signal.Notify(signals) // the kernel delivers to pid 1 only the signals it requested
	exe, err := unix.Open(sys.Executable, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	ns := p.spec.Sandbox.Namespaces
	if err := lockAll(ns.Locks); err != nil {
		return err
	}
	if dir := p.spec.Sandbox.ProbeDraftDir; dir != "" {
		if err := tryOverlay(dir); err != nil {
			return err
		}
	}
	meter, err := newDraftMeter(ns)
	if err != nil {
		return err
	}
	if err := makeRoot(ns); err != nil {
		return err
	}
	if ns.Network {
		if err := p.setUpNetwork(); err != nil {
			return err
		}
	}
	argv, env, err := p.nextCommand(stageInside)
	if err != nil {
		return err
	}
	if ns.Port > 0 {
		env = withProxyEnv(env, ns.Port)
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	shim, null, err := p.shimOrNull()
	if err != nil {
		return err
	}
	pid, err := syscall.ForkExec(sys.DescriptorPath(exeFD), argv, &syscall.ProcAttr{
		Files: []uintptr{0, 1, 2, uintptr(shim), uintptr(exe)},
		Env:   env,
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: sys.TerminalOf(0) != ""},
	})
	if err != nil {
		return fmt.Errorf("start the program in its namespaces: %w", err)
	}
	_ = unix.Close(wire.ShimFD)
	for fd := range 3 {
		_ = unix.Dup3(null, fd, 0)
	}
	if meter != nil {
		go meter.run()
	}
	var signalMu sync.Mutex // guards signals: a reaped pid gets none
	ended := false
	go func() {
		for s := range signals {
			switch s {
			case syscall.SIGCHLD, syscall.SIGURG, syscall.SIGPIPE:
				continue
			}
			signalMu.Lock()
			if !ended {
				_ = syscall.Kill(-pid, s.(syscall.Signal))
			}
			signalMu.Unlock()
		}
	}()
	for {
		var ws syscall.WaitStatus
		got, err := waitAny(&ws, &signalMu, &ended, pid)
		if errors.Is(err, syscall.ECHILD) {
			os.Exit(exitNotStarted)
		}
		if got == pid {
			if !ws.Exited() || ws.ExitStatus() != 0 {
				meter.reportFullFile()
			}
			msg := binary.LittleEndian.AppendUint32([]byte{msgEnded}, uint32(ws))
			_ = unix.Sendmsg(outerFD, msg, nil, nil, unix.MSG_NOSIGNAL)
			os.Exit(0) // the kernel ends the other processes
		}
	}
}

// waitAny reaps a process. After the program itself, no more signals are forwarded.
func waitAny(ws *syscall.WaitStatus, signalMu *sync.Mutex, ended *bool, pid int) (int, error) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, err
		}
		break
	}
	signalMu.Lock()
	defer signalMu.Unlock()
	got, err := syscall.Wait4(-1, ws, syscall.WNOHANG, nil)
	*ended = *ended || got == pid
	return got, err
}

// setUpNetwork enables loopback and passes listeners on it to the outer process.
func (p *process) setUpNetwork() error {
	if err := sys.EnableLoopback(); err != nil {
		return err
	}
	ns := p.spec.Sandbox.Namespaces
	if ns.Port == 0 {
		return nil
	}
	for _, at := range append([]netip.AddrPort{netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(ns.Port))}, ns.Local...) {
		if err := sendListener(at); err != nil {
			return fmt.Errorf("listen at %s inside: %w", at, err)
		}
	}
	return nil
}

// sendListener listens at an address and passes the listener to the outer process.
func sendListener(at netip.AddrPort) error {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(at))
	if err != nil {
		return err
	}
	f, err := l.File()
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(f.Close(), l.Close()) }()
	return unix.Sendmsg(outerFD, []byte{msgListener}, unix.UnixRights(int(f.Fd())), nil, unix.MSG_NOSIGNAL)
}

// withProxyEnv returns an environment with the proxy's variables.
func withProxyEnv(env []string, port int) []string {
	at := "127.0.0.1:" + strconv.Itoa(port)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		env = append(env, name+"=http://"+at)
	}
	for _, name := range []string{"ALL_PROXY", "all_proxy"} {
		env = append(env, name+"=socks5h://"+at)
	}
	return append(env, "NO_PROXY=127.0.0.1,localhost,::1", "no_proxy=127.0.0.1,localhost,::1")
}
