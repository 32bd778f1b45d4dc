//go:build unix

package paths

import (
	"fmt"
	"os"
	"syscall"
)

// checkPrivate refuses a directory that is not ours alone: whoever can replace the
// socket in it can read every session.
func checkPrivate(dir string) error {
	st, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Getuid() {
		return fmt.Errorf("%s belongs to uid %d, not to you (uid %d); set %s to a directory of yours", dir, sys.Uid, os.Getuid(), EnvDir)
	}
	if st.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}
