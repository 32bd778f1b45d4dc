package draft

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// helperVariable makes the test binary run as the process in a draft: it mounts the overlay and applies operations.
const helperVariable = "LONGTERM_TEST_DRAFT"

func TestMain(m *testing.M) {
	if at := os.Getenv(helperVariable); at != "" {
		if err := helper(at); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// helper mounts an overlay, and applies the operations from standard input. It answers each with a line.
func helper(at string) error {
	r := Root{Lower: filepath.Join(at, "lower"), Upper: filepath.Join(at, "draft/0/upper"), Work: filepath.Join(at, "draft/0/work")}
	merged := filepath.Join(at, "merged")
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private: %w", err)
	}
	options := fmt.Sprintf("userxattr,lowerdir=%s,upperdir=%s,workdir=%s", r.Lower, r.Upper, r.Work)
	if err := unix.Mount("overlay", merged, "overlay", 0, options); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	unix.Umask(0o022)
	if os.Getuid() != 0 { // the capabilities were for the mount
		runtime.LockOSThread()
		none := [2]unix.CapUserData{}
		if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
			return fmt.Errorf("capset: %w", err)
		}
	}
	fmt.Println("mounted")
	in := json.NewDecoder(os.Stdin)
	for {
		var o op
		if err := in.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := o.apply(merged); err != nil {
			fmt.Printf("%q\n", err)
			continue
		}
		fmt.Println("ok")
	}
}

// bed is a root, its draft, and, while mounted, the process in the draft.
type bed struct {
	t     testing.TB
	at    string
	lower string
	d     *Draft
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
}

// newBed makes a root with the files that fill makes, and a draft of it.
func newBed(t testing.TB, fill func(lower string)) *bed {
	t.Helper()
	return newBedAt(t, t.TempDir(), fill)
}

func newBedAt(t testing.TB, at string, fill func(lower string)) *bed {
	t.Helper()
	b := &bed{t: t, at: at, lower: filepath.Join(at, "lower")}
	check(t, os.Mkdir(b.lower, 0o755))
	check(t, os.Mkdir(filepath.Join(at, "merged"), 0o755))
	fill(b.lower)
	var err error
	b.d, err = Create(filepath.Join(at, "draft"), Options{Roots: []string{b.lower}, Session: "s", Command: "c"})
	check(t, err)
	t.Cleanup(func() {
		b.unmount()
		_ = chmodAll(at)
	})
	return b
}

// chmodAll lets the test's directory be removed by an unprivileged user.
func chmodAll(at string) error {
	return filepath.WalkDir(at, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
}

// mount starts the process in the draft.
func (b *bed) mount() {
	b.t.Helper()
	b.cmd = exec.Command("/proc/self/exe")
	b.cmd.Env = append(os.Environ(), helperVariable+"="+b.at)
	b.cmd.Stderr = os.Stderr
	maps := []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	if os.Getuid() == 0 {
		maps[0].Size = 1<<31 - 1
	}
	b.cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: maps,
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: maps[0].Size}},
		Pdeathsig:   syscall.SIGKILL,
	}
	if os.Getuid() == 0 {
		b.cmd.SysProcAttr.GidMappingsEnableSetgroups = true
	} else {
		b.cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE}
	}
	var err error
	b.in, err = b.cmd.StdinPipe()
	check(b.t, err)
	out, err := b.cmd.StdoutPipe()
	check(b.t, err)
	b.out = bufio.NewReader(out)
	if err := b.cmd.Start(); err != nil {
		b.cmd = nil
		b.t.Skipf("no user namespaces: %v", err)
	}
	if line, err := b.out.ReadString('\n'); err != nil || line != "mounted\n" {
		b.t.Skipf("no overlay in a user namespace: %q, %v", line, err)
	}
}

// do applies operations in the draft. It returns the failed ones.
func (b *bed) do(ops ...op) (failed []string) {
	b.t.Helper()
	e := json.NewEncoder(b.in)
	for _, o := range ops {
		check(b.t, e.Encode(o))
		line, err := b.out.ReadString('\n')
		check(b.t, err)
		if line != "ok\n" {
			failed = append(failed, fmt.Sprintf("%v: %s", o, strings.TrimSpace(line)))
		}
	}
	return failed
}

