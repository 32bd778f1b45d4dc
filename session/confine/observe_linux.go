package confine

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/confine/bpf"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// pathCall describes the path argument of a system call, and the operation on the path.
type pathCall struct {
	dir, path int // argument indices; dir -1: none
	flags     int // argument index of the flags of open, -1: none
	operation string
}

// observedCalls are the system calls that are recorded. Calls of one machine only are in a separate file.
var observedCalls = map[uint32]pathCall{
	unix.SYS_OPENAT: {0, 1, 2, "read"}, unix.SYS_EXECVE: {-1, 0, -1, "exec"}, unix.SYS_EXECVEAT: {0, 1, -1, "exec"},
	unix.SYS_MKDIRAT: {0, 1, -1, "make"}, unix.SYS_UNLINKAT: {0, 1, -1, "make"}, unix.SYS_SYMLINKAT: {1, 2, -1, "make"},
	unix.SYS_LINKAT: {2, 3, -1, "make"}, unix.SYS_RENAMEAT2: {2, 3, -1, "make"}, unix.SYS_TRUNCATE: {-1, 0, -1, "write"},
	unix.SYS_FCHMODAT: {0, 1, -1, "write"}, unix.SYS_CHDIR: {-1, 0, -1, "read"}, unix.SYS_MKNODAT: {0, 1, -1, "make"},
}

// observe returns nil only in the process that executes the program.
func (p *process) observe() error {
	if p.spec.Observe == nil {
		return nil
	}
	if p.spec.Observe.Stage == stageOutside {
		return p.runObserved()
	}
	unix.CloseOnExec(outerFD)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	rules := []bpf.Rule{{Nr: unix.SYS_CONNECT, Action: bpf.Ask}}
	for nr := range observedCalls {
		rules = append(rules, bpf.Rule{Nr: nr, Action: bpf.Ask})
	}
	prog, err := bpf.Assemble(rules)
	if err != nil {
		return err
	}
	listener, err := newListener(prog)
	if err != nil {
		return err
	}
	if err := unix.Sendmsg(outerFD, []byte{msgListener}, unix.UnixRights(listener), nil, unix.MSG_NOSIGNAL); err != nil {
		return err
	}
	return unix.Close(listener)
}

