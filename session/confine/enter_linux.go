package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// exitNotStarted is the exit status of a process that did not execute its program.
const exitNotStarted = 126

// Enter applies the spec that this process was started with and executes the program; then it does not return. In any other
// process it returns at once.
func Enter() {
	spec, argv, ok, err := ownSpec(os.Args, os.Environ())
	if !ok {
		return
	}
	runtime.LockOSThread() // restrictions apply to the thread that executes
	unix.CloseOnExec(wire.ShimFD)
	k := keeperConn{isConnected: isSocket(wire.ShimFD)}
	if err == nil {
		err = applyAndExec(spec, argv, slices.DeleteFunc(os.Environ(), isSpec), k)
	}
	k.reportFailure(err)
	os.Exit(exitNotStarted)
}

// applyAndExec returns only an error that kept the program from being executed.
func applyAndExec(spec Spec, argv, env []string, k keeperConn) error {
	p := process{spec: spec, argv: argv, env: env, listener: -1, keeper: k.isConnected}
	for _, s := range steps {
		if err := s.apply(&p); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if spec.Sandbox != nil && spec.Sandbox.Probe {
		os.Exit(0)
	}
	if err := k.sendReport(&p); err != nil {
		return err
	}
	path, err := comparedPath(&spec)
	if err != nil {
		return err
	}
	return syscall.Exec(path, argv, env)
}

// comparedPath returns the path to execute if the program's file is the intended one. The file stays open from the
// comparison on and is executed by its descriptor, so that it cannot be replaced in between. Exceptions are scripts, whose
// interpreter opens them by path, programs of another machine, and a hidden link.
func comparedPath(spec *Spec) (path string, err error) {
	if spec.File == "" {
		return spec.Path, nil
	}
	another := fmt.Errorf("%s is another file now than when it was judged: %w", spec.Path, unix.EPERM)
	fd, err := unix.Open(spec.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
	switch {
	case err != nil:
		return "", err
	case sys.FileIDOf(fd) != spec.File:
		return "", another
	case spec.Link == "" || unix.Dup3(fd, comparedFD, unix.O_CLOEXEC) != nil:
		return spec.Path, nil
	}
	switch sys.FileID(spec.Link) {
	case "":
		return spec.Path, nil
	case spec.File:
	default:
		return "", another
	}
	if kind := machineOf(spec.Link); kind != "" && kind != machineOf(sys.Executable) {
		return spec.Path, nil
	}
	return spec.Link, nil
}

// machineOf returns the machine of a program file from its ELF header; "other" for other files; empty if unreadable, in
// which case no script could run either.
func machineOf(path string) string {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	head := make([]byte, 20)
	if n, err := unix.Read(fd, head); err != nil || n < len(head) || string(head[:4]) != "\x7fELF" {
		return "other"
	}
	return string(head[4:6]) + string(head[18:20]) // class and order of bytes, e_machine
}

// keeperConn is the connection to the keeper, if there is one: a keeper of an older version has none.
type keeperConn struct{ isConnected bool }

// isSocket reports whether a descriptor is a SOCK_SEQPACKET socket.
func isSocket(fd int) bool {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	return err == nil && kind == unix.SOCK_SEQPACKET
}

// errOldKeeper is the error of a keeper without a connection.
var errOldKeeper = errors.New("the keeper is of an older version")

// sendReport passes the listener and the report to the keeper and waits for its permission.
func (k keeperConn) sendReport(p *process) error {
	if !k.isConnected {
		return nil
	}
	if p.listener >= 0 {
		rights := unix.UnixRights(p.listener)
		if err := unix.Sendmsg(wire.ShimFD, []byte{wire.ShimListener}, rights, nil, 0); err != nil {
			return fmt.Errorf("hand the listener to the keeper: %w", err)
		}
		if err := unix.Close(p.listener); err != nil {
			return err
		}
	}
	report, err := json.Marshal(p.report)
	if err != nil {
		return err
	}
	if err := k.send(wire.ShimReport, report); err != nil {
		return fmt.Errorf("report to the keeper: %w", err)
	}
	word := make([]byte, 1)
	for {
		n, err := unix.Read(wire.ShimFD, word)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || n != 1 || word[0] != wire.ShimGo:
			return fmt.Errorf("no permission from the keeper to start: %w", errors.Join(err))
		default:
			return nil
		}
	}
}

// send sends a message of the shim protocol to the keeper.
func (k keeperConn) send(what byte, text []byte) error {
	msg := append([]byte{what}, text...)
	return unix.Sendmsg(wire.ShimFD, msg[:min(len(msg), wire.MaxShim)], nil, nil, unix.MSG_NOSIGNAL)
}

// reportFailure reports why the program was not started: to the keeper, or on standard error.
func (k keeperConn) reportFailure(err error) {
	var errno syscall.Errno
	_ = errors.As(err, &errno)
	if !k.isConnected || k.send(wire.ShimError, fmt.Appendf(nil, "%s %v", strconv.Itoa(int(errno)), err)) != nil {
		fmt.Fprintln(os.Stderr, "longterm: not started:", err)
	}
}
