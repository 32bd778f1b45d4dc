package sys

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// readProcFile reads a file of a process; pid 0 is this process.
func readProcFile(pid int, file string) ([]byte, error) { return readProcFileBy(readFile, pid, file) }

// readProcFileBy reads a file of a process with f.
func readProcFileBy(f func(name string) ([]byte, error), pid int, file string) ([]byte, error) {
	if root == "" {
		return nil, &Error{pid, file, errors.ErrUnsupported}
	}
	b, err := f(procPath(pid, file))
	if err != nil {
		return nil, &Error{pid, file, err}
	}
	return b, nil
}

// procPath returns the path of a process's file, or "" on systems without /proc.
func procPath(pid int, file string) string {
	switch {
	case root == "":
		return ""
	case pid == 0:
		return root + "/self/" + file
	}
	return root + "/" + strconv.Itoa(pid) + "/" + file
}

// ReadStat reads the state of a process.
func ReadStat(pid int) (Stat, error) {
	b, err := readProcFileBy(readRecord, pid, "stat") // one line
	if err != nil {
		return Stat{}, err
	}
	s, err := ParseStat(b)
	if err != nil {
		return Stat{}, &Error{pid, "stat", err}
	}
	return s, nil
}

// statParent returns Stat.Parent.
func statParent(pid int) (int, error) {
	st, err := ReadStat(pid)
	return st.Parent, err
}

// Age returns how long ago a process started.
func Age(pid int) (time.Duration, error) {
	s, err := ReadStat(pid)
	if err != nil {
		return 0, err
	}
	up, err := uptime()
	if err != nil {
		return 0, err
	}
	return up - time.Duration(s.Start)*Tick, nil
}

// maxCmdline bounds an argument vector, in bytes.
const maxCmdline = 1 << 16

// Exe returns the file that a process executes; empty if unknown.
func Exe(pid int) string {
	file, _ := readLink(pid, "exe") // the process may have exited
	return file
}

// Cmdline returns a process's argument vector, which the process may have changed; empty for zombies and kernel threads.
func Cmdline(pid int) ([]string, error) {
	b, err := readProcFileBy(readRecord, pid, "cmdline") // the kernel cuts it only at the end of the memory
	if err != nil || len(b) == 0 {
		return nil, err
	}
	if len(b) > maxCmdline {
		return nil, &Error{pid, "cmdline", errors.New("too long")}
	}
	return strings.Split(string(bytes.TrimRight(b, "\x00")), "\x00"), nil
}

// ImageID returns a text that identifies the program image of a process: exec changes it, also for the same file and arguments
// if the kernel places images at random addresses. It returns "" if the image is unknown.
func ImageID(pid int) string {
	b, err := readProcFile(pid, "auxv")
	if err != nil || len(b) == 0 {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// ReadEnviron reads a process's initial environment.
func ReadEnviron(pid int) (Environ, error) {
	b, err := readProcFile(pid, "environ")
	return Environ(b), err
}

// Cwd returns a process's working directory. The kernel appends " (deleted)" to a removed one; it is not cut, since a
// directory may have that name.
func Cwd(pid int) (string, error) { return readLink(pid, "cwd") }

func readLink(pid int, file string) (string, error) {
	if root == "" {
		return "", &Error{pid, file, errors.ErrUnsupported}
	}
	to, err := os.Readlink(procPath(pid, file))
	if err != nil {
		return "", &Error{pid, file, err}
	}
	return to, nil
}

// Children returns a process's direct children, created by any of its threads.
func Children(pid int) ([]int, error) {
	tids, err := numericNames(procPath(pid, "task"))
	if err != nil {
		return nil, &Error{pid, "task", err}
	}
	var all []int
	for _, tid := range tids {
		b, err := readProcFile(pid, "task/"+strconv.Itoa(tid)+"/children")
		if err != nil && tid == pid {
			return nil, err
		}
		all = append(all, parseNumbers(b)...)
	}
	return all, nil
}

// Descendants returns a process's children and their descendants, parents first.
func Descendants(pid int) []int {
	var all []int
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		children, _ := Children(next[0]) // if it exited, its children have another parent
		all, next = append(all, children...), append(next, children...)
	}
	return all
}

// PIDs returns all processes.
func PIDs() ([]int, error) {
	pids, err := numericNames(root)
	if err != nil {
		return nil, &Error{0, "/proc", err}
	}
	return pids, nil
}

// numericNames returns the numeric names in a directory.
func numericNames(dir string) ([]int, error) {
	if dir == "" {
		return nil, errors.ErrUnsupported
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1) // some names: processes start and exit meanwhile
	list := make([]int, 0, len(names))
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			list = append(list, n)
		}
	}
	return list, nil
}

