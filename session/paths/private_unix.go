//go:build unix

package paths

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// Check rejects directories, and a configuration, that belong to another user or that others can write to: replacing
// the socket gives access to every session, and the configuration names programs to run. Missing ones are accepted. The
// configuration may belong to root.
func (d Dirs) Check() error {
	return errors.Join(
		checkOwned(d.Config, true), checkOwned(d.ConfigFile(), true), checkOwned(d.PolicyFile(), true),
		checkOwned(d.State, false), checkOwned(d.Run, false),
	)
}

func checkOwned(path string, rootToo bool) error {
	st, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w; make it readable, or set %s to a directory of yours", err, EnvDir)
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	if uid := os.Getuid(); int(sys.Uid) != uid && !(rootToo && sys.Uid == 0) {
		return fmt.Errorf("%s belongs to uid %d, not to you (uid %d); set %s to a directory of yours", path, sys.Uid, uid, EnvDir)
	}
	if perm := st.Mode().Perm(); perm&0o002 != 0 || perm&0o020 != 0 && !privateGroup(sys.Gid) {
		return fmt.Errorf("%s can be written to by others (mode %o); look what is in it, then `chmod go-w %s`, or set %s to another directory",
			path, perm, path, EnvDir)
	}
	return nil
}

// privateGroup reports whether a group is root's or the user's own, of his name or number: with
// such groups a umask of 002 is usual and harmless.
func privateGroup(gid uint32) bool {
	if gid == 0 || int(gid) == os.Getuid() && int(gid) == os.Getgid() {
		return true
	}
	if int(gid) != os.Getgid() {
		return false
	}
	group, err := user.LookupGroupId(strconv.Itoa(int(gid)))
	if err != nil {
		return false
	}
	me, err := user.Current()
	return err == nil && me.Username == group.Name
}

// makePrivate takes from others what they may do with a directory of ours.
func makePrivate(dir string) error {
	st, err := os.Stat(dir)
	if err != nil || st.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// OpenLog opens a log for appending. It does not follow a link planted in its place.
func OpenLog(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s is a symbolic link, which is not followed; remove it", path)
	}
	return f, err
}
