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

// Where a part of the cgroup v2 tree is ours to write, each session is started in a cgroup
// of its own. Killing it reaches every descendant at once, whatever it did to get away:
// nothing else does. Limits are set on it.
//
//	BASE                      our own cgroup, or what was delegated to it
//	├── longterm-keeper       we, when limits need BASE to be empty
//	└── longterm-PID          one per keeper
//	    └── SESSION

// noCgroups set to "off" makes the keeper do without.
const noCgroups = "LONGTERM_CGROUP"

// keeperLeaf is the cgroup that a keeper steps aside to.
const keeperLeaf = "longterm-keeper"

// controllers are what limits need.
var controllers = []string{"memory", "cpu", "pids"}

// cgroups is where a keeper makes its sessions' cgroups.
type cgroups struct {
	dir    string   // longterm-PID; empty: there is none
	limits []string // controllers that work in it

	mu   sync.Mutex // guards left
	left []string   // of released sessions, with processes in them still
}

// find makes the directory if the system lets us. There is nothing wrong with a system
// that does not.
func (g *cgroups) find(log *slog.Logger) {
	if os.Getenv(noCgroups) == "off" {
		return
	}
	base, err := sys.OwnCgroup()
	if err == nil {
		err = g.make(base, os.Getpid())
	}
	if err != nil {
		log.Info("sessions get no cgroups", "why", err)
		return
	}
	log.Info("sessions get cgroups", "dir", g.dir, "limits", g.limits)
}

// CgroupsOf are the directories of cgroups that keepers in reach made for a session.
func CgroupsOf(session string) []string {
	base, err := sys.OwnCgroup()
	if err != nil || session == "" || strings.ContainsAny(session, `/*?[\`) {
		return nil
	}
	if filepath.Base(base) == keeperLeaf { // where a keeper stepped aside to, and its daemon with it
		base = filepath.Dir(base)
	}
	dirs, _ := filepath.Glob(filepath.Join(base, "longterm-[0-9]*", session))
	return dirs
}

// make makes our directory in base, and has limits work in it as far as they can.
func (g *cgroups) make(base string, pid int) error {
	removeDead(base)
	dir := filepath.Join(base, "longterm-"+strconv.Itoa(pid))
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "cgroup.kill")); err != nil {
		_ = os.Remove(dir)
		return fmt.Errorf("this system's cgroups cannot be killed (Linux 5.14 and later can): %w", err)
	}
	g.dir = dir
	stepAside(base, pid)
	for _, c := range controllers {
		if delegate(base, c) == nil && delegate(dir, c) == nil {
			g.limits = append(g.limits, c)
		}
	}
	return nil
}

// delegate lets the groups in dir use a controller.
func delegate(dir, controller string) error {
	return writeCgroup(dir, "cgroup.subtree_control", "+"+controller)
}

// stepAside moves us out of a group that has no other process in it, such as a systemd scope of
// our own: a group with processes cannot hand controllers on.
func stepAside(base string, pid int) {
	members, err := sys.CgroupMembers(base)
	if err != nil || len(members) != 1 || members[0] != pid {
		return
	}
	leaf := filepath.Join(base, keeperLeaf)
	if err := os.Mkdir(leaf, 0o755); err == nil || errors.Is(err, os.ErrExist) {
		_ = writeCgroup(leaf, "cgroup.procs", strconv.Itoa(pid))
	}
}

// removeDead removes what keepers left that were killed.
func removeDead(base string) {
	dirs, _ := filepath.Glob(filepath.Join(base, "longterm-[0-9]*"))
	for _, dir := range dirs {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), "longterm-"))
		if err != nil || madeBy(dir, pid) {
			continue
		}
		removeEmpty(dir)
	}
}

// madeBy reports whether a keeper's directory can be of the process that has its number now:
// one that started after the last change in it is another.
func madeBy(dir string, pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	st, err := os.Stat(dir)
	age, ageErr := sys.Age(pid)
	return err != nil || ageErr != nil || !time.Now().Add(-age).After(st.ModTime().Add(time.Second))
}

func writeCgroup(dir, file, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, value)
	return errors.Join(err, f.Close())
}

// enter makes a cgroup for a child about to be started. leave is told how that went, and
// says whether to try again without. Only limits are insisted on.
func (g *cgroups) enter(c *child, m *wire.Spawn, attr *syscall.SysProcAttr) (leave func(error) (again bool), err error) {
	none := func(error) bool { return false }
	if err := g.can(m); err != nil {
		return none, err
	}
	if g.dir == "" || filepath.Base(c.id) != c.id {
		return none, nil
	}
	dir, err := g.fresh(filepath.Join(g.dir, c.id))
	var f *os.File
	if err == nil {
		f, err = g.prepare(dir, m)
	}
	if err != nil {
		_ = syscall.Rmdir(dir)
		if limits(m) {
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
		return refusedCgroup(err) && !limits(m)
	}, nil
}

// can says what limit cannot be set here.
func (g *cgroups) can(m *wire.Spawn) error {
	for name, asked := range map[string]uint64{"memory": m.Memory, "cpu": m.CPU, "pids": m.PIDs} {
		if asked > 0 && !slices.Contains(g.limits, name) {
			return fmt.Errorf("%w: %s cannot be limited", errNoCgroup, name)
		}
	}
	return nil
}

// cpuPeriod is cpu.max's, in microseconds: the kernel's default.
const cpuPeriod = 100_000

// maxCgroups bounds the groups of one session that still have somebody in them.
const maxCgroups = 64

// fresh makes a group that nobody was killed in: Linux 6.18 kills whoever is started into a group of which cgroup.kill was
// written before, at once. So the group that a session had is made anew, and where somebody is in it still the session has
// another.
func (g *cgroups) fresh(path string) (dir string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	dir, err = makeAnew(path)
	g.left = slices.DeleteFunc(g.left, func(d string) bool { return err == nil && d == dir }) // it is not to be removed
	return dir, err
}

func makeAnew(path string) (dir string, err error) {
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

func (g *cgroups) prepare(dir string, m *wire.Spawn) (*os.File, error) {
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

// refusedCgroup reports whether a fork failed because of the cgroup, as sandboxes that
// know no clone3 make it fail.
func refusedCgroup(err error) bool {
	return slices.Contains([]syscall.Errno{syscall.ENOSYS, syscall.EBUSY, syscall.EPERM, syscall.EOPNOTSUPP, syscall.EINVAL}, errnoOf(err))
}

func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	errors.As(err, &errno)
	return errno
}

// leave removes a released session's cgroup, or later, when no process is in it any more.
func (g *cgroups) leave(dir string) {
	if dir == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left = slices.DeleteFunc(append(g.left, dir), func(d string) bool {
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

// close removes what can be removed at the keeper's end.
func (g *cgroups) close() {
	if g.dir != "" {
		removeEmpty(g.dir)
	}
}

// signalCgroup signals everybody in a session's cgroup, and reports whether it could. A
// kill is the kernel's: no process forks away from it.
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
			err = errors.Join(err, ignoreGone(syscall.Kill(pid, sig)))
		}
	}
	return true, err
}

// awaitScope waits until systemd has moved us into the scope it said it makes.
func awaitScope(name string) {
	for range 50 {
		if sys.InCgroup(name) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
