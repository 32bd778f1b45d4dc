//go:build unix

package executions

import (
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/sys"
)

// An executed file may run another: a script runs its interpreter, a loader its program. The kernel reports only the
// first. A file may also be a different program than its name suggests: a link, a copy, or a mount of this process. All
// of these are judged too.

// maxHops is the number of nested interpreters that the kernel starts (fs/exec.c).
const maxHops = 5

// headBytes is how much the kernel reads of a file to detect its format (BINPRM_BUF_SIZE).
const headBytes = 256

// started caches the programs with which sessions start.
var started programs

// AddStartPrograms adds to a request which other programs run if a session starts with file. Only the daemon checks that:
// the keeper's listener starts after the session's own process.
func AddStartPrograms(a *authorize.Request, file string) {
	if f, err := fileOf(os.Getpid(), a.Cwd, file); err == nil {
		started.addPrograms(a, os.Getpid(), f)
	}
}

// fileOf returns sys.ResolvePath. Where the system cannot resolve paths of other processes, it resolves them for the daemon.
func fileOf(pid int, dir, path string) (sys.ResolvedFile, error) {
	f, err := sys.ResolvePath(pid, dir, path)
	if !errors.Is(err, errors.ErrUnsupported) {
		return f, err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	real, err := filepath.EvalSymlinks(path)
	return sys.ResolvedFile{Path: real, LocalPath: real}, err
}

// addPrograms adds the other programs that run if a file is executed.
func (p *programs) addPrograms(a *authorize.Request, pid int, file sys.ResolvedFile) {
	argv := a.Argv
	for hop := range maxHops {
		if len(argv) == 0 {
			return
		}
		for _, other := range p.otherNames(file) {
			a.Also = append(a.Also, append([]string{other}, argv[1:]...))
		}
		if file.IsDifferentLocally {
			a.Opaque = "its process has private mounts, and the file is not the one that its name means elsewhere"
		}
		is, words := p.kindOf(file)
		switch is {
		case programFile:
			return
		case scriptFile:
			name := file.Path
			if hop == 0 && a.Link != "" {
				name = a.Link // the kernel passes the executed name
			}
			words = append(append(words, name), argv[1:]...)
		case loaderFile:
			known := false
			if words, known = loaderCommand(argv); !known {
				a.Opaque = "a loader runs it, with options that bring other code or are not known"
			}
			if len(words) == 0 {
				return
			}
		}
		f, err := fileOf(pid, a.Cwd, words[0])
		if err != nil {
			return // nor does the kernel find it
		}
		file, argv = f, append([]string{f.Path}, words[1:]...)
		if is == scriptFile {
			a.Scripts = append(a.Scripts, argv)
		} else {
			a.Also = append(a.Also, argv)
		}
	}
}

// kind is how the kernel treats an executable file.
type kind int

const (
	programFile kind = iota
	scriptFile
	loaderFile
)

// kindOf returns the kind of a file, cached unless it is a script: a script's words are read each time.
func (p *programs) kindOf(file sys.ResolvedFile) (kind, []string) {
	path := file.LocalPath
	id, ok := identifyFile(file)
	if !ok {
		return kindOf(path)
	}
	p.mu.Lock()
	is, seen := p.kinds[id]
	p.mu.Unlock()
	if seen {
		return is, nil
	}
	is, words := kindOf(path)
	after, ok := identify(path)
	if is == scriptFile || !ok || after != id {
		return is, words
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kinds == nil || len(p.kinds) >= maxCached {
		p.kinds = map[contentID]kind{}
	}
	p.kinds[id] = is
	return is, nil
}

// kindOf returns how the kernel treats a file, and the words of a script's first line. An unreadable file is a program:
// it can be neither a script nor a loader of the system.
func kindOf(path string) (kind, []string) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return programFile, nil
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return programFile, nil
	}
	head := make([]byte, headBytes)
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	if words := interpreterOf(head); words != nil {
		return scriptFile, words
	}
	if len(head) > 17 && string(head[:4]) == elf.ELFMAG && (head[16] == byte(elf.ET_DYN) || head[17] == byte(elf.ET_DYN)) && isLoader(f) {
		return loaderFile, nil
	}
	return programFile, nil
}

// interpreterOf returns the words of a script's first line as the kernel splits them: the interpreter, and the rest as
// one word. It returns nil if the file is no script.
func interpreterOf(head []byte) []string {
	line, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return nil
	}
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	if i := bytes.IndexByte(line, 0); i >= 0 {
		line = line[:i]
	}
	text := strings.Trim(string(line), " \t")
	if text == "" {
		return nil
	}
	name, arg := text, ""
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		name, arg = text[:i], strings.Trim(text[i:], " \t")
	}
	if arg == "" {
		return []string{name}
	}
	return []string{name, arg}
}

// isLoader reports whether an object is a loader: an executable library with a name for others (SONAME) and no interpreter.
// Static programs have no such name.
func isLoader(r io.ReaderAt) bool {
	f, err := elf.NewFile(r)
	if err != nil {
		return false
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return false
		}
	}
	names, err := f.DynString(elf.DT_SONAME)
	return err == nil && len(names) > 0
}

