package confine

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// draftMeter ends the programs of the namespaces when the changed files of their drafts take more space than a limit. No file system
// that an unprivileged user can mount keeps such a limit, except in memory.
type draftMeter struct {
	limit  int64
	uppers []int // descriptors: the paths are hidden inside
	out    int   // descriptor for the message
	bound  int64 // as exceeds has set it; 0 before the first measurement

	reported atomic.Bool // report has printed the limit
}

const (
	meterInterval = 250 * time.Millisecond
	// meterFactor bounds the share of a processor that measuring takes.
	meterFactor = 20
	// meterIdle is the longest time without measuring while the file system's free space is the same.
	meterIdle = 10 * time.Second
	// meterSlack is how much a draft that is over the limit at its start may grow, so that files in it can be removed: that copies directories.
	meterSlack = 1 << 20
	// meterDepth bounds the nesting of directories; each takes a descriptor. Deeper ones count as over the limit.
	meterDepth = 500
	// meterGrace is the time between SIGXFSZ and SIGKILL.
	meterGrace = 500 * time.Millisecond
)

// newDraftMeter opens the uppers of the drafts. It returns nil without a limit.
func newDraftMeter(ns *Namespaces) (*draftMeter, error) {
	if ns.DraftSize <= 0 {
		return nil, nil
	}
	m := &draftMeter{limit: ns.DraftSize}
	for i := range ns.Mounts {
		if ns.Mounts[i].Kind != MountDraft {
			continue
		}
		fd, err := unix.Openat2(unix.AT_FDCWD, ns.Mounts[i].Upper, &unix.OpenHow{
			Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
		})
		if err != nil {
			return nil, fmt.Errorf("measure the draft: %w", err)
		}
		m.uppers = append(m.uppers, fd)
	}
	var err error
	m.out, err = unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 5)
	return m, err
}

// run measures until the drafts are over the limit, then ends all processes of the namespaces but this one.
func (m *draftMeter) run() {
	m.report(fmt.Sprintf("its files take %s, and its limit (--draft-size) is %s; ending its programs", sizeText(m.await()), sizeText(m.limit)))
	_ = syscall.Kill(-1, syscall.SIGXFSZ)
	time.Sleep(meterGrace)
	_ = syscall.Kill(-1, syscall.SIGKILL)
}

// report prints on the terminal, once, that the limit was reached. It waits a moment, so that the message is seen before the end.
func (m *draftMeter) report(text string) {
	if m.reported.Swap(true) {
		return
	}
	printed := make(chan struct{})
	go func() { // a stopped terminal blocks it
		_, _ = fmt.Fprintf(os.NewFile(uintptr(m.out), "terminal"), "\r\nlongterm: draft: %s. The changes are kept.\r\n", text)
		close(printed)
	}()
	select {
	case <-printed:
	case <-time.After(meterInterval / 10):
	}
}

// reportFullFile reports the limit if a file has its size: a program that failed may have been refused to write more of it.
func (m *draftMeter) reportFullFile() {
	if m != nil && m.hasFullFile() {
		m.report(fmt.Sprintf("a file has reached the size of its limit (--draft-size), %s", sizeText(m.limit)))
	}
}

// exceeds reports whether a measured size is over the limit. A draft that is over it from its start may shrink, but not grow.
func (m *draftMeter) exceeds(used int64) bool {
	switch {
	case used == math.MaxInt64:
		return true
	case m.bound == 0: // at the start
		m.bound = math.MaxInt64
	case used > m.bound:
		return true
	}
	m.bound = max(m.limit, min(m.bound, used+meterSlack))
	if used <= m.limit {
		m.bound = m.limit
	}
	return false
}

// await returns the used space once it is over the limit.
func (m *draftMeter) await() (used int64) {
	var free uint64
	for wait := time.Duration(0); ; {
		start := time.Now()
		before := m.free() // precedes the measurement, since later writes change it
		if before != free || wait >= meterIdle || before == 0 {
			free, used = before, m.measure()
			if m.exceeds(used) {
				return used
			}
			wait = 0
		}
		pause := max(meterInterval, meterFactor*time.Since(start))
		wait += pause
		time.Sleep(pause)
	}
}

// free returns the number of free blocks of the drafts' file system, or 0 if unknown. All drafts of a session are on one.
func (m *draftMeter) free() uint64 {
	var st unix.Statfs_t
	if len(m.uppers) == 0 || unix.Fstatfs(m.uppers[0], &st) != nil {
		return 0
	}
	return st.Bfree
}

// measure returns the bytes on disk of all drafts.
func (m *draftMeter) measure() (used int64) { return m.visit(func(*unix.Stat_t) {}) }

// hasFullFile reports whether a file of the drafts has the size of the limit.
func (m *draftMeter) hasFullFile() (found bool) {
	m.visit(func(st *unix.Stat_t) {
		found = found || st.Mode&unix.S_IFMT == unix.S_IFREG && st.Size >= m.limit
	})
	return found
}

// visit calls f for each entry of the drafts and returns measure.
func (m *draftMeter) visit(f func(*unix.Stat_t)) (used int64) {
	linked := map[uint64]bool{}
	for _, fd := range m.uppers {
		n, err := diskUsage(fd, meterDepth, linked, f)
		if err != nil {
			return math.MaxInt64
		}
		used += n
	}
	return used
}

// diskUsage returns the bytes on disk of the entries of a directory, and calls visit for each. linked holds the inodes of counted files with several names. It
// returns an error only if directories are nested too deep.
func diskUsage(dir, depth int, linked map[uint64]bool, visit func(*unix.Stat_t)) (used int64, err error) {
	if depth == 0 {
		return 0, errors.New("too many directories in each other")
	}
	fd, err := unix.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, ignoreVanished(err)
	}
	f := os.NewFile(uintptr(fd), "directory")
	defer f.Close()
	for {
		names, err := f.Readdirnames(1024)
		if err == io.EOF || len(names) == 0 {
			return used, nil
		}
		for _, name := range names {
			var st unix.Stat_t
			if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil { // removed since the directory was read
				continue
			}
			visit(&st)
			isDir := st.Mode&unix.S_IFMT == unix.S_IFDIR
			if st.Blocks > 0 && st.Nlink > 1 && !isDir {
				if linked[st.Ino] {
					continue
				}
				linked[st.Ino] = true
			}
			if used += st.Blocks * 512; !isDir {
				continue
			}
			sub, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
			var n int64
			if err == nil {
				n, err = diskUsage(sub, depth-1, linked, visit)
				_ = unix.Close(sub)
			}
			if err = ignoreVanished(err); err != nil {
				return used, err
			}
			used += n
		}
	}
}

// ignoreVanished returns nil for errors of a directory that was removed or replaced during the measurement.
func ignoreVanished(err error) error {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	return err
}

// sizeText returns a number of bytes with a unit.
func sizeText(n int64) string {
	if n == math.MaxInt64 {
		return "more than can be measured"
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
