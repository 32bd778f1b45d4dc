package keeper

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// Where the keeper may write a part of the cgroup v2 tree, each session starts in a separate cgroup. Killing it reaches
// every descendant at once; no other way does. It also carries the limits.
//
//	BASE                      the keeper's own cgroup, or one delegated to it
//	├── longterm-keeper       the keeper, when limits need BASE to be empty
//	└── longterm-PID          one per keeper
//	    └── SESSION

// cgroupEnv is the environment variable that, set to "off", makes the keeper use no cgroups.
const cgroupEnv = "LONGTERM_CGROUP"

// keeperLeaf is the cgroup that a keeper moves itself to.
const keeperLeaf = "longterm-keeper"

// neededControllers are the cgroup controllers that limits need.
var neededControllers = []string{"memory", "cpu", "pids"}

// cgroups creates the sessions' cgroups.
type cgroups struct {
	dir         string   // our directory, longterm-PID; empty: none
	controllers []string // controllers that are enabled in dir

	mu       sync.Mutex // guards leftover
	leftover []string   // cgroups of released sessions that still have processes
}

// setUp creates the directory if the system allows it. Otherwise sessions have no cgroups.
func (g *cgroups) setUp(log *slog.Logger) {
	if os.Getenv(cgroupEnv) == "off" {
		return
	}
	base, err := sys.OwnCgroup()
	if err == nil {
		err = g.create(base, os.Getpid())
	}
	if err != nil {
		log.Info("sessions get no cgroups", "why", err)
		return
	}
	log.Info("sessions get cgroups", "dir", g.dir, "limits", g.controllers)
}

