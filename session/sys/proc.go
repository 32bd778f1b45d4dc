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

// read reads a file of a process; pid 0 is ourselves.
func read(pid int, file string) ([]byte, error) { return readBy(readFile, pid, file) }

func readBy(f func(name string) ([]byte, error), pid int, file string) ([]byte, error) {
	if root == "" {
		return nil, &Error{pid, file, errors.ErrUnsupported}
	}
	b, err := f(path(pid, file))
	if err != nil {
		return nil, &Error{pid, file, err}
	}
	return b, nil
}

// path returns "" on systems without /proc.
func path(pid int, file string) string {
	switch {
	case root == "":
		return ""
	case pid == 0:
		return root + "/self/" + file
	}
	return root + "/" + strconv.Itoa(pid) + "/" + file
}

// ReadStat reads what a process is.
func ReadStat(pid int) (Stat, error) {
	b, err := readBy(readRecord, pid, "stat") // one line
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

// maxCmdline bounds what is taken for an argument vector.
const maxCmdline = 1 << 16

// Exe returns the file that a process executes; empty if unknown.
func Exe(pid int) string {
	file, _ := readLink(pid, "exe") // it may have ended
	return file
}

// Cmdline returns a process's argument vector in its current form; empty for zombies and kernel threads.
func Cmdline(pid int) ([]string, error) {
	b, err := readBy(readRecord, pid, "cmdline") // cut short only where the memory ends
	if err != nil || len(b) == 0 {
		return nil, err
	}
	if len(b) > maxCmdline {
		return nil, &Error{pid, "cmdline", errors.New("too long")}
	}
	return strings.Split(string(bytes.TrimRight(b, "\x00")), "\x00"), nil
}

// Image returns a text that differs for each program image of a process: exec changes it, also for
// the same file and arguments where the kernel places images at random addresses. It is empty if
// the image is not known.
func Image(pid int) string {
	b, err := read(pid, "auxv")
	if err != nil || len(b) == 0 {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// ReadEnviron reads what a process was started with.
func ReadEnviron(pid int) (Environ, error) {
	b, err := read(pid, "environ")
	return Environ(b), err
}

// Cwd returns a process's working directory. For a removed one the kernel's suffix " (deleted)" stays: a directory may
// have that name.
func Cwd(pid int) (string, error) { return readLink(pid, "cwd") }

func readLink(pid int, file string) (string, error) {
	if root == "" {
		return "", &Error{pid, file, errors.ErrUnsupported}
	}
	to, err := os.Readlink(path(pid, file))
	if err != nil {
		return "", &Error{pid, file, err}
	}
	return to, nil
}

// Children returns a process's direct children, created by any of its threads, from the kernel's lists.
func Children(pid int) ([]int, error) {
	tids, err := numbers(path(pid, "task"))
	if err != nil {
		return nil, &Error{pid, "task", err}
	}
	var all []int
	for _, tid := range tids {
		b, err := read(pid, "task/"+strconv.Itoa(tid)+"/children")
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
	pids, err := numbers(root)
	if err != nil {
		return nil, &Error{0, "/proc", err}
	}
	return pids, nil
}

// numbers returns the numeric names in a directory.
func numbers(dir string) ([]int, error) {
	if dir == "" {
		return nil, errors.ErrUnsupported
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1) // what there is: processes come and go
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

// Field returns the first word after "name:" in a process file of such lines (status, smaps_rollup); pid 0 is this
// process. ErrGone reports a missing line.
func Field(pid int, file, name string) (string, error) {
	b, err := read(pid, file)
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

// Number returns a decimal Field, or 0.
func Number(pid int, file, name string) int64 {
	value, _ := Field(pid, file, name)
	n, _ := strconv.ParseInt(value, 10, 64) // the kernel's
	return n
}

// Descriptors returns the open file numbers of a process; pid 0 is this process.
func Descriptors(pid int) ([]int, error) {
	fds, err := numbers(path(pid, "fd"))
	if err != nil && pid == 0 {
		fds, err = numbers("/dev/fd") // without /proc
	}
	if err != nil {
		return nil, &Error{pid, "fd", err}
	}
	return fds, nil
}

// Maps returns the number of a process's memory mappings.
func Maps(pid int) (int, error) {
	b, err := read(pid, "maps")
	return bytes.Count(b, []byte{'\n'}), err
}

// OOMKills returns how many processes the system has killed for lack of memory; 0 if unknown.
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
	b, err := read(pid, oomFile)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(b)))
	if err != nil {
		return 0, &Error{pid, oomFile, ErrMalformed}
	}
	return n, nil
}

// SetOOMScore sets it.
func SetOOMScore(pid, score int) error {
	if root == "" {
		return &Error{pid, oomFile, errors.ErrUnsupported}
	}
	if err := os.WriteFile(path(pid, oomFile), []byte(strconv.Itoa(score)), 0); err != nil {
		return &Error{pid, oomFile, err}
	}
	return nil
}

// DescriptorPath returns the path of an open file, for calls that need a path. Linux only.
func DescriptorPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// File is what a path means to another process: its own root and mounts, and "self" its own.
type File struct {
	Path string // without symbolic links, as that process sees it
	Mode fs.FileMode
	At   string // where it is for us
	// Elsewhere states that the process has other mounts or another root, so that Path names another file for us.
	Elsewhere bool
	// Inode and Dir are the file and the directory that it is in, as they were on the way to it.
	Inode, Dir Inode
}

// Inode is the system's data on a file. It is unset unless Known.
type Inode struct {
	Known       bool
	Dev, Number uint64
	Size        int64
	UID         uint32
	Regular     bool
	Perm        fs.FileMode // permission bits only
	Written     time.Time   // its content, which may be set
	Changed     time.Time   // anything of it
}
