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

	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/sys"
)

// A file that is executed may run another one: a script its interpreter, a loader the program that it is given. The
// kernel tells of the first only. And a file may be another program than its name says: a link, a copy, a mount that the
// process alone has. All that it is by these is judged, too.

// maxHops is how many interpreters the kernel starts, one for the other (fs/exec.c).
const maxHops = 5

// headBytes is what the kernel reads of a file to know what it is (BINPRM_BUF_SIZE).
const headBytes = 256

// started knows the programs that sessions are started with.
var started programs

// LookAtFirst adds what else is run by starting a session with a file. Nothing but the daemon is asked about that: the
// session's own process executes it before there is anything to judge.
func LookAtFirst(a *gateway.Ask, file string) {
	if f, err := fileOf(os.Getpid(), a.Cwd, file); err == nil {
		started.look(a, os.Getpid(), f)
	}
}

// fileOf is sys.FileOf; where that is not known of other processes, paths are what they are to us.
func fileOf(pid int, dir, path string) (sys.File, error) {
	f, err := sys.FileOf(pid, dir, path)
	if !errors.Is(err, errors.ErrUnsupported) {
		return f, err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	real, err := filepath.EvalSymlinks(path)
	return sys.File{Path: real, At: real}, err
}

// look adds what else is run by executing a file.
func (p *programs) look(a *gateway.Ask, pid int, file sys.File) {
	argv := a.Argv
	for hop := range maxHops {
		if len(argv) == 0 {
			return
		}
		for _, other := range p.otherNames(file) {
			a.Also = append(a.Also, append([]string{other}, argv[1:]...))
		}
		if file.Elsewhere {
			a.Opaque = "its process has mounts of its own, and the file is another one than that of its name"
		}
		is, words := p.kindOf(file)
		switch is {
		case isProgram:
			return
		case isScript:
			name := file.Path
			if hop == 0 && a.Link != "" {
				name = a.Link // the kernel hands on the name that was executed
			}
			words = append(append(words, name), argv[1:]...)
		case isLoader:
			known := false
			if words, known = loaded(argv); !known {
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
		if is == isScript {
			a.Scripts = append(a.Scripts, argv)
		} else {
			a.Also = append(a.Also, argv)
		}
	}
}

type kind int

const (
	isProgram kind = iota
	isScript
	isLoader
)

// kindOf is what a file is, remembered of one that is no script: their words are read each time.
func (p *programs) kindOf(file sys.File) (kind, []string) {
	path := file.At
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
	if is == isScript || !ok || after != id {
		return is, words
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kinds == nil || len(p.kinds) >= maxAnswers {
		p.kinds = map[identity]kind{}
	}
	p.kinds[id] = is
	return is, nil
}

// kindOf is what a file is to the kernel, and the words that a script's first line has. What cannot be read is a program:
// it cannot be a script then, and is no loader of the system.
func kindOf(path string) (kind, []string) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return isProgram, nil
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return isProgram, nil
	}
	head := make([]byte, headBytes)
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	if words := interpreterOf(head); words != nil {
		return isScript, words
	}
	if len(head) > 17 && string(head[:4]) == elf.ELFMAG && (head[16] == byte(elf.ET_DYN) || head[17] == byte(elf.ET_DYN)) && loads(f) {
		return isLoader, nil
	}
	return isProgram, nil
}

// interpreterOf are the words of a script's first line as the kernel takes them: the interpreter, and all that follows
// as one word. nil: it is no script.
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

// loads says that an object is the system's loader, or one like it: a library, by its name for others, that is executed
// and needs no interpreter itself. Static programs have no such name.
func loads(r io.ReaderAt) bool {
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

// loaded is what a loader is told to run; known says that its options are.
func loaded(argv []string) (rest []string, known bool) {
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

// programDirs are where the programs are that rules mean by a name alone.
var programDirs = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// programs knows the system's programs by what they are. They are listed when they are first asked for, and when a
// directory has changed.
type programs struct {
	mu      sync.Mutex
	stamps  [6]time.Time // of programDirs
	bySize  map[int64][]string
	answers map[identity][]string // of files that were compared
	kinds   map[identity]kind     // of files that were looked into
}

// identity tells a file, as it is, from all others. Its program may set the time of its content, and not that of its
// last change; a change within the clock's last tick may go by, so that what changed just now is not taken for known.
type identity struct {
	dev, ino uint64
	size     int64
	changed  time.Time
	inode    time.Time
}

// settled is how long ago a file has last changed that is known by its identity: clocks of file systems tick every 10 ms at most.
const settled = time.Second

// identify is the identity of a file by a path; ok is false of what has none, or has changed just now.
func identify(path string) (id identity, ok bool) {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return id, false
	}
	return identityOf(st)
}

// identifyFile is identify of a file that was looked at, or may not have been.
func identifyFile(file sys.File) (id identity, ok bool) {
	of := &file.Inode
	if !of.Known {
		return identify(file.At)
	}
	if !of.Regular {
		return id, false
	}
	id = identity{of.Dev, of.Number, of.Size, of.Written, of.Changed}
	return id, time.Since(id.inode) > settled
}

func identityOf(st os.FileInfo) (id identity, ok bool) {
	raw, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return id, false
	}
	id = identity{uint64(raw.Dev), uint64(raw.Ino), st.Size(), st.ModTime(), inodeTime(raw)}
	return id, time.Since(id.inode) > settled
}

// maxAnswers bounds what is remembered.
const maxAnswers = 4096

// otherNames are the system's programs that a file is, under another name: the same file, or the same bytes.
func (p *programs) otherNames(file sys.File) []string {
	if file.At == "" || !file.Elsewhere && slices.Contains(programDirs, filepath.Dir(file.Path)) {
		return nil
	}
	st, err := os.Stat(file.At)
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	id, whole := identityOf(st)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list()
	same := p.bySize[st.Size()]
	if len(same) == 0 {
		return nil
	}
	if names, ok := p.answers[id]; ok && whole {
		return names
	}
	var names []string
	for _, path := range same {
		if other, err := os.Stat(path); err == nil && (os.SameFile(st, other) || equal(file.At, path)) {
			names = append(names, path)
		}
	}
	if len(p.answers) >= maxAnswers {
		clear(p.answers)
	}
	if whole {
		p.answers[id] = names
	}
	return names
}

// list reads the directories if one of them has changed. Called with the lock held.
func (p *programs) list() {
	var stamps [6]time.Time
	for i, dir := range programDirs {
		if st, err := os.Lstat(dir); err == nil && st.IsDir() { // /bin may be /usr/bin
			stamps[i] = st.ModTime()
		}
	}
	if p.bySize != nil && stamps == p.stamps {
		return
	}
	p.stamps, p.bySize, p.answers = stamps, map[int64][]string{}, map[identity][]string{}
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

// equal says that two files, of the same size, have the same bytes.
func equal(a, b string) bool {
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
