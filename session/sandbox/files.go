package sandbox

import (
	"os"
	"strconv"
)

// isDir reports whether a path is a directory, without following links.
func isDir(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.IsDir()
}

// containerUser returns the arguments that run a container's program as a user: podman maps users unless root runs it.
func containerUser(l Level, uid, gid int) []string {
	if l == Podman && uid != 0 {
		return []string{"--userns", "keep-id"}
	}
	return []string{"--user", strconv.Itoa(uid) + ":" + strconv.Itoa(gid)}
}
