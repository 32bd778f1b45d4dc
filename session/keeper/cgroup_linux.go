package keeper

import (
	"bufio"
	"bytes"
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

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/keeper/wire"
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
	left []string   // of released sessions, with somebody in them still
}

// find makes the directory if the system lets us. There is nothing wrong with a system
// that does not.
func (g *cgroups) find(log *slog.Logger) {
	if os.Getenv(noCgroups) == "off" {
		return
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	self, _ := os.ReadFile("/proc/self/cgroup")
	base, err := ownCgroup(mounts, self)
	if err == nil {
		err = g.make(base, os.Getpid())
	}
	if err != nil {
		log.Info("sessions get no cgroups", "why", err)
		return
	}
	log.Info("sessions get cgroups", "dir", g.dir, "limits", g.limits)
}

// ownCgroup is the directory of a process's cgroup, from its mountinfo and cgroup files,
// proc_pid_mountinfo(5) and cgroups(7).
func ownCgroup(mounts, self []byte) (string, error) {
	path := ""
	for line := range bytes.Lines(self) {
		if p, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), "0::"); ok {
			path = p
		}
	}
	if path == "" || strings.Contains(path+"/", "/../") { // not in our namespace
		return "", errors.New("no cgroup v2")
	}
	sc := bufio.NewScanner(bytes.NewReader(mounts))
	for sc.Scan() {
		before, after, ok := strings.Cut(sc.Text(), " - ")
		f, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 5 || len(kind) == 0 || kind[0] != "cgroup2" {
			continue
		}
		root, point := unescapeMount(f[3]), unescapeMount(f[4])
		rel, err := filepath.Rel(root, path)
		if err != nil || !filepath.IsAbs(point) || rel == ".." || strings.HasPrefix(rel, "../") {
			continue // another part of the tree is mounted there
		}
		return filepath.Join(point, rel), nil
	}
	return "", errors.New("cgroup v2 is not mounted")
}

// CgroupsOf are the directories of cgroups that keepers in reach made for a session.
func CgroupsOf(session string) []string {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	self, _ := os.ReadFile("/proc/self/cgroup")
	base, err := ownCgroup(mounts, self)
	if err != nil || session == "" || strings.ContainsAny(session, `/*?[\`) {
		return nil
	}
	if filepath.Base(base) == keeperLeaf { // where a keeper stepped aside to, and its daemon with it
		base = filepath.Dir(base)
	}
	dirs, _ := filepath.Glob(filepath.Join(base, "longterm-[0-9]*", session))
	return dirs
}

// unescapeMount undoes the octal escapes of mountinfo.
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
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

// stepAside moves us out of a group that has nobody else in it, such as a systemd scope of
// our own: a group with processes cannot hand controllers on.
func stepAside(base string, pid int) {
	procs, err := os.ReadFile(filepath.Join(base, "cgroup.procs"))
	if err != nil || strings.TrimSpace(string(procs)) != strconv.Itoa(pid) {
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
	age, ok := ageOf(pid)
	return err != nil || !ok || !time.Now().Add(-age).After(st.ModTime().Add(time.Second))
}

// ageOf is how long ago a process started: field 22 of /proc/PID/stat, in ticks of 10 ms
// since the machine did.
func ageOf(pid int) (time.Duration, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	var now unix.Timespec
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0, false
	}
	f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(f) < 20 {
		return 0, false
	}
	ticks, err := strconv.ParseInt(string(f[19]), 10, 64)
	return time.Duration(now.Nano()) - time.Duration(ticks)*10*time.Millisecond, err == nil
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
func (g *cgroups) enter(c *child, m *wire.Spawn, sys *syscall.SysProcAttr) (leave func(error) (again bool), err error) {
	none := func(error) bool { return false }
	if err := g.can(m); err != nil {
		return none, err
	}
	if g.dir == "" || filepath.Base(c.id) != c.id {
		return none, nil
	}
	dir := filepath.Join(g.dir, c.id)
	f, err := g.prepare(dir, m)
	if err != nil {
		_ = syscall.Rmdir(dir)
		if limits(m) {
			return none, fmt.Errorf("%w: %w", errNoCgroup, err)
		}
		return none, nil
	}
	sys.UseCgroupFD, sys.CgroupFD, c.cgroup = true, int(f.Fd()), dir
	return func(err error) bool {
		_ = f.Close()
		if err == nil {
			return false
		}
		c.cgroup, sys.UseCgroupFD = "", false
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

func (g *cgroups) prepare(dir string, m *wire.Spawn) (*os.File, error) {
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
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

// leave removes a released session's cgroup, or later, when nobody is in it any more.
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
// kill is the kernel's: nobody forks away from it.
func signalCgroup(dir string, sig syscall.Signal) (done bool, err error) {
	if dir == "" {
		return false, nil
	}
	if sig == syscall.SIGKILL {
		err := writeCgroup(dir, "cgroup.kill", "1")
		return err == nil, nil
	}
	procs, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return false, nil
	}
	for _, field := range strings.Fields(string(procs)) {
		if pid, e := strconv.Atoi(field); e == nil && pid > 0 {
			err = errors.Join(err, ignoreGone(syscall.Kill(pid, sig)))
		}
	}
	return true, err
}

// awaitScope waits until systemd has moved us into the scope it said it makes.
func awaitScope(name string) {
	for range 50 {
		if self, err := os.ReadFile("/proc/self/cgroup"); err != nil || strings.Contains(string(self), name) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