// must is do for operations that cannot fail.
func (b *bed) must(ops ...op) {
	b.t.Helper()
	if failed := b.do(ops...); failed != nil {
		b.t.Fatal(failed)
	}
}

// unmount ends the process in the draft.
func (b *bed) unmount() {
	if b.cmd == nil {
		return
	}
	_ = b.in.Close()
	_ = b.cmd.Wait()
	b.cmd = nil
}

// inDraft mounts, applies operations and unmounts.
func (b *bed) inDraft(ops ...op) {
	b.t.Helper()
	b.mount()
	b.must(ops...)
	b.unmount()
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// op is an operation on a tree. Paths are bytes, since JSON cannot represent names that are not UTF-8.
type op struct {
	Do   string
	A, B []byte
	Data string
	Mode uint32
}

func (o op) String() string { return fmt.Sprintf("%s %q %q %q %o", o.Do, o.A, o.B, o.Data, o.Mode) }

// apply applies o to the tree at root.
func (o op) apply(root string) error {
	a, b := filepath.Join(root, string(o.A)), filepath.Join(root, string(o.B))
	switch o.Do {
	case "write":
		f, err := os.OpenFile(a, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|syscall.O_NONBLOCK, 0o644) // a fifo without a reader is an error
		if err != nil {
			return err
		}
		_, err = f.WriteString(o.Data)
		return errors.Join(err, f.Close())
	case "append":
		f, err := os.OpenFile(a, os.O_APPEND|os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString(o.Data)
		return errors.Join(err, f.Close())
	case "touch": // copies up and changes nothing
		f, err := os.OpenFile(a, os.O_RDWR|syscall.O_NOFOLLOW, 0)
		if err != nil {
			return err
		}
		return f.Close()
	case "rm":
		return os.RemoveAll(a)
	case "mv":
		return move(a, b)
	case "ln":
		return os.Link(a, b)
	case "symlink":
		return os.Symlink(o.Data, a)
	case "chmod":
		return unix.Fchmodat(unix.AT_FDCWD, a, o.Mode, unix.AT_SYMLINK_NOFOLLOW)
	case "cp":
		return copyTree(a, b)
	case "mkdir":
		return os.Mkdir(a, 0o755)
	case "remake":
		if err := os.RemoveAll(a); err != nil {
			return err
		}
		return os.Mkdir(a, 0o755)
	case "setxattr":
		return unix.Lsetxattr(a, o.Data, []byte("v"), 0)
	case "rmxattr":
		return unix.Lremovexattr(a, o.Data)
	case "tree":
		all, err := readTree(root)
		if err != nil {
			return err
		}
		b, err := json.Marshal(all)
		if err != nil {
			return err
		}
		return os.WriteFile(o.Data, b, 0o600)
	case "fifo":
		return unix.Mkfifo(a, 0o600)
	}
	return errors.New("unknown operation")
}

// move does what mv does: it copies files that rename cannot move.
func move(a, b string) error {
	if filepath.Clean(a) == filepath.Clean(b) || strings.HasPrefix(b, a+"/") {
		return errors.New("into itself")
	}
	if _, err := os.Lstat(b); err == nil {
		return errors.New("exists")
	}
	err := unix.Rename(a, b)
	if !errors.Is(err, unix.EXDEV) {
		return err
	}
	if err := copyTree(a, b); err != nil {
		return err
	}
	return os.RemoveAll(a)
}

// copyTree is cp -a without hard links: in an overlay, inode numbers do not show those of copied-up files.
func copyTree(a, b string) error {
	if strings.HasPrefix(b+"/", a+"/") {
		return errors.New("into itself")
	}
	var st unix.Stat_t
	if err := unix.Lstat(a, &st); err != nil {
		return err
	}
	var err error
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		if err = os.Mkdir(b, 0o700); err != nil {
			return err
		}
		entries, err := os.ReadDir(a)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := copyTree(filepath.Join(a, e.Name()), filepath.Join(b, e.Name())); err != nil {
				return err
			}
		}
	case unix.S_IFLNK:
		to, err := os.Readlink(a)
		if err != nil {
			return err
		}
		return os.Symlink(to, b)
	case unix.S_IFREG:
		data, err := os.ReadFile(a)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(b, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	default:
		err = unix.Mknod(b, st.Mode, 0)
	}
	if err != nil {
		return err
	}
	for k, v := range userAttributes(a) {
		if err := unix.Lsetxattr(b, k, []byte(v), 0); err != nil {
			return err
		}
	}
	return os.Chmod(b, fs.FileMode(st.Mode&0o777))
}

func userAttributes(path string) map[string]string {
	all := map[string]string{}
	buf := make([]byte, 4096)
	n, err := unix.Llistxattr(path, buf)
	if err != nil {
		return nil
	}
	for k := range strings.SplitSeq(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00") {
		if strings.HasPrefix(k, "user.") {
			v := make([]byte, 4096)
			if m, err := unix.Lgetxattr(path, k, v); err == nil {
				all[k] = string(v[:m])
			}
		}
	}
	return all
}

// tree describes each file of a tree: type, mode, content, attributes, hard links.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	all, err := readTree(root)
	check(t, err)
	return all
}

