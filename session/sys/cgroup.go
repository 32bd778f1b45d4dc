package sys

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// OwnCgroup returns the directory of this process's cgroup (version 2).
func OwnCgroup() (string, error) {
	mounts, err := readProcFile(0, "mountinfo")
	if err != nil {
		return "", err
	}
	self, err := readProcFile(0, "cgroup")
	if err != nil {
		return "", err
	}
	return parseCgroup(mounts, self)
}

// CgroupMembers returns the processes in a cgroup, by its directory; 0 means a process of another pid namespace.
func CgroupMembers(dir string) ([]int, error) {
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	return parseNumbers(b), nil
}

// InCgroup reports whether the path of this process's cgroup contains the name; true if unreadable.
func InCgroup(name string) bool {
	self, err := readProcFile(0, "cgroup")
	return err != nil || bytes.Contains(self, []byte(name))
}

// parseCgroup returns the directory of a process's cgroup from its mountinfo and cgroup files (proc_pid_mountinfo(5),
// cgroups(7)).
func parseCgroup(mounts, self []byte) (string, error) {
	path := ""
	for line := range bytes.Lines(self) {
		if p, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), "0::"); ok {
			path = p
		}
	}
	if path == "" || strings.Contains(path+"/", "/../") { // outside of our namespace
		return "", errors.New("no cgroup v2")
	}
	for line := range strings.Lines(string(mounts)) {
		before, after, ok := strings.Cut(line, " - ")
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

// MountsBelow returns the mount points below a directory, which must be absolute and clean. Linux only.
func MountsBelow(dir string) (below []string) {
	mounts, err := readProcFile(0, "mountinfo")
	if err != nil {
		return nil
	}
	return mountsBelow(mounts, dir)
}

func mountsBelow(mounts []byte, dir string) (below []string) {
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 4 {
			at := unescapeMount(f[4])
			if at != dir && strings.HasPrefix(at, strings.TrimSuffix(dir, "/")+"/") && !slices.Contains(below, at) {
				below = append(below, at)
			}
		}
	}
	return below
}

// unescapeMount decodes the octal escapes of mountinfo.
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