// CgroupsOf returns the cgroup directories that reachable keepers made for a session.
func CgroupsOf(session string) []string {
	base, err := sys.OwnCgroup()
	if err != nil || session == "" || strings.ContainsAny(session, `/*?[\`) {
		return nil
	}
	if filepath.Base(base) == keeperLeaf { // a keeper moved here, and its daemon with it
		base = filepath.Dir(base)
	}
	dirs, _ := filepath.Glob(filepath.Join(base, "longterm-[0-9]*", session))
	return dirs
}

// create creates our directory in base, and enables limits in it as far as possible.
func (g *cgroups) create(base string, pid int) error {
	removeDeadKeepers(base)
	dir := filepath.Join(base, "longterm-"+strconv.Itoa(pid))
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "cgroup.kill")); err != nil {
		_ = os.Remove(dir)
		return fmt.Errorf("this system's cgroups cannot be killed (Linux 5.14 and later can): %w", err)
	}
	g.dir = dir
	leaveCgroup(base, pid)
	for _, c := range neededControllers {
		if enableController(base, c) == nil && enableController(dir, c) == nil {
			g.controllers = append(g.controllers, c)
		}
	}
	return nil
}

// enableController lets the groups in dir use a controller.
func enableController(dir, controller string) error {
	return writeCgroup(dir, "cgroup.subtree_control", "+"+controller)
}

// leaveCgroup moves the keeper out of a group that has no other process, such as its own systemd scope: a group with
// processes cannot delegate controllers.
func leaveCgroup(base string, pid int) {
	members, err := sys.CgroupMembers(base)
	if err != nil || len(members) != 1 || members[0] != pid {
		return
	}
	leaf := filepath.Join(base, keeperLeaf)
	if err := os.Mkdir(leaf, 0o755); err == nil || errors.Is(err, os.ErrExist) {
		_ = writeCgroup(leaf, "cgroup.procs", strconv.Itoa(pid))
	}
}

// removeDeadKeepers removes the directories of killed keepers.
func removeDeadKeepers(base string) {
	dirs, _ := filepath.Glob(filepath.Join(base, "longterm-[0-9]*"))
	for _, dir := range dirs {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), "longterm-"))
		if err != nil || belongsTo(dir, pid) {
			continue
		}
		removeEmpty(dir)
	}
}

// belongsTo reports whether a keeper's directory can belong to the process that has its PID now. A process that started
// after the last change in the directory is not that keeper.
func belongsTo(dir string, pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	st, err := os.Stat(dir)
	age, ageErr := sys.Age(pid)
	return err != nil || ageErr != nil || !time.Now().Add(-age).After(st.ModTime().Add(time.Second))
}

// writeCgroup writes a value to a file of a cgroup.
func writeCgroup(dir, file, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, value)
	return errors.Join(err, f.Close())
}

// prepareStart creates a cgroup for a child about to start. leave receives the result of the start and reports whether to
// retry without a cgroup. Only limits are mandatory.
func (g *cgroups) prepareStart(c *child, m *wire.Spawn, attr *syscall.SysProcAttr) (leave func(error) (again bool), err error) {
	none := func(error) bool { return false }
	if err := g.checkLimits(m); err != nil {
		return none, err
	}
	if g.dir == "" || filepath.Base(c.id) != c.id {
		return none, nil
	}
	dir, err := g.newGroup(filepath.Join(g.dir, c.id))
	var f *os.File
	if err == nil {
		f, err = g.openWithLimits(dir, m)
	}
	if err != nil {
		_ = syscall.Rmdir(dir)
		if hasLimits(m) {
			return none, fmt.Errorf("%w: %w", errNoCgroup, err)
		}
		return none, nil
	}
	attr.UseCgroupFD, attr.CgroupFD, c.cgroup = true, int(f.Fd()), dir
	return func(err error) bool {
		_ = f.Close()
		if err == nil {
			return false
		}
		c.cgroup, attr.UseCgroupFD = "", false
		_ = syscall.Rmdir(dir)
		return isCgroupError(err) && !hasLimits(m)
	}, nil
}

// checkLimits returns an error for limits that cannot be set here.
func (g *cgroups) checkLimits(m *wire.Spawn) error {
	for name, asked := range map[string]uint64{"memory": m.Memory, "cpu": m.CPU, "pids": m.PIDs} {
		if asked > 0 && !slices.Contains(g.controllers, name) {
			return fmt.Errorf("%w: %s cannot be limited", errNoCgroup, name)
		}
	}
	return nil
}

// cpuPeriod is the period in cpu.max, in microseconds: the kernel's default.
const cpuPeriod = 100_000

// maxCgroups bounds the groups of one session that still have processes.
const maxCgroups = 64

// newGroup creates a group in which no process was killed before: Linux 6.18 at once kills each process that starts in
// a group whose cgroup.kill was written. It recreates the session's former group, or creates another one if that still
// has processes.
func (g *cgroups) newGroup(path string) (dir string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	dir, err = recreate(path)
	g.leftover = slices.DeleteFunc(g.leftover, func(d string) bool { return err == nil && d == dir }) // this group must not be removed
	return dir, err
}

// recreate removes an empty group and creates it again.
func recreate(path string) (dir string, err error) {
	for n := range maxCgroups {
		if dir = path; n > 0 {
			dir = fmt.Sprintf("%s.%d", path, n)
		}
		if err = os.Mkdir(dir, 0o755); !errors.Is(err, os.ErrExist) {
			return dir, err
		}
		switch err = syscall.Rmdir(dir); {
		case err == nil, errors.Is(err, syscall.ENOENT):
			if err = os.Mkdir(dir, 0o755); !errors.Is(err, os.ErrExist) {
				return dir, err
			}
		case !errors.Is(err, syscall.EBUSY):
			return dir, nil
		}
	}
	return dir, err
}

// openWithLimits sets the limits of a group and opens it for the start of a process.
func (g *cgroups) openWithLimits(dir string, m *wire.Spawn) (*os.File, error) {
	for _, l := range []struct {
		file  string
		asked uint64
		value string
	}{
		{"memory.max", m.Memory, strconv.FormatUint(m.Memory, 10)},
		{"cpu.max", m.CPU, fmt.Sprintf("%d %d", m.CPU*cpuPeriod/1000, cpuPeriod)},
		{"pids.max", m.PIDs, strconv.FormatUint(m.PIDs, 10)},
	} {
		if l.asked == 0 {
			continue
		}
		if err := writeCgroup(dir, l.file, l.value); err != nil {
			return nil, err
		}
	}
	return os.Open(dir)
}

// isCgroupError reports whether a fork failed because of the cgroup, as in sandboxes without clone3.
func isCgroupError(err error) bool {
	return slices.Contains([]syscall.Errno{syscall.ENOSYS, syscall.EBUSY, syscall.EPERM, syscall.EOPNOTSUPP, syscall.EINVAL}, errnoOf(err))
}

// errnoOf returns the error number in an error, or 0.
func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	errors.As(err, &errno)
	return errno
}

// removeLater removes a released session's cgroup, now or once it has no process.
func (g *cgroups) removeLater(dir string) {
	if dir == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leftover = slices.DeleteFunc(append(g.leftover, dir), func(d string) bool {
		return !errors.Is(syscall.Rmdir(d), syscall.EBUSY)
	})
}

// removeEmpty removes a keeper's directory; a group with processes in it stays.
func removeEmpty(dir string) {
	sessions, _ := os.ReadDir(dir)
	for _, s := range sessions {
		if s.IsDir() {
			_ = syscall.Rmdir(filepath.Join(dir, s.Name()))
		}
	}
	_ = syscall.Rmdir(dir)
}

// close removes the empty groups at the keeper's end.
func (g *cgroups) close() {
	if g.dir != "" {
		removeEmpty(g.dir)
	}
}

// signalCgroup signals all processes in a session's cgroup and reports whether it could. The kernel performs a kill, so
// that no fork escapes it.
func signalCgroup(dir string, sig syscall.Signal) (done bool, err error) {
	if dir == "" {
		return false, nil
	}
	if sig == syscall.SIGKILL {
		err := writeCgroup(dir, "cgroup.kill", "1")
		return err == nil, nil
	}
	members, err := sys.CgroupMembers(dir)
	if err != nil {
		return false, nil
	}
	for _, pid := range members {
		if pid > 0 {
			err = errors.Join(err, ignoreNoProcess(syscall.Kill(pid, sig)))
		}
	}
	return true, err
}

// awaitScope waits until systemd has moved this process into the announced scope.
func awaitScope(name string) {
	for range 50 {
		if sys.InCgroup(name) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
