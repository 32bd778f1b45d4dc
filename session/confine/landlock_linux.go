package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// This file calls Landlock's three system calls directly. Only one thread of this process matters, and a library would
// hide the exact set of rights per version.

// LandlockABI returns the kernel's Landlock version; 0: none.
func LandlockABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// Sets of rights.
const (
	accessRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	accessWrite = accessRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	accessDevice = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// accessFile is the set of rights for files.
	accessFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// accessAll is the set of handled rights: those without a rule are denied. No rule allows creating devices.
	accessAll = accessWrite | accessDevice | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// minLandlock supports truncation (Linux 6.2): without it, readable files could be emptied.
const minLandlock = 3

// rightsOf returns the rights that a version supports.
func rightsOf(abi int) uint64 {
	if abi < 5 {
		return accessAll &^ unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return accessAll
}

// allowedDevices are usable even if hidden.
var allowedDevices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts/ptmx"}

// restrictPaths applies Landlock to this thread, which executes the program.
func (p *process) restrictPaths() error {
	if p.spec.Sandbox == nil || p.spec.Sandbox.Landlock == nil {
		return nil
	}
	l, abi := p.spec.Sandbox.Landlock, LandlockABI()
	paths := len(l.Read)+len(l.Write) > 0
	switch {
	case paths && abi == 0:
		return errors.New("the kernel has no Landlock, or it is switched off (lsm=)")
	case paths && abi < minLandlock:
		return fmt.Errorf("the kernel's Landlock is of version %d, and %d is needed (Linux 6.2)", abi, minLandlock)
	}
	var attr unix.LandlockRulesetAttr
	if paths {
		attr.Handled_access_fs = rightsOf(abi)
	}
	if l.Scoped && abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	if attr == (unix.LandlockRulesetAttr{}) {
		return nil
	}
	r, err := newRuleset(&attr)
	if err != nil {
		return err
	}
	defer r.close()
	if paths {
		if err := r.addPaths(l); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return errno
	}
	p.report.Levels = append(p.report.Levels, fmt.Sprintf("landlock %d", abi))
	return nil
}

// ruleset is a Landlock ruleset under construction.
type ruleset struct {
	fd          int
	handled     uint64
	entriesSeen int // directory entries read so far
}

// maxNames bounds the directory entries that are read to exclude some.
const maxNames = 100_000

// newRuleset creates a ruleset.
func newRuleset(attr *unix.LandlockRulesetAttr) (*ruleset, error) {
	fd, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(attr)), unsafe.Sizeof(*attr), 0)
	if errno != 0 {
		return nil, fmt.Errorf("make a ruleset: %w", errno)
	}
	return &ruleset{fd: int(fd), handled: attr.Handled_access_fs}, nil
}

// close closes the ruleset.
func (r *ruleset) close() { _ = unix.Close(r.fd) }

// addPaths adds the rules for all paths.
func (r *ruleset) addPaths(l *Landlock) error {
	noWrite := append(slices.Clone(l.Excluded), l.ReadOnly...)
	noRead := append(slices.Clone(l.Excluded), "/dev")
	for _, path := range l.Read {
		if err := r.addExcept(path, accessRead, noRead); err != nil {
			return err
		}
	}
	for _, path := range l.Write {
		if err := errors.Join(r.addExcept(path, accessWrite, noWrite), r.addExcept(path, accessRead, noRead)); err != nil {
			return err
		}
	}
	for _, list := range []struct {
		paths  []string
		access uint64
	}{{l.ReadInExcluded, accessRead}, {l.WriteInExcluded, accessWrite}} {
		for _, path := range list.paths {
			if err := r.addPath(path, list.access); err != nil {
				return err
			}
		}
	}
	own := allowedDevices
	if tty := sys.TerminalOf(0); tty != "" {
		own = append(slices.Clone(own), tty)
	}
	for _, path := range own {
		if err := r.addPath(path, accessDevice); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return nil
}

// addExcept grants rights to a tree without some paths in it. Landlock grants rights to trees and cannot revoke them, so
// every other name next to an excluded path gets them separately; names created there later get none.
func (r *ruleset) addExcept(path string, access uint64, except []string) error {
	inner := false
	for _, e := range except {
		if e == path || strings.HasPrefix(path, strings.TrimSuffix(e, "/")+"/") {
			return nil
		}
		inner = inner || path == "/" || strings.HasPrefix(e, path+"/")
	}
	if !inner {
		return r.addPath(path, access)
	}
	// The names may be listed, also in all directories below.
	if err := r.addPath(path, unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	if r.entriesSeen += len(entries); r.entriesSeen > maxNames {
		return fmt.Errorf("%s and others have more than %d names, too many to exclude some; list the needed paths in read and write", path, maxNames)
	}
	for _, e := range entries {
		if e.Type()&os.ModeSymlink != 0 {
			continue
		}
		err := r.addExcept(filepath.Join(path, e.Name()), access, except)
		if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EACCES) { // removed, or not accessible
			return err
		}
	}
	return nil
}

// addPath grants rights to a path and all below it.
func (r *ruleset) addPath(path string, access uint64) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= accessFile
	}
	if access &= r.handled; access == 0 {
		return nil
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, errno := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0); errno != 0 {
		if errno == unix.EBADFD { // on a file system without paths
			return nil
		}
		return fmt.Errorf("%s: %w", path, errno)
	}
	return nil
}

// keptCapabilities are the capabilities that a program running as root keeps: for its own files and users.
var keptCapabilities = []int{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID, unix.CAP_NET_BIND_SERVICE,
}

// dropCapabilities removes root's capabilities that could undo a sandbox.
func (p *process) dropCapabilities() error {
	if p.spec.Sandbox == nil || !p.spec.Sandbox.DropCapabilities {
		return nil
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&hdr, &have[0]); err != nil {
		return err
	}
	var kept [2]uint32
	for _, c := range keptCapabilities {
		kept[c/32] |= 1 << (c % 32)
	}
	if have[unix.CAP_SETPCAP/32].Effective&(1<<(unix.CAP_SETPCAP%32)) != 0 {
		for c := 0; c <= 63; c++ {
			if kept[c/32]&(1<<(c%32)) == 0 {
				if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
					return fmt.Errorf("capability %d: %w", c, err)
				}
			}
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) // before Linux 4.3: unsupported
	for i := range have {
		have[i].Permitted &= kept[i]
		have[i].Effective &= kept[i]
		have[i].Inheritable = 0
	}
	return unix.Capset(&hdr, &have[0])
}
