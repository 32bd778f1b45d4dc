package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// lockAll locks files until this process exits, the last one of its namespaces.
func lockAll(paths []string) error {
	for _, path := range paths {
		fd, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
		if err == nil {
			err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		}
		switch {
		case errors.Is(err, unix.EWOULDBLOCK):
			return fmt.Errorf("the draft is in use: a process that was started in it still runs (%w)", err)
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// overlay returns a detached mount of a host directory whose changes are kept in upper. All three directories are passed as
// descriptors, so that no path can have become a link and the kernel interprets no character of a name.
func overlay(lower, upper, work string) (int, error) {
	options := []string{"lowerdir", lower, "upperdir", upper, "workdir", work}
	for i := 1; i < len(options); i += 2 {
		fd, err := unix.Openat2(unix.AT_FDCWD, options[i], &unix.OpenHow{
			Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
		})
		if err != nil {
			return -1, fmt.Errorf("%s: %w", options[i], err)
		}
		defer unix.Close(fd)
		options[i] = sys.DescriptorPath(fd)
	}
	fd, err := newOverlay(options)
	return fd, explainOverlay(err)
}

// newOverlay mounts an overlay whose marks are user attributes. Without userxattr the mount works, but removing and
// renaming directories in it fails with EIO in a user namespace.
func newOverlay(options []string) (int, error) {
	fs, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	if err := unix.FsconfigSetFlag(fs, "userxattr"); err != nil {
		return -1, err
	}
	for i := 0; i < len(options); i += 2 {
		if err := unix.FsconfigSetString(fs, options[i], options[i+1]); err != nil {
			return -1, err
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, safeAttrs)
}

// explainOverlay explains the kernel's errors.
func explainOverlay(err error) error {
	switch {
	case errors.Is(err, unix.ENODEV):
		return fmt.Errorf("no overlay file system in this kernel (%w)", err)
	case errors.Is(err, unix.EINVAL):
		return fmt.Errorf("the kernel rejects this overlay (%w): a mount inside of the directory, or a file system below that cannot hold a draft, such as overlay and NFS", err)
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("overlays not allowed (%w): Linux 5.11 is needed, and a container that permits them", err)
	}
	return err
}

// tryOverlay mounts an overlay in an empty directory and changes directories in it: a mount alone proves nothing.
func tryOverlay(dir string) error {
	for _, name := range []string{"lower", "lower/old", "upper", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
	}
	merged := filepath.Join(dir, "merged")
	fd, err := overlay(filepath.Join(dir, "lower"), filepath.Join(dir, "upper"), filepath.Join(dir, "work"))
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, merged, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return err
	}
	defer func() { _ = unix.Unmount(merged, unix.MNT_DETACH) }()
	if err := errors.Join(
		os.Mkdir(filepath.Join(merged, "new"), 0o700), unix.Rename(filepath.Join(merged, "new"), filepath.Join(merged, "moved")),
		os.Remove(filepath.Join(merged, "old")), os.Remove(filepath.Join(merged, "moved")), os.Mkdir(filepath.Join(merged, "old"), 0o700),
	); err != nil {
		return fmt.Errorf("directories of an overlay cannot be changed: %w", err)
	}
	mark := make([]byte, 1)
	if n, err := unix.Lgetxattr(filepath.Join(dir, "upper/old"), "user.overlay.opaque", mark); err != nil || n != 1 || mark[0] != 'y' {
		return fmt.Errorf("no user attributes on the file system of %s (%w)", dir, errors.Join(err))
	}
	return nil
}
