package rulebook

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// TestUnreadable checks that an unreadable file counts as one that may contain any rule.
func TestUnreadable(t *testing.T) {
	l := newLibrary(t, "")
	dir := l.project("p", "")
	s := Subject{Agent: "x", Cwd: dir}
	l.want(s, "make", "allow")
	l.project("p", "# changed")
	for _, path := range []string{projectPolicy, ".longterm"} {
		path = filepath.Join(dir, path)
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		if os.Getuid() == 0 { // root reads everything: this thread becomes user nobody for the file system
			runtime.LockOSThread()
			if err := syscall.Setfsuid(65534); err != nil {
				t.Fatal(err)
			}
		}
		l.open(Options{})
		j := l.judge(s, "make")
		_, src := l.For(s)
		if os.Getuid() == 0 {
			if err := syscall.Setfsuid(0); err != nil {
				t.Fatal(err)
			}
			runtime.UnlockOSThread()
		}
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
		want := "ask" // neither the file nor its trusted copy can be read
		if os.Getuid() != 0 {
			want = "allow" // the trusted copy can be read
		}
		if j.Verdict.String() != want || len(src.Warnings()) != 1 {
			t.Errorf("%s: %v, %+v", path, j.Verdict, src.Files)
		}
	}
}