func parseNumbers(b []byte) []int {
	var list []int
	for f := range bytes.FieldsSeq(b) {
		if n, err := strconv.Atoi(string(f)); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// Field returns the first word after "name:" in a process file of such lines (status, smaps_rollup); pid 0 is this process.
// A missing line is ErrEnded.
func Field(pid int, file, name string) (string, error) {
	b, err := readProcFile(pid, file)
	if err != nil {
		return "", err
	}
	value, ok := parseField(b, name)
	if !ok {
		return "", &Error{pid, file + " (" + name + ")", os.ErrNotExist}
	}
	return value, nil
}

func parseField(b []byte, name string) (value string, ok bool) {
	for line := range bytes.Lines(b) {
		if rest, found := bytes.CutPrefix(line, []byte(name+":")); found {
			for word := range bytes.FieldsSeq(rest) {
				return string(word), true
			}
			return "", true
		}
	}
	return "", false
}

// NumberField returns a decimal Field, or 0.
func NumberField(pid int, file, name string) int64 {
	value, _ := Field(pid, file, name)
	n, _ := strconv.ParseInt(value, 10, 64) // the kernel's
	return n
}

// Descriptors returns the open file numbers of a process; pid 0 is this process.
func Descriptors(pid int) ([]int, error) {
	fds, err := numericNames(procPath(pid, "fd"))
	if err != nil && pid == 0 {
		fds, err = numericNames("/dev/fd") // without /proc
	}
	if err != nil {
		return nil, &Error{pid, "fd", err}
	}
	return fds, nil
}

// MappingCount returns the number of a process's memory mappings.
func MappingCount(pid int) (int, error) {
	b, err := readProcFile(pid, "maps")
	return bytes.Count(b, []byte{'\n'}), err
}

// OOMKills returns the number of processes that the system has killed for lack of memory; 0 if unknown.
func OOMKills() uint64 {
	if root == "" {
		return 0
	}
	b, _ := os.ReadFile(filepath.Join(root, "vmstat"))
	for line := range bytes.Lines(b) {
		if count, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
			n, _ := strconv.ParseUint(string(bytes.TrimSpace(count)), 10, 64)
			return n
		}
	}
	return 0
}

const oomFile = "oom_score_adj"

// OOMScore returns a process's adjustment for the out-of-memory killer; pid 0 is this process.
func OOMScore(pid int) (int, error) {
	b, err := readProcFile(pid, oomFile)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(b)))
	if err != nil {
		return 0, &Error{pid, oomFile, ErrMalformed}
	}
	return n, nil
}

// SetOOMScore sets a process's adjustment for the out-of-memory killer.
func SetOOMScore(pid, score int) error {
	if root == "" {
		return &Error{pid, oomFile, errors.ErrUnsupported}
	}
	if err := os.WriteFile(procPath(pid, oomFile), []byte(strconv.Itoa(score)), 0); err != nil {
		return &Error{pid, oomFile, err}
	}
	return nil
}

// DescriptorPath returns the path of an open file, for calls that need a path. Linux only.
func DescriptorPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// ResolvedFile is the file that a path refers to for another process, with its root and mounts.
type ResolvedFile struct {
	Path      string // without symbolic links, in that process's view
	Mode      fs.FileMode
	LocalPath string // its path for this process
	// IsDifferentLocally states that Path refers to another file for this process: the process has other mounts or another root.
	IsDifferentLocally bool
	// Inode and Dir describe the file and its directory, from the lookup of the path.
	Inode, Dir Inode
}

// Inode is the metadata of a file. It is empty unless IsKnown.
type Inode struct {
	IsKnown     bool
	Dev, Number uint64
	Size        int64
	UID         uint32
	IsRegular   bool
	Perm        fs.FileMode // permission bits only
	Modified    time.Time   // content modification time, which programs may set
	Changed     time.Time   // metadata change time
}
