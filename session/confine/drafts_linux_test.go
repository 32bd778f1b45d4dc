package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// draftDirs returns a directory with files, and an upper and work directory for it, or skips the test.
func draftDirs(t *testing.T) (root, upper, work string) {
	t.Helper()
	if err := ProbeNamespaces(); err != nil {
		t.Skip("no namespaces:", err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := ProbeDrafts(dir); err != nil {
		t.Skip("no drafts:", err)
	}
	root, upper, work = filepath.Join(dir, `ro:ot, \\ x`), filepath.Join(dir, `up\\per:,`), filepath.Join(dir, "work")
	for _, d := range []string{filepath.Join(root, "dir/below"), filepath.Join(root, "keep"), upper, work} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{"file": "old\n", "dir/below/deep": "deep\n", "keep/hook": "hook\n"} {
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(work, "work"), 0o700) })
	return root, upper, work
}

// runWithMounts runs a shell script in namespaces with some mounts.
func runWithMounts(t *testing.T, dir, script string, mounts ...Mount) (code int, out string) {
	t.Helper()
	return runSized(t, dir, script, 0, mounts...)
}

// runSized is runWithMounts with a limit of the drafts' changes.
func runSized(t *testing.T, dir, script string, size int64, mounts ...Mount) (code int, out string) {
	t.Helper()
	h := startShim(t, Spec{Path: tier.Path(t, "sh"), Sandbox: &Sandbox{
		DropCapabilities: true, Namespaces: &Namespaces{Network: true, HostRoot: true, Dir: dir, Mounts: mounts, DraftSize: size},
	}}, "sh", "-c", script)
	kind, text := h.message()
	if kind == 'R' || strings.HasPrefix(text, "{") {
		if _, err := unix.Write(h.fd, []byte{'G'}); err != nil {
			t.Fatal(err)
		}
	} else {
		out = text
	}
	code, more := h.wait()
	return code, out + more
}

// TestDraftMount checks that changes of a draft are kept in upper, and the directory is unchanged. Directories can be
// moved and removed, a protected path is mounted on top, and a second mount of the draft has the same content.
//
// FEATURES: R124
func TestDraftMount(t *testing.T) {
	root, upper, work := draftDirs(t)
	mounts := []Mount{
		{Kind: MountDraft, Path: root, Upper: upper, Work: work},
		{Kind: MountRead, Path: filepath.Join(root, "keep"), Optional: true},
		{Kind: MountHide, Path: filepath.Dir(upper) + "/none"},
	}
	code, out := runWithMounts(t, root, `set -e
echo new > file; mkdir made; mv made moved; mv dir elsewhere; rm -r elsewhere; mkdir dir; rmdir dir
(echo x > keep/hook) 2>/dev/null && echo written
mv keep aside 2>/dev/null && echo moved
cat file; ls`, mounts...)
	if code != 0 || out != "new\nfile\nkeep\nmoved\n" {
		t.Fatalf("%d %q", code, out)
	}
	for path, want := range map[string]string{"file": "old\n", "dir/below/deep": "deep\n", "keep/hook": "hook\n"} {
		if b, err := os.ReadFile(filepath.Join(root, path)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "moved")); err == nil {
		t.Error("got a directory in the host's tree")
	}
	code, out = runWithMounts(t, root, "cat file; ls; rm -r file", mounts...)
	if code != 0 || out != "new\nfile\nkeep\nmoved\n" {
		t.Errorf("mounted again: %d %q", code, out)
	}
}

// TestDraftMount_WithoutProtectedPath checks that a protected path that the draft has removed is skipped, and nothing
// is created in its place.
//
// FEATURES: R124
func TestDraftMount_WithoutProtectedPath(t *testing.T) {
	root, upper, work := draftDirs(t)
	draft := Mount{Kind: MountDraft, Path: root, Upper: upper, Work: work}
	if code, out := runWithMounts(t, root, "rm -r keep", draft); code != 0 {
		t.Fatalf("%d %q", code, out)
	}
	code, out := runWithMounts(t, root, "ls", draft, Mount{Kind: MountRead, Path: filepath.Join(root, "keep"), Optional: true})
	if code != 0 || out != "dir\nfile\n" {
		t.Errorf("%d %q", code, out)
	}
}

// TestDraftMount_Fails checks that a mount that the kernel rejects is an error with a reason, and the program does not
// start.
//
// FEATURES: R124
func TestDraftMount_Fails(t *testing.T) {
	root, upper, work := draftDirs(t)
	link := filepath.Join(filepath.Dir(work), "link")
	if err := os.Symlink(upper, link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ lower, upper, work, want string }{
		"mounts inside":  {"/", upper, work, "a mount inside of the directory"},
		"upper a link":   {root, link, work, "too many levels of symbolic links"},
		"no work":        {root, upper, work + "/none", "no such file or directory"},
		"work is nested": {root, upper, upper, "the kernel rejects this overlay"},
	} {
		code, out := runWithMounts(t, root, "echo started", Mount{Kind: MountDraft, Path: c.lower, Upper: c.upper, Work: c.work})
		if code != exitNotStarted || !strings.Contains(out, c.want) || strings.Contains(out, "started\n") {
			t.Errorf("%s: %d %q", name, code, out)
		}
	}
}