// readTree is tree. Names are quoted.
func readTree(root string) (map[string]string, error) {
	all := map[string]string{}
	linked := map[uint64][]string{}
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		var st unix.Stat_t
		if err := unix.Lstat(p, &st); err != nil {
			return err
		}
		s := fmt.Sprintf("%o %d:%d", st.Mode, st.Uid, st.Gid)
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			s += fmt.Sprintf(" %x", sha256.Sum256(b))
			linked[st.Ino] = append(linked[st.Ino], rel)
		case unix.S_IFLNK:
			to, _ := os.Readlink(p)
			s += " " + to
		}
		x := userAttributes(p)
		for _, k := range slices.Sorted(maps.Keys(x)) {
			s += fmt.Sprintf(" %s=%s", k, x[k])
		}
		all[strconv.Quote(rel)] = s
		return nil
	})
	for _, names := range linked {
		if len(names) > 1 {
			for _, n := range names {
				all[strconv.Quote(n)] += fmt.Sprintf(" links %q", names)
			}
		}
	}
	return all, err
}

// seenInside returns the tree that the process in the draft sees.
func (b *bed) seenInside() (all map[string]string) {
	b.t.Helper()
	path := filepath.Join(b.at, "tree.json")
	b.must(op{Do: "tree", Data: path})
	data, err := os.ReadFile(path)
	check(b.t, err)
	check(b.t, json.Unmarshal(data, &all))
	return all
}

// withoutLinks removes the information which files are hard links.
func withoutLinks(all map[string]string) map[string]string {
	out := map[string]string{}
	for p, s := range all {
		out[p], _, _ = strings.Cut(s, " links ")
	}
	return out
}

// difference returns the paths in which two trees differ.
func difference(a, b map[string]string) (lines []string) {
	for p, x := range a {
		if y, ok := b[p]; !ok {
			lines = append(lines, fmt.Sprintf("- %s %s", p, x))
		} else if x != y {
			lines = append(lines, fmt.Sprintf("! %s %s | %s", p, x, y))
		}
	}
	for p, y := range b {
		if _, ok := a[p]; !ok {
			lines = append(lines, fmt.Sprintf("+ %s %s", p, y))
		}
	}
	slices.Sort(lines)
	return lines
}

// randomTree makes files and directories.
func randomTree(t testing.TB, r *rand.Rand, root string) {
	dirs := []string{""}
	for i := range 6 {
		d := filepath.Join(dirs[r.IntN(len(dirs))], fmt.Sprintf("d%d", i))
		check(t, os.Mkdir(filepath.Join(root, d), 0o755))
		dirs = append(dirs, d)
	}
	for i := range 12 {
		p := filepath.Join(root, dirs[r.IntN(len(dirs))], fmt.Sprintf("f%d", i))
		check(t, os.WriteFile(p, fmt.Appendf(nil, "content %d", r.IntN(1000)), 0o644))
		if i%4 == 0 {
			check(t, unix.Setxattr(p, "user.old", []byte("x"), 0))
		}
	}
	check(t, os.Symlink("f1", filepath.Join(root, "l0")))
}

