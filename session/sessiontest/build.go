package sessiontest

import (
	"crypto/sha256"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// builds caches this process's builds by directory, package and flags.
var builds sync.Map

type built struct {
	once sync.Once
	path string
	err  error
}

// Build builds the main package that pkg names as `go build` would in the test's directory,
// and returns the path of the program. It is built once for all tests of a module, into the
// user's cache directory, where the next run finds it: only what changed is built again. Flags are
// those of go build, such as -race.
func Build(t testing.TB, pkg string, flags ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if !build.IsLocalImport(pkg) && !filepath.IsAbs(pkg) {
		dir = moduleRoot(dir)
	}
	v, _ := builds.LoadOrStore(buildKey(dir, pkg, flags), &built{})
	b := v.(*built)
	b.once.Do(func() { b.path, b.err = goBuild(dir, pkg, flags) })
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.path
}

// moduleRoot returns the nearest directory above dir, or dir itself, that has a go.mod. It returns dir if none has one. An import
// path means the same in all directories of a module, so their tests share its program.
func moduleRoot(dir string) string {
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return root
		}
		if root == filepath.Dir(root) {
			return dir
		}
	}
}

func buildKey(dir, pkg string, flags []string) string {
	return strings.Join(append([]string{dir, pkg}, flags...), "\x00")
}

func goBuild(dir, pkg string, flags []string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.Sum256([]byte(buildKey(dir, pkg, flags)))
	to := filepath.Join(cache, "longterm", "sessiontest", fmt.Sprintf("%x", sum[:8]))
	if err := os.MkdirAll(to, 0o700); err != nil {
		return "", fmt.Errorf("build %s: %w", pkg, err)
	}
	unlock, err := lock(filepath.Join(to, "lock"))
	if err != nil {
		return "", fmt.Errorf("build %s: %w", pkg, err)
	}
	defer unlock()
	// With a directory, -o names the program as go install does, and an up-to-date program is not rebuilt.
	bin := filepath.Join(to, "bin") + string(filepath.Separator)
	args := append([]string{"build", "-o", bin}, flags...)
	cmd := exec.Command("go", append(args, pkg)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	made, err := filepath.Glob(bin + "*")
	if err != nil || len(made) != 1 {
		return "", fmt.Errorf("build %s: no single program came of it (%v); name one main package", pkg, made)
	}
	return made[0], nil
}
