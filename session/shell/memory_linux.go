package shell

import "golang.org/x/sys/unix"

// memoryRoot returns the directory for files in memory: glibc's directory for shared memory, if it is a tmpfs (FHS 3.0
// leaves it to the system).
func memoryRoot() string {
	const root = "/dev/shm"
	var st unix.Statfs_t
	if err := unix.Statfs(root, &st); err != nil || st.Type != unix.TMPFS_MAGIC || unix.Access(root, unix.W_OK) != nil {
		return ""
	}
	return root
}