// runObserved starts the program as a child, records its accesses and exits like it. Both are in one group on the terminal, so
// that signals reach the program.
func (p *process) runObserved() error {
	out, err := os.OpenFile(p.spec.Observe.File, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	next := p.spec
	next.Observe = &Observe{Stage: stageInside}
	argv, env, err := next.Command(p.argv, p.env)
	if err != nil {
		return err
	}
	tie, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	shim, _, err := p.shimOrNull()
	if err != nil {
		return err
	}
	pid, err := syscall.ForkExec(sys.Executable, argv, &syscall.ProcAttr{
		Files: []uintptr{0, 1, 2, uintptr(shim), uintptr(tie[1])}, Env: env, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return err
	}
	ignoreSignals()
	_ = unix.Close(tie[1])
	_ = unix.Close(wire.ShimFD)
	listener := receiveListener(tie[0])
	ended := make(chan syscall.WaitStatus, 1)
	go func() {
		var ws syscall.WaitStatus
		for {
			if _, err := syscall.Wait4(pid, &ws, 0, nil); !errors.Is(err, syscall.EINTR) {
				ended <- ws
				return
			}
		}
	}()
	w := recorder{out: bufio.NewWriter(out), seen: map[Observed]bool{}}
	ws := w.recordCalls(listener, ended)
	_, _ = w.out.WriteString("end\n")
	_ = errors.Join(w.out.Flush(), out.Close()) // a reader that waits for the end marker notices an error
	exitLike(ws)
	return nil
}

// receiveListener receives the program's listener, or returns -1.
func receiveListener(tie int) int {
	buf, oob := make([]byte, 8), make([]byte, 64)
	for {
		_, oobn, _, _, err := unix.Recvmsg(tie, buf, oob, unix.MSG_CMSG_CLOEXEC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if msgs, err2 := unix.ParseSocketControlMessage(oob[:oobn]); err == nil && err2 == nil && len(msgs) == 1 {
			if fds, err := unix.ParseUnixRights(&msgs[0]); err == nil && len(fds) == 1 {
				return fds[0]
			}
		}
		return -1
	}
}

// recorder records each access once.
type recorder struct {
	out  *bufio.Writer
	seen map[Observed]bool
}

// maxObserved bounds the recorded accesses.
const maxObserved = 200_000

// recordCalls records calls and lets them proceed, until the program has exited.
func (w *recorder) recordCalls(listener int, ended <-chan syscall.WaitStatus) syscall.WaitStatus {
	if listener < 0 {
		return <-ended
	}
	for {
		n, err := sys.ReceiveNotification(listener)
		switch {
		case err == nil:
			for _, o := range w.accessOf(n) {
				w.record(o)
			}
			_ = sys.AnswerNotification(listener, n.ID, 0) // the caller was killed meanwhile
		case errors.Is(err, sys.ErrNoNotification):
			select {
			case ws := <-ended:
				return ws
			default:
				_, _ = unix.Poll([]unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}, 20)
			}
		default:
			return <-ended
		}
	}
}

// record writes an access unless it was recorded before.
func (w *recorder) record(o Observed) {
	if w.seen[o] || len(w.seen) >= maxObserved {
		return
	}
	w.seen[o] = true
	if b, err := json.Marshal(o); err == nil {
		_, _ = w.out.Write(append(b, '\n'))
	}
}

// accessOf returns the accesses of a call.
func (w *recorder) accessOf(n sys.Notification) []Observed {
	if n.Nr == unix.SYS_CONNECT {
		return destinationOf(sys.ReadBytes(n.PID, n.Args[1], int(min(n.Args[2], 128))))
	}
	c, ok := observedCalls[uint32(n.Nr)]
	if !ok {
		return nil
	}
	path := sys.ReadPath(n.PID, n.Args[c.path])
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		dir, err := sys.Cwd(n.PID)
		if c.dir >= 0 && int32(n.Args[c.dir]) != unix.AT_FDCWD {
			dir, err = sys.DescriptorTarget(n.PID, int(int32(n.Args[c.dir])))
		}
		if err != nil || !filepath.IsAbs(dir) {
			return nil
		}
		path = filepath.Join(dir, path)
	}
	o := Observed{Operation: c.operation, Path: filepath.Clean(path)}
	_, err := os.Lstat(o.Path)
	if c.flags >= 0 && n.Args[c.flags]&(unix.O_WRONLY|unix.O_RDWR|unix.O_TRUNC|unix.O_CREAT) != 0 {
		if o.Operation = "write"; err != nil {
			o.Operation = "make"
		}
	}
	if err != nil && o.Operation != "make" { // a lookup of a missing file
		return nil
	}
	return []Observed{o}
}

// destinationOf returns the destination of a socket address.
func destinationOf(b []byte) []Observed {
	if len(b) < 4 {
		return nil
	}
	port := binary.BigEndian.Uint16(b[2:])
	switch family := binary.NativeEndian.Uint16(b); {
	case family == unix.AF_INET && len(b) >= 8:
		a, _ := netip.AddrFromSlice(b[4:8])
		return []Observed{{Operation: "connect", Host: netip.AddrPortFrom(a, port).String()}}
	case family == unix.AF_INET6 && len(b) >= 24:
		a, _ := netip.AddrFromSlice(b[8:24])
		return []Observed{{Operation: "connect", Host: netip.AddrPortFrom(a.Unmap(), port).String()}}
	case family == unix.AF_UNIX && b[2] != 0:
		return []Observed{{Operation: "unix", Path: string(cString(b[2:]))}}
	}
	return nil
}

func cString(b []byte) []byte {
	for i, c := range b {
		if c == 0 {
			return b[:i]
		}
	}
	return b
}
