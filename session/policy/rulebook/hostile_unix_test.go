//go:build unix

package rulebook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestNoRegularFile checks that a special file in the place of a rule file is rejected by name, without waiting for it.
func TestNoRegularFile(t *testing.T) {
	for what, put := range map[string]func(path string) error{
		"not a regular file": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a directory":        func(path string) error { return os.Mkdir(path, 0o700) },
		"device":             func(path string) error { return os.Symlink("/dev/zero", path) },
		"more than":          func(path string) error { return errors2(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)) },
		"dangling link":      func(path string) error { return os.Symlink(path+".away", path) },
		"too many levels":    func(path string) error { return os.Symlink(path, path) },
		"regular file":       func(path string) error { return errors2(syscall.Mkfifo(path+".f", 0o600), os.Symlink(path+".f", path)) },
	} {
		t.Run(what, func(t *testing.T) {
			l := newLibrary(t, "")
			dir := filepath.Join(l.home, "p")
			if err := os.MkdirAll(filepath.Join(dir, ".longterm"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := put(filepath.Join(dir, projectPolicy)); err != nil {
				t.Fatal(err)
			}
			if what == "device" {
				what = "not a regular file"
			}
			s := Subject{Agent: "x", Cwd: dir}
			l.want(s, "make", "ask") // it may have had any rule
			l.want(s, "ls", "allow")
			l.want(Subject{Cwd: dir}, "make", "allow")
			_, src := l.For(s)
			if w := strings.Join(src.Warnings(), "\n"); !strings.Contains(w, what) || !strings.Contains(w, dir) {
				t.Errorf("error: %s", w)
			}
			if _, again := l.For(s); again != src {
				t.Error("each request builds a new engine")
			}
			if err := put(l.o.File); err != nil {
				t.Fatal(err)
			}
			l.open(Options{})
			l.want(agent, "make", "ask")
			if st := l.Status(); st.Using != "broken" || !strings.Contains(strings.Join(st.Problems, ""), what) {
				t.Errorf("%+v", st)
			}
			if _, _, err := ReadFile(l.o.File); err == nil {
				t.Error("it can be tried")
			}
			if err := l.Allow("ls", ""); err == nil {
				t.Error("a rule was added to it")
			}
		})
	}
}

func errors2(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// TestFileIsSwappedWhileItIsRead checks that of a file that is replaced all the time one version or the other is read:
// the trusted one allows, the other never does.
func TestFileIsSwappedWhileItIsRead(t *testing.T) {
	tier.Full(t)
	l := newLibrary(t, `preset = "readonly"`)
	dir := l.project("p", `allow = ["npm"]`)
	l.trust(dir)
	good, err := os.ReadFile(filepath.Join(dir, projectPolicy))
	if err != nil {
		t.Fatal(err)
	}
	evil := []byte(`allow = ["npm", "docker"]`)
	for name, text := range map[string][]byte{"good": good, "evil": evil} {
		if err := os.WriteFile(filepath.Join(l.dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var stop atomic.Bool
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for i := 0; !stop.Load(); i++ {
			next := filepath.Join(dir, fmt.Sprint("next", i%7))
			to := filepath.Join(l.dir, []string{"good", "evil", "nowhere"}[i%3])
			_ = os.Remove(next)
			if os.Symlink(to, next) == nil {
				_ = os.Rename(next, filepath.Join(dir, projectPolicy))
			}
		}
	})
	s := Subject{Agent: "x", Cwd: dir}
	seen := map[string]int{}
	for range 3000 {
		e, src := l.For(s)
		if v := e.Judge(policy.Line{Text: "docker run x", Cwd: dir}).Verdict; v == policy.Allow {
			t.Fatalf("an untrusted command is allowed: %+v", src.Files)
		}
		npm := e.Judge(policy.Line{Text: "npm i", Cwd: dir}).Verdict
		for _, f := range src.Files[1:] {
			if f.Trusted != (f.Hash == HashOf(good)) || f.Trusted != (npm == policy.Allow) {
				t.Fatalf("%v: %+v", npm, f)
			}
		}
		seen[npm.String()]++
	}
	stop.Store(true)
	swapping.Wait()
	t.Log(seen)
}

// TestDirectoriesVanish checks that requests from vanishing directories are judged.
func TestDirectoriesVanish(t *testing.T) {
	l := newLibrary(t, "")
	dir := l.project("p", `deny = ["docker"]`)
	deep := filepath.Join(dir, strings.Repeat("d/", 60))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	s := Subject{Agent: "x", Cwd: deep}
	l.want(s, "docker ps", "deny")
	if err := os.RemoveAll(filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	l.want(s, "docker ps", "deny")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	l.For(s) // notices that it was removed
	l.at = l.at.Add(2 * missingTime)
	l.want(s, "docker ps", "allow")
	for _, cwd := range []string{"", ".", "relative/x", "/" + strings.Repeat("x/", 1<<20), "/\x00", "/proc/self/fd/0/x"} {
		l.want(Subject{Agent: "x", Cwd: cwd, StartDir: cwd}, "docker ps", "allow")
	}
}

// TestManyAskAtOnce checks that many concurrent requests are judged while rules are added and files change.
func TestManyAskAtOnce(t *testing.T) {
	l := newLibrary(t, `deny = ["curl"]`)
	dir := l.project("p", `deny = ["docker"]`)
	var asking sync.WaitGroup
	for n := range 4 {
		asking.Go(func() {
			for i := range 100 {
				e, src := l.For(Subject{Agent: fmt.Sprint("a", n), Cwd: dir, Policy: []string{"", "build"}[i%2]})
				if j := src.WaivePresetApprovals(e.Judge(policy.Line{Text: "curl x; docker run x"})); j.Verdict != policy.Deny {
					t.Errorf("%+v", j)
				}
				l.Status()
			}
		})
	}
	for i := range 10 {
		if err := l.Allow(fmt.Sprint("tool", i), "a test"); err != nil {
			t.Error(err)
		}
		l.SetDefaults(policy.Hard, []policy.Preset{policy.Hard, policy.Build}[i%2])
	}
	asking.Wait()
	if st := l.Status(); st.Rules != 11 {
		t.Errorf("%+v", st)
	}
}