// randomOps returns a script for a tree, which it applies to the tree at direct, so that most operations have a target.
func randomOps(t testing.TB, r *rand.Rand, direct string, count int) (ops []op) {
	old := map[string]bool{} // directories of the root: an overlay cannot rename them, so mv copies and breaks links
	check(t, filepath.WalkDir(direct, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			old[p] = true
		}
		return err
	}))
	run := func(o op) {
		a, b := filepath.Join(direct, string(o.A)), filepath.Join(direct, string(o.B))
		if o.Do == "mv" && old[a] {
			if _, err := os.Lstat(b); err != nil && copyTree(a, b) == nil {
				check(t, os.RemoveAll(a))
			}
		} else {
			_ = o.apply(direct)
		}
		if o.Do == "mv" || o.Do == "rm" || o.Do == "remake" {
			if _, err := os.Lstat(a); err != nil || o.Do == "remake" {
				maps.DeleteFunc(old, func(p string, _ bool) bool { return beneath(p, a) })
			}
		}
	}
	odd := []string{"plain", "back\\slash", "new\nline", "inv\xff\xfealid", "sp ace", "-dash"}
	for range count {
		var files, dirs, all []string
		check(t, filepath.WalkDir(direct, func(p string, e fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(direct, p)
			switch {
			case err != nil:
				return err
			case e.IsDir():
				dirs = append(dirs, rel)
			case e.Type().IsRegular():
				files = append(files, rel)
			}
			if rel != "." {
				all = append(all, rel)
			}
			return nil
		}))
		pick := func(from []string) []byte {
			if len(from) == 0 {
				return []byte("missing")
			}
			return []byte(from[r.IntN(len(from))])
		}
		fresh := func() []byte {
			return []byte(filepath.Join(dirs[r.IntN(len(dirs))], fmt.Sprintf("%s%d", odd[r.IntN(len(odd))], r.IntN(6))))
		}
		deep := func() []byte {
			if len(dirs) < 2 {
				return []byte("missing")
			}
			return []byte(dirs[1+r.IntN(len(dirs)-1)])
		}
		data := fmt.Sprintf("data %d", r.IntN(1_000_000))
		var o op
		switch r.IntN(20) {
		case 0, 1:
			o = op{Do: "write", A: fresh(), Data: data}
		case 2, 3, 4:
			o = op{Do: "append", A: pick(files), Data: data}
		case 5:
			o = op{Do: "touch", A: pick(files)}
		case 6:
			o = op{Do: "rm", A: pick(all)}
		case 7, 8:
			o = op{Do: "mv", A: pick(all), B: fresh()}
		case 9:
			o = op{Do: "mv", A: deep(), B: fresh()}
		case 10, 11:
			o = op{Do: "ln", A: pick(files), B: fresh()}
		case 12:
			o = op{Do: "symlink", A: fresh(), Data: "../outside"}
		case 13:
			o = op{Do: "chmod", A: pick(all), Mode: []uint32{0o744, 0o755, 0o700, 0o711}[r.IntN(4)]}
		case 14:
			o = op{Do: "cp", A: deep(), B: fresh()}
		case 15, 16:
			o = op{Do: "remake", A: deep()}
		case 17:
			o = op{Do: "setxattr", A: pick(append(slices.Clone(files), dirs...)), Data: []string{"user.a", "user.overlay.opaque", "user.overlay.z"}[r.IntN(3)]}
		case 18:
			o = op{Do: "mkdir", A: fresh()}
		case 19:
			if p := pick(all); r.IntN(2) == 0 { // another type
				ops = append(ops, op{Do: "rm", A: p})
				run(ops[len(ops)-1])
				o = op{Do: []string{"mkdir", "write", "fifo"}[r.IntN(3)], A: p, Data: data}
			} else {
				o = op{Do: "rmxattr", A: pick(files), Data: "user.old"}
			}
		}
		run(o)
		ops = append(ops, o)
	}
	return ops
}

// unquote returns a path of a tree.
func unquote(quoted string) string {
	p, err := strconv.Unquote(quoted)
	if err != nil || p == "." {
		return ""
	}
	return p
}
