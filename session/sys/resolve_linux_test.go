package sys

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// FEATURES: R107
func TestResolvePath(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("p", 0o755)
	write("s", 0o4755|os.ModeSetuid)
	link("p", "rel")
	link(filepath.Join(dir, "rel"), "abs")
	link("../sub/../p", "sub/up")
	link("loop", "loop")
	link("sub", "d")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pid := os.Getpid()
	for path, want := range map[string]string{
		"p": dir + "/p", "./rel": dir + "/p", dir + "/abs": dir + "/p", "d/up": dir + "/p", "d/../p": dir + "/p", dir + "//./p": dir + "/p",
		"s": dir + "/s", "/": "/", "/..": "/", "../../../../../../../../../..": "/",
		"/proc/self/exe": self, "/proc/" + strconv.Itoa(pid) + "/exe": self, "/proc/self/root" + self: self,
		"none": "not there", "p/x": "not a directory", "loop": "loop", "d/none/x": "not there",
	} {
		f, err := ResolvePath(pid, dir, path)
		switch want {
		case "not there":
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %+v, %v", path, f, err)
			}
		case "not a directory":
			if !errors.Is(err, syscall.ENOTDIR) {
				t.Errorf("%s: %+v, %v", path, f, err)
			}
		case "loop":
			if !errors.Is(err, syscall.ELOOP) {
				t.Errorf("%s: %+v, %v", path, f, err)
			}
		default:
			if err != nil || f.Path != want || (f.Mode&fs.ModeSetuid != 0) != (path == "s") {
				t.Errorf("%s: %+v, %v; want %s", path, f, err, want)
			}
			checkInode(t, path, f.Inode, f.LocalPath)
			checkInode(t, path, f.Dir, filepath.Dir(f.LocalPath))
			if up := path == "d/up" || path == "d/../p"; want == dir+"/p" && (!f.Inode.IsKnown || !f.Dir.IsKnown && !up) {
				t.Errorf("%s: got no inode", path)
			}
		}
	}
}

// checkInode compares the inode of a resolved path with the file's.
func checkInode(t *testing.T, path string, got Inode, at string) {
	t.Helper()
	st, err := os.Stat(at)
	if err != nil || !got.IsKnown {
		return
	}
	of, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatal("no stat")
	}
	want := Inode{true, of.Dev, of.Ino, st.Size(), of.Uid, st.Mode().IsRegular(), st.Mode().Perm(), st.ModTime(), time.Unix(of.Ctim.Unix())}
	if got != want {
		t.Errorf("%s: %s was seen as %+v, and is %+v", path, at, got, want)
	}
}

// TestRootOf checks that a root directory differs from ours if the process has another one, or private mounts: by the
// unique mount id as well as by the two links.
//
// FEATURES: R107
func TestRootOf(t *testing.T) {
	for name, c := range map[string]struct {
		argv  []string
		other bool
	}{
		"ours":                {[]string{"sh", "-c", "echo; read x"}, false},
		"another namespace":   {[]string{"unshare", "-r", "sh", "-c", "echo; read x"}, false},
		"mounts of its own":   {[]string{"unshare", "-rm", "sh", "-c", "echo; read x"}, true},
		"another directory":   {[]string{"unshare", "-r", "chroot", "/usr", "/bin/sh", "-c", "echo; read x"}, true},
		"ours, mounted again": {[]string{"unshare", "-rm", "sh", "-c", `mount --rbind / "$0" && exec chroot "$0" sh -c "echo; read x"`, t.TempDir()}, true},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(c.argv[0], c.argv[1:]...)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { _, _ = in.Close(), cmd.Wait() }) // however the test ended
			if n, err := out.Read(make([]byte, 1)); n != 1 {
				t.Skipf("not supported here: %v", err)
			}
			pid := cmd.Process.Pid
			if at := rootOf(pid); (at != "") != c.other {
				t.Errorf("got root %q", at)
			}
			if same := hasSameRoot(pid); same && c.other || !same && !c.other && ownRoot().mount != 0 {
				t.Errorf("by mount id: got same root %v", same)
			}
			if same := mountView(pid) == ownMountView(); same == c.other {
				t.Errorf("by links: got same root %v", same)
			}
		})
	}
}
