package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// escapeTarget is what a program tries to reach from inside of a sandbox. It is passed as arguments.
type escapeTarget struct {
	cwd, outside, own, hidden, sock, abstract, tcp, udp, ipc, cgroup string
	pid                                                              int
}

func (g *escapeTarget) args() []string {
	return []string{"escape", g.cwd, g.outside, g.own, g.hidden, g.sock, g.abstract, g.tcp, g.udp, g.ipc, g.cgroup, strconv.Itoa(g.pid)}
}

// runAttempts makes all attempts and prints KEY and whether each one escaped.
func runAttempts(args []string) {
	pid, _ := strconv.Atoi(args[10])
	g := &escapeTarget{args[0], args[1], args[2], args[3], args[4], args[5], args[6], args[7], args[8], args[9], pid}
	for _, a := range escapeAttempts {
		fmt.Printf("%s %v\n", a.key, a.try(g))
	}
	os.Exit(0)
}

// anySucceeded reports whether one of several ways worked.
func anySucceeded(ways ...error) bool {
	for _, err := range ways {
		if err == nil {
			return true
		}
	}
	return false
}

// escapeAttempts are by the key of the Restriction they test. An attempt that leaves no trace outside reports its result.
var escapeAttempts = []struct {
	key string
	try func(*escapeTarget) bool
}{
	{"write", func(g *escapeTarget) bool {
		up := strings.Repeat("../", strings.Count(g.cwd, "/"))
		link := filepath.Join(g.cwd, "src/link")
		_ = os.Symlink(g.outside, link)
		hard := filepath.Join(g.cwd, "src/hard")
		return anySucceeded(
			os.WriteFile(filepath.Join(link, "by-link"), nil, 0o600),
			os.WriteFile("/proc/self/root"+g.outside+"/by-root", nil, 0o600),
			os.WriteFile("/proc/self/cwd/"+up+g.outside+"/by-dots", nil, 0o600),
			errors.Join(os.Link(g.outside+"/file", hard), os.WriteFile(hard, []byte("x"), 0o600)),
			os.Rename(g.outside+"/file", g.cwd+"/src/taken"),
			os.Rename(g.cwd+"/src/mine", g.outside+"/put"),
			os.Truncate(g.outside+"/file", 0),
			os.Remove(g.outside+"/file"),
			os.Mkdir(g.outside+"/dir", 0o700),
		)
	}},
	{"attributes", func(g *escapeTarget) bool { return os.Chmod(g.outside+"/mode", 0o777) == nil }},
	{"protect", func(g *escapeTarget) bool {
		_ = os.WriteFile(filepath.Dir(g.cwd)+"/.bashrc", []byte("x"), 0o600) // the test checks outside whether it is that file
		git := filepath.Join(g.cwd, ".git")
		nested := filepath.Join(g.cwd, "nested/deep") // a repository whose parents could be exchanged
		return anySucceeded(
			os.WriteFile(git+"/hooks/pre-commit", []byte("#!/bin/sh\n"), 0o700),
			os.WriteFile(git+"/config", []byte("[core]\n"), 0o600),
			os.Rename(git, g.cwd+"/src/git"),
			os.Rename(git+"/hooks", g.cwd+"/src/hooks"),
			os.Rename(g.cwd+"/src/mine", git+"/hooks/post-commit"),
			os.Symlink("/tmp", git+"/hooks/x"),
			os.WriteFile(nested+"/.git/config", []byte("[core]\n"), 0o600),
			os.Rename(nested, g.cwd+"/src/deep"),
			os.Rename(filepath.Dir(nested), g.cwd+"/src/nested"),
		)
	}},
	{"hide", func(g *escapeTarget) bool {
		_, err := os.ReadFile(g.hidden)
		_, err2 := os.ReadFile("/proc/self/root" + g.hidden)
		_, err3 := os.ReadFile(fmt.Sprintf("/proc/%d/root%s", g.pid, g.hidden))
		return anySucceeded(err, err2, err3)
	}},
	{"names", func(g *escapeTarget) bool {
		e, err := os.ReadDir(g.own)
		return err == nil && len(e) > 0
	}},
	{"devices", func(g *escapeTarget) bool {
		node := filepath.Join(g.cwd, "src/disk")
		_ = unix.Mknod(node, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 11))) // kmsg exists everywhere
		defer os.Remove(node)
		for _, path := range []string{node, "/dev/kmsg", "/dev/mem"} {
			if f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
				_ = f.Close()
				return true
			}
		}
		return false
	}},
	{"kernel", func(*escapeTarget) bool {
		f, err := os.OpenFile("/proc/sys/kernel/core_pattern", os.O_WRONLY, 0)
		if err == nil {
			_ = f.Close()
		}
		return err == nil
	}},
	{"cgroups", func(g *escapeTarget) bool { // the concatenated name is not found by a search of the source
		out := false
		for _, root := range []string{"", "/proc/self/root"} {
			for _, file := range []string{"freeze", "kill"} {
				f, err := os.OpenFile(root+g.cgroup+"/"+strings.Join([]string{"cgroup", file}, "."), os.O_WRONLY, 0)
				if err != nil {
					continue
				}
				_, err = f.WriteString("1")
				_ = f.Close()
				out = out || err == nil
			}
		}
		return out
	}},
	{"signal", func(g *escapeTarget) bool { return syscall.Kill(g.pid, 0) == nil }},
	{"ptrace", func(g *escapeTarget) bool {
		var b [1]byte
		local := []unix.Iovec{{Base: &b[0], Len: 1}}
		_, errno := unix.ProcessVMReadv(g.pid, local, []unix.RemoteIovec{{Base: 0x1000, Len: 1}}, 0)
		f, err := os.Open(fmt.Sprintf("/proc/%d/mem", g.pid))
		if err == nil {
			_ = f.Close()
		}
		leads := false // inherited descriptors by which other directories may be open
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", os.Getppid()))
		for _, fd := range fds {
			_, err := os.Readlink(fd)
			leads = leads || err == nil
		}
		return errors.Is(errno, unix.EFAULT) || err == nil || leads // the call is allowed but finds nothing at that address
	}},
	{"processes", func(g *escapeTarget) bool { _, err := os.Stat(fmt.Sprintf("/proc/%d", g.pid)); return err == nil }},
	{"abstract", func(g *escapeTarget) bool { return connects("unix", g.abstract) }},
	{"sockets", func(g *escapeTarget) bool { return connects("unix", g.sock) }},
	{"tcp", func(g *escapeTarget) bool { return connects("tcp", g.tcp) }},
	{"udp", func(g *escapeTarget) bool { // the test checks outside whether it arrived
		if c, err := net.Dial("udp", g.udp); err == nil {
			_, _ = io.WriteString(c, "x")
			_ = c.Close()
		}
		return false
	}},
	{"raw", func(*escapeTarget) bool {
		for _, s := range [][3]int{{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}, {unix.AF_PACKET, unix.SOCK_RAW, 0}, {unix.AF_VSOCK, unix.SOCK_STREAM, 0}, {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT}} {
			if fd, err := unix.Socket(s[0], s[1], s[2]); err == nil {
				_ = unix.Close(fd)
				return true
			}
		}
		return false
	}},
	{"tiocsti", func(*escapeTarget) bool {
		b := byte('x')
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&b)))
		_, _, high := unix.Syscall(unix.SYS_IOCTL, 0, unix.TIOCSTI|1<<40, uintptr(unsafe.Pointer(&b))) // the kernel reads 32 bits
		return errno != unix.EPERM || high != unix.EPERM
	}},
	{"iouring", func(*escapeTarget) bool {
		var params [120]byte
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
		return errno != unix.EPERM
	}},
	{"keys", func(*escapeTarget) bool {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
		_, _, bpf := unix.Syscall(unix.SYS_BPF, 0, 0, 0)
		_, _, fault := unix.Syscall(unix.SYS_USERFAULTFD, 0, 0, 0)
		return err == nil || bpf != unix.EPERM || fault != unix.EPERM
	}},
	{"namespaces", func(g *escapeTarget) bool {
		cmd := exec.Command("true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
		_, _, clone3 := unix.Syscall(unix.SYS_CLONE3, 0, 0, 0)
		mounted := unix.Mount("x", g.cwd+"/sub", "tmpfs", 0, "")
		if mounted == nil {
			_ = unix.Unmount(g.cwd+"/sub", 0)
		}
		return anySucceeded(cmd.Run(), mounted, unix.Chroot("/")) || clone3 != unix.ENOSYS
	}},
	{"setuid", func(*escapeTarget) bool {
		v, _, _ := unix.Syscall6(unix.SYS_PRCTL, unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0)
		return v != 1
	}},
	{"setid", func(g *escapeTarget) bool {
		file := filepath.Join(g.cwd, "src/setid")
		for _, bit := range []uint32{unix.S_ISUID, unix.S_ISGID} {
			mode := bit | 0o755
			_ = os.Remove(file)
			if err := os.WriteFile(file, nil, 0o755); err != nil {
				return true
			}
			f, err := os.Open(file)
			if err != nil {
				return true
			}
			_ = unix.Chmod(file, mode)
			_ = unix.Fchmod(int(f.Fd()), mode)
			_ = unix.Fchmodat(unix.AT_FDCWD, file, mode, 0)
			_, _, _ = unix.Syscall6(unix.SYS_FCHMODAT2, f.Fd(), uintptr(unsafe.Pointer(&[]byte{0}[0])), uintptr(mode), unix.AT_EMPTY_PATH, 0, 0)
			_ = f.Close()
			if hasSetID(file) {
				return true
			}
			for i, made := range []func(string) (int, error){
				func(s string) (int, error) { return unix.Open(s, unix.O_CREAT|unix.O_WRONLY, mode) },
				func(s string) (int, error) { return unix.Openat(unix.AT_FDCWD, s, unix.O_CREAT|unix.O_WRONLY, mode) },
				func(s string) (int, error) {
					return unix.Openat2(unix.AT_FDCWD, s, &unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: uint64(mode)})
				},
				func(s string) (int, error) { return -1, unix.Mknod(s, unix.S_IFREG|mode, 0) },
				func(s string) (int, error) {
					fd, err := unix.Open(filepath.Dir(s), unix.O_TMPFILE|unix.O_WRONLY, mode)
					if err == nil {
						err = unix.Linkat(unix.AT_FDCWD, fmt.Sprint("/proc/self/fd/", fd), unix.AT_FDCWD, s, unix.AT_SYMLINK_FOLLOW)
					}
					return fd, err
				},
			} {
				name := fmt.Sprint(file, bit, i)
				if fd, err := made(name); err == nil && fd >= 0 {
					_ = unix.Close(fd)
				}
				if hasSetID(name) {
					return true
				}
			}
		}
		return false
	}},
	{"ipc", func(g *escapeTarget) bool {
		key, _ := strconv.Atoi(g.ipc)
		_, err := unix.SysvShmGet(key, 0, 0)
		return err == nil
	}},
	{"left", func(g *escapeTarget) bool { // the test checks outside whether it runs
		r, w, err := os.Pipe()
		if err != nil {
			return false
		}
		cmd := exec.Command("sh", "-c", `exec 9<>"$1"; echo ready >&3; exec 3>&-; read x <&9`, "sh", g.cwd+"/src/fifo")
		cmd.ExtraFiles, cmd.SysProcAttr = []*os.File{w}, &syscall.SysProcAttr{Setsid: true}
		if cmd.Start() == nil {
			_ = w.Close()
			_ = r.SetReadDeadline(time.Now().Add(time.Minute))
			_, _ = io.ReadAll(r)
		}
		return false
	}},
}

func hasSetID(file string) bool {
	st, err := os.Stat(file)
	return err == nil && st.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0
}

func connects(network, at string) bool {
	c, err := net.Dial(network, at)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}
