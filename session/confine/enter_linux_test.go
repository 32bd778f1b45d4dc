package confine

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/session/sys"
)

// shim is a confined process and the keeper's end of its socket.
type shim struct {
	t        *testing.T
	cmd      *exec.Cmd
	fd       int
	out      strings.Builder
	listener int
	report   Report
	swapped  func() // called while an execution waits for its answer
}

// startShim starts a confined process.
func startShim(t *testing.T, s Spec, argv ...string) *shim {
	t.Helper()
	path := tier.Path(t, argv[0])
	if s.Path == "" {
		s.Path = path
	}
	args, env, err := s.Command(argv, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "shim")
	defer theirs.Close()
	h := &shim{t: t, fd: pair[0], listener: -1}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h.cmd = &exec.Cmd{Path: exe, Args: args, Env: env, Stdout: &h.out, Stderr: &h.out, ExtraFiles: []*os.File{theirs}}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // a second wait returns an error
		_ = unix.Close(h.fd)
		_ = unix.Close(h.listener)
		_ = h.cmd.Process.Kill()
		_ = h.cmd.Wait()
	})
	return h
}

// message returns the next message of the shim; 0: none is left.
func (h *shim) message() (kind byte, text string) {
	h.t.Helper()
	buf, oob := make([]byte, wire.MaxShim), make([]byte, 64)
	n, oobn, _, _, err := unix.Recvmsg(h.fd, buf, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		h.t.Fatal(err)
	}
	if n == 0 {
		return 0, ""
	}
	if msgs, err := unix.ParseSocketControlMessage(oob[:oobn]); err == nil && len(msgs) == 1 {
		if fds, err := unix.ParseUnixRights(&msgs[0]); err == nil && len(fds) == 1 {
			h.listener = fds[0]
		}
	}
	return buf[0], string(buf[1:n])
}

// permit lets the shim continue after its report.
func (h *shim) permit() {
	h.t.Helper()
	kind, text := h.message()
	if kind == wire.ShimListener {
		kind, text = h.message()
	}
	if kind != wire.ShimReport || json.Unmarshal([]byte(text), &h.report) != nil {
		h.t.Fatalf("%c %s", kind, text)
	}
	if _, err := unix.Write(h.fd, []byte{wire.ShimGo}); err != nil {
		h.t.Fatal(err)
	}
}

// wait returns the exit status and the output.
func (h *shim) wait() (int, string) {
	err := h.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return h.cmd.ProcessState.ExitCode(), h.out.String()
}

// answer answers the next waiting execution.
func (h *shim) answer(errno int32) (ok bool) {
	h.t.Helper()
	var ask [80]byte // struct seccomp_notif
	for {
		poll := []unix.PollFd{{Fd: int32(h.listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err == unix.EINTR {
			continue
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			return false // all processes exited
		}
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(h.listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&ask))); errno == 0 {
			break
		}
	}
	if h.swapped != nil {
		h.swapped()
	}
	reply := struct {
		id    uint64
		val   int64
		errno int32
		flags uint32
	}{id: *(*uint64)(unsafe.Pointer(&ask)), errno: -errno}
	if errno == 0 {
		reply.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
	}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(h.listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&reply))); errno != 0 {
		h.t.Fatal(errno)
	}
	return true
}

// skipWithoutChecks skips the test if execution checks are unsupported.
func skipWithoutChecks(t *testing.T) {
	t.Helper()
	if err := Probe(); err != nil {
		t.Skip(err)
	}
}

// TestEnter checks that the program starts after the keeper's permission, with clean descriptors and environment. Its
// executions are reported and can be rejected.
//
// FEATURES: R107
func TestEnter(t *testing.T) {
	skipWithoutChecks(t)
	h := startShim(t, Spec{Executions: ExecutionsRequired}, "sh", "-c",
		`echo "$0 $1"; /bin/ls /proc/self/fd 2>&1 || echo refused; for f in 3 4 5 6 7 8 9; do [ -e /proc/self/fd/$f ] && echo open $f; done; echo "[$LONGTERM_CONFINE]"; exit 7`,
		"zero", "a b")
	h.permit()
	if !h.report.Executions || h.listener < 0 {
		t.Fatalf("%+v, listener %d", h.report, h.listener)
	}
	h.answer(0) // the program itself
	if kind, text := h.message(); kind != 0 {
		t.Fatalf("%c %s", kind, text)
	}
	h.answer(int32(unix.EPERM)) // ls
	if h.answer(0) {
		t.Error("got another execution")
	}
	code, out := h.wait()
	if code != 7 || !strings.HasPrefix(out, "zero a b\n") || !strings.Contains(out, "refused\n[]\n") {
		t.Errorf("%d, %q", code, out)
	}
}

