package sys

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Executable is the path by which this process executes its own program again, even if the file has changed.
const Executable = "/proc/self/exe"

// TerminalOf returns the path of a descriptor's terminal, or "".
func TerminalOf(fd int) string {
	if _, err := unix.IoctlGetTermios(fd, getTermios); err != nil {
		return ""
	}
	path, err := os.Readlink(DescriptorPath(fd))
	if err != nil || !strings.HasPrefix(path, "/dev/") {
		return ""
	}
	return path
}

// DetachTerminal detaches this session leader from its terminal, so that another process can take it. The caller must
// ignore SIGHUP, which the kernel sends to the foreground group.
func DetachTerminal(fd int) error {
	if err := unix.IoctlSetInt(fd, unix.TIOCNOTTY, 0); err != nil {
		return fmt.Errorf("give the terminal up: %w", err)
	}
	return nil
}

// EnableLoopback switches the loopback interface of this network namespace on.
func EnableLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("switch loopback on: %w", err)
	}
	return nil
}

// UserMaps returns identity mappings for a user namespace, as far as this process may create them: all users with
// privileges, else only its own.
func UserMaps() (users, groups []syscall.SysProcIDMap) {
	if os.Geteuid() == 0 {
		users, groups = readIDMap("uid_map"), readIDMap("gid_map")
	}
	if len(users) == 0 || len(groups) == 0 {
		users = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		groups = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	}
	return users, groups
}

// readIDMap returns identity mappings of the ids in this process's user namespace.
func readIDMap(name string) (maps []syscall.SysProcIDMap) {
	text, err := os.ReadFile("/proc/self/" + name)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		var first, outside, count int
		if _, err := fmt.Sscan(line, &first, &outside, &count); err == nil && count > 0 {
			maps = append(maps, syscall.SysProcIDMap{ContainerID: first, HostID: first, Size: count})
		}
	}
	return maps
}