// loaderCommand returns the command that a loader runs. known reports whether all its options are known.
func loaderCommand(argv []string) (rest []string, known bool) {
	known = true
	for i := 1; i < len(argv); i++ {
		name, _, given := strings.Cut(argv[i], "=")
		switch {
		case argv[i] == "--":
			return argv[i+1:], known
		case !strings.HasPrefix(argv[i], "--"):
			return argv[i:], known
		case slices.Contains([]string{"--list", "--verify", "--inhibit-cache", "--list-tunables", "--list-diagnostics", "--help", "--version"}, name):
		case slices.Contains([]string{"--library-path", "--inhibit-rpath", "--argv0", "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask"}, name):
			if !given {
				i++
			}
		case slices.Contains([]string{"--preload", "--audit"}, name): // they bring code
			known = false
			if !given {
				i++
			}
		default:
			known = false
		}
	}
	return nil, known
}

// programDirs lists the directories whose programs a rule may name without a path.
var programDirs = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// programs identifies the system's programs by content. The list is read on first use and after a directory changed.
type programs struct {
	mu     sync.Mutex
	stamps [6]time.Time // of programDirs
	bySize map[int64][]string
	names  map[contentID][]string // other names of compared files
	kinds  map[contentID]kind     // kinds of examined files
}

// contentID identifies the content of a file. A program may set a file's modification time, but not its change time.
// Changes within one clock tick share a time, so recently changed files are not cached (see settled).
type contentID struct {
	dev, ino uint64
	size     int64
	changed  time.Time
	inode    time.Time
}

// settleTime is how long a file must be unchanged before its contentID is trusted. File system clocks tick at least
// every 10 ms.
const settleTime = time.Second

// identify returns the contentID of the file at a path. ok is false if it is not a regular file or changed just now.
func identify(path string) (id contentID, ok bool) {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return id, false
	}
	return identityOf(st)
}

// identifyFile returns the contentID of a file, from its inode if that was read.
func identifyFile(file sys.ResolvedFile) (id contentID, ok bool) {
	of := &file.Inode
	if !of.IsKnown {
		return identify(file.LocalPath)
	}
	if !of.IsRegular {
		return id, false
	}
	id = contentID{of.Dev, of.Number, of.Size, of.Modified, of.Changed}
	return id, time.Since(id.inode) > settleTime
}

// identityOf returns the contentID for a file's metadata.
func identityOf(st os.FileInfo) (id contentID, ok bool) {
	raw, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return id, false
	}
	id = contentID{uint64(raw.Dev), uint64(raw.Ino), st.Size(), st.ModTime(), inodeTime(raw)}
	return id, time.Since(id.inode) > settleTime
}

// maxCached bounds the cached files.
const maxCached = 4096

// otherNames returns the system's programs that a file is under another name: the same file, or the same bytes.
func (p *programs) otherNames(file sys.ResolvedFile) []string {
	if file.LocalPath == "" || !file.IsDifferentLocally && slices.Contains(programDirs, filepath.Dir(file.Path)) {
		return nil
	}
	st, err := os.Stat(file.LocalPath)
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	id, whole := identityOf(st)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refresh()
	same := p.bySize[st.Size()]
	if len(same) == 0 {
		return nil
	}
	if names, ok := p.names[id]; ok && whole {
		return names
	}
	var names []string
	for _, path := range same {
		if other, err := os.Stat(path); err == nil && (os.SameFile(st, other) || sameContent(file.LocalPath, path)) {
			names = append(names, path)
		}
	}
	if len(p.names) >= maxCached {
		clear(p.names)
	}
	if whole {
		p.names[id] = names
	}
	return names
}

// refresh reads the directories again if one of them has changed. The caller holds the lock.
func (p *programs) refresh() {
	var stamps [6]time.Time
	for i, dir := range programDirs {
		if st, err := os.Lstat(dir); err == nil && st.IsDir() { // /bin may be /usr/bin
			stamps[i] = st.ModTime()
		}
	}
	if p.bySize != nil && stamps == p.stamps {
		return
	}
	p.stamps, p.bySize, p.names = stamps, map[int64][]string{}, map[contentID][]string{}
	for i, dir := range programDirs {
		if stamps[i].IsZero() {
			continue
		}
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if st, err := e.Info(); err == nil && st.Mode().IsRegular() {
				p.bySize[st.Size()] = append(p.bySize[st.Size()], filepath.Join(dir, e.Name()))
			}
		}
	}
}

// sameContent reports whether two files of the same size have the same bytes.
func sameContent(a, b string) bool {
	one, err := os.Open(a)
	if err != nil {
		return false
	}
	defer one.Close()
	two, err := os.Open(b)
	if err != nil {
		return false
	}
	defer two.Close()
	const piece = 64 << 10
	x, y := make([]byte, piece), make([]byte, piece)
	for {
		n, err := io.ReadFull(one, x)
		m, _ := io.ReadFull(two, y)
		if n != m || !bytes.Equal(x[:n], y[:m]) {
			return false
		}
		if err != nil {
			return n < piece
		}
	}
}