// TestEnter_ExecutesComparedFile checks that the compared file is executed, even if its path is replaced before the
// kernel looks it up, and keeps its process name. A link to another file is not followed.
//
// FEATURES: R61 R107
func TestEnter_ExecutesComparedFile(t *testing.T) {
	skipWithoutChecks(t)
	cat := tier.Path(t, "cat")
	dir := t.TempDir()
	tool, other, link := filepath.Join(dir, "tool"), filepath.Join(dir, "other"), filepath.Join(dir, "links", "tool")
	program, err := os.ReadFile(cat)
	if err == nil {
		err = errors.Join(os.WriteFile(tool, program, 0o755), os.WriteFile(other, []byte("#!/bin/sh\necho swapped\n"), 0o755),
			os.Mkdir(filepath.Dir(link), 0o700), os.Symlink(ComparedFile, link))
	}
	if err != nil {
		t.Fatal(err)
	}
	s := Spec{Path: tool, File: sys.FileID(tool), Link: link, Executions: ExecutionsRequired}
	h := startShim(t, s, cat, "/proc/self/comm")
	h.permit()
	h.swapped = func() {
		if err := os.Rename(other, tool); err != nil {
			t.Error(err)
		}
	}
	h.answer(0)
	if code, out := h.wait(); code != 0 || out != "tool\n" {
		t.Errorf("%d, %q", code, out)
	}

	elsewhere := filepath.Join(dir, "elsewhere")
	if err := os.Symlink(cat, elsewhere); err != nil {
		t.Fatal(err)
	}
	h = startShim(t, Spec{Path: tool, File: sys.FileID(tool), Link: elsewhere}, cat, "/proc/self/comm")
	h.permit()
	if kind, text := h.message(); kind != wire.ShimError || !strings.Contains(text, "another file now") {
		t.Errorf("%c %s", kind, text)
	}
}

// TestEnter_ComparedScript checks that a script is executed by its path, which its interpreter opens.
func TestEnter_ComparedScript(t *testing.T) {
	dir := t.TempDir()
	script, link := filepath.Join(dir, "script"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(script, []byte("#!/bin/sh\necho \"$0\"\n"), 0o755), os.Symlink(ComparedFile, link)); err != nil {
		t.Fatal(err)
	}
	h := startShim(t, Spec{Path: script, File: sys.FileID(script), Link: link}, "/bin/sh")
	h.permit()
	if code, out := h.wait(); code != 0 || out != script+"\n" {
		t.Errorf("%d, %q", code, out)
	}
}

// TestEnter_Fails checks that an execution that fails is reported to the keeper.
func TestEnter_Fails(t *testing.T) {
	skipWithoutChecks(t)
	for name, c := range map[string]struct {
		spec Spec
		want string
	}{
		"no such file":  {Spec{Path: "/does/not/exist"}, "2 no such file"},
		"not a program": {Spec{Path: "/etc/passwd"}, "13 permission denied"},
		"another file":  {Spec{Path: "/bin/true", File: "1.2.3"}, "1 /bin/true is another file now"},
		"no such call":  {Spec{Calls: []Call{{Name: "format_disk"}}}, `0 system calls: unknown system call "format_disk"`},
	} {
		h := startShim(t, c.spec, "true")
		kind, text := h.message()
		if kind == wire.ShimReport {
			if _, err := unix.Write(h.fd, []byte{wire.ShimGo}); err != nil {
				t.Fatal(err)
			}
			kind, text = h.message()
		}
		if kind != wire.ShimError || text != c.want && !strings.HasPrefix(text, c.want) {
			t.Errorf("%s: %c %s", name, kind, text)
		}
		if code, _ := h.wait(); code != exitNotStarted {
			t.Errorf("%s: exit status %d", name, code)
		}
	}
}

// TestEnter_WithoutListenerOwner checks that without a keeper for the listener, the program starts if checks are only
// wanted.
func TestEnter_WithoutListenerOwner(t *testing.T) {
	skipWithoutChecks(t)
	for want, code := range map[Executions]int{ExecutionsRequired: exitNotStarted, ExecutionsWanted: 0} {
		s := Spec{Path: "/bin/true", Executions: want}
		args, env, err := s.Command([]string{"true"}, os.Environ())
		if err != nil {
			t.Fatal(err)
		}
		exe, _ := os.Executable()
		cmd := &exec.Cmd{Path: exe, Args: args, Env: env}
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(string(out), "older version") && code != 0 {
			t.Errorf("%s: %d, %s", want, got, out)
		}
	}
}

// TestEnter_SecondListener checks that a second listener is rejected with the reason.
func TestEnter_SecondListener(t *testing.T) {
	skipWithoutChecks(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := startShim(t, Spec{Path: exe, Executions: ExecutionsRequired}, exe, "probe")
	h.permit()
	h.answer(0)
	if code, out := h.wait(); code != 1 || !strings.Contains(out, "another listener exists") {
		t.Errorf("%d, %q", code, out)
	}
}

// TestCalls checks that rejected calls fail, depending on their arguments, and other calls succeed.
func TestCalls(t *testing.T) {
	python := tier.Path(t, "python3")
	h := startShim(t, Spec{Path: python, Calls: []Call{
		{Name: "socket", Args: []Arg{{Index: 0, Mask: 0xffffffff, Value: unix.AF_NETLINK}}},
		{Name: "sethostname", Errno: int(unix.ENOSYS)},
		{Name: "create_module"},
	}}, "python3", "-c", `
import socket, errno
socket.socket(socket.AF_UNIX).close()
try: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
except OSError as e: print(errno.errorcode[e.errno])
try: socket.sethostname("x")
except OSError as e: print(errno.errorcode[e.errno])
`)
	h.permit()
	if h.report.Executions || len(h.report.Levels) != 1 {
		t.Errorf("%+v", h.report)
	}
	if code, out := h.wait(); code != 0 || out != "EPERM\nENOSYS\n" {
		t.Errorf("%d, %q", code, out)
	}
}
