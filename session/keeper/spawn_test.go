//go:build unix

package keeper

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/ring"
)

// countDescriptors returns the number of open files of a process, or -1 if unknown.
func countDescriptors(pid int) int {
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return -1
	}
	return len(names)
}

// awaitDescriptors waits until a keeper has as many files open as before.
func awaitDescriptors(t *testing.T, pid, before int) {
	t.Helper()
	await(t, fmt.Sprintf("%d descriptors open, as before", before), func() bool { return countDescriptors(pid) <= before })
}

// exit waits for a session's exit. If the session is adopted later, the exit is reported twice.
func (n notices) exit(t testing.TB, id string) *wire.Exited {
	t.Helper()
	for {
		if ex := receive(t, n.exited, "exit of "+id); ex.ID == id {
			return ex
		}
	}
}

// close waits for the end of a session's output.
func (n notices) close(t *testing.T, id string) *wire.Closed {
	t.Helper()
	for {
		if cl := receive(t, n.closed, "close of "+id); cl.ID == id {
			return cl
		}
	}
}

// writeFile creates a file with a mode.
func writeFile(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSpawnFailures checks that if a program does not start, the error names the reason, no file stays open, and the
// session's name is free.
//
// FEATURES: R12, R93
func TestSpawnFailures(t *testing.T) {
	socket, pid := start(t)
	l, _ := dial(t, socket, wire.RoleDaemon)
	file := writeFile(t, "plain", "text", 0o644)
	for name, c := range map[string]struct {
		change func(m *wire.Spawn)
		errno  syscall.Errno
		text   string
	}{
		"no name":                   {func(m *wire.Spawn) { m.ID = "" }, 0, "needed"},
		"no program":                {func(m *wire.Spawn) { m.Path = "" }, 0, "needed"},
		"no arguments":              {func(m *wire.Spawn) { m.Argv = nil }, 0, "needed"},
		"missing program":           {func(m *wire.Spawn) { m.Path = "/does/not/exist" }, syscall.ENOENT, "no such file"},
		"missing in the directory":  {func(m *wire.Spawn) { m.Path = "./sh-of-here"; m.Dir = "/tmp" }, syscall.ENOENT, "no such file"},
		"program below a file":      {func(m *wire.Spawn) { m.Path = file + "/x" }, syscall.ENOTDIR, "not a directory"},
		"a directory":               {func(m *wire.Spawn) { m.Path = "/" }, syscall.EACCES, "permission denied"},
		"no permission":             {func(m *wire.Spawn) { m.Path = file }, syscall.EACCES, "permission denied"},
		"no format":                 {func(m *wire.Spawn) { m.Path = writeFile(t, "p", "\x01\x02\x03", 0o755) }, syscall.ENOEXEC, "exec format"},
		"missing interpreter":       {func(m *wire.Spawn) { m.Path = writeFile(t, "p", "#!/does/not/exist\n", 0o755) }, syscall.ENOENT, "no such file"},
		"a loop of links":           {func(m *wire.Spawn) { m.Path = selfLink(t) }, syscall.ELOOP, "symbolic links"},
		"missing directory":         {func(m *wire.Spawn) { m.Dir = "/does/not/exist" }, syscall.ENOENT, "no such file"},
		"directory is a file":       {func(m *wire.Spawn) { m.Dir = file }, syscall.ENOTDIR, "not a directory"},
		"an argument too long":      {func(m *wire.Spawn) { m.Argv = append(m.Argv, strings.Repeat("x", 256<<10)) }, syscall.E2BIG, "too long"},
		"an environment too long":   {func(m *wire.Spawn) { m.Env = slices.Repeat([]string{"A=" + strings.Repeat("x", 100<<10)}, 70) }, syscall.E2BIG, "too long"},
		"a zero byte in a path":     {func(m *wire.Spawn) { m.Path = "/bin/sh\x00x" }, syscall.EINVAL, "invalid argument"},
		"a zero byte in a variable": {func(m *wire.Spawn) { m.Env = []string{"A=\x00"} }, syscall.EINVAL, "invalid argument"},
	} {
		for kind, pipes := range map[string][2]bool{"terminal": {}, "one pipe": {true, false}, "three pipes": {true, true}} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				before := countDescriptors(pid)
				m := sh("s", "true")
				m.Pipe, m.Separate, m.Input = pipes[0], pipes[1], pipes[1]
				c.change(&m)
				_, err := l.Spawn(ctx(t), m)
				var failed *link.SpawnError
				if !errors.As(err, &failed) || failed.Errno != c.errno || !strings.Contains(err.Error(), c.text) {
					t.Errorf("%v; want errno %d and %q", err, c.errno, c.text)
				}
				if c.errno != 0 && !errors.Is(err, c.errno) {
					t.Errorf("%v is not %v", err, c.errno)
				}
				awaitDescriptors(t, pid, before)
				if all, err := l.List(ctx(t)); err != nil || len(all) != 0 {
					t.Errorf("the keeper has %v, %v", all, err)
				}
			})
		}
	}
	if _, err := l.Spawn(ctx(t), sh("s", "true")); err != nil {
		t.Errorf("the name is not free: %v", err)
	}
}

// selfLink returns a symbolic link to itself.
func selfLink(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "loop")
	if err := os.Symlink(path, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestName_TakenUntilReleased checks that a name is taken until its session is released, also after its program's end.
func TestName_TakenUntilReleased(t *testing.T) {
	socket, pid := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	before := countDescriptors(pid)
	for range 3 {
		if _, err := l.Spawn(ctx(t), sh("a", "exit 1")); err != nil {
			t.Fatal(err)
		}
		n.exit(t, "a")
		n.close(t, "a")
		if _, err := l.Spawn(ctx(t), sh("a", "true")); err == nil || !strings.Contains(err.Error(), "this id") {
			t.Errorf("second use of the name: %v", err)
		}
		if err := l.Release(ctx(t), "a"); err != nil {
			t.Fatal(err)
		}
		if err := l.Release(ctx(t), "a"); !errors.Is(err, link.ErrNotFound) {
			t.Errorf("second release: %v", err)
		}
	}
	awaitDescriptors(t, pid, before)
}

// TestOutOfDescriptors checks that a keeper without free descriptors reports it, keeps its sessions, serves its peers,
// and starts sessions again once one is released.
//
// FEATURES: R12, R93
func TestOutOfDescriptors(t *testing.T) {
	socket, pid := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	limit := uint64(countDescriptors(pid) + 60)
	if err := setLimit(pid, unix.RLIMIT_NOFILE, limit); err != nil {
		t.Skip("a process's limits cannot be set from outside: ", err)
	}
	started := 0
	var err error
	for ; err == nil && started < 100; started++ {
		_, err = l.Spawn(ctx(t), sh(fmt.Sprint("s", started), "read x; exit 5"))
	}
	if started--; started < 4 || !errors.Is(err, syscall.EMFILE) {
		t.Fatalf("session %d: %v", started, err)
	}
	open := countDescriptors(pid)
	if _, err := l.Spawn(ctx(t), sh("more", "true")); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("one more session: %v", err)
	}
	awaitDescriptors(t, pid, open)
	tool, _ := dial(t, socket, wire.RoleTool) // uses the spare descriptors
	if all, err := tool.List(ctx(t)); err != nil || len(all) != started {
		t.Errorf("%d sessions of %d, %v", len(all), started, err)
	}
	s := adopt(t, l, "s0")
	if _, err := s.pty.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	if ex := receive(t, n.exited, "exit"); ex.ID != "s0" || ex.Code != 5 {
		t.Errorf("exit %+v", ex)
	}
	for i := range 3 { // a new session briefly needs more than an existing one
		if err := l.Release(ctx(t), fmt.Sprint("s", i)); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "room for a session", func() bool {
		_, err := l.Spawn(ctx(t), sh("more", "true"))
		return err == nil
	})
}

// TestSpawn_DescriptorsAndEnvironment checks that a program gets the requested descriptors and environment, and none of
// the keeper's.
//
// FEATURES: R12
func TestSpawn_DescriptorsAndEnvironment(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	dir := t.TempDir()
	for name, c := range map[string]struct {
		script string
		change func(*wire.Spawn)
		want   string
	}{
		"arguments":            {`printf '%s|' "$0" "$@"`, func(m *wire.Spawn) { m.Argv = append(m.Argv, "zero", "", "a b", "ü") }, "zero||a b|ü|"},
		"its own name":         {"", func(m *wire.Spawn) { m.Path, m.Argv = "/bin/sh", []string{"another name", "-c", `printf %s "$0"`} }, "another name"},
		"the environment":      {"/usr/bin/env | grep -v ^PWD= | grep -v ^_= | grep -v ^SHLVL= | sort", func(m *wire.Spawn) { m.Env = []string{"PATH=/bin:/usr/bin", "B=two words", "A="} }, "A=\nB=two words\nPATH=/bin:/usr/bin\n"},
		"the directory":        {"pwd", func(m *wire.Spawn) { m.Dir = dir }, dir + "\n"},
		"the keeper's umask":   {"umask", nil, "0022\n"},
		"a umask":              {"umask", func(m *wire.Spawn) { m.Umask = 0o077 + 1 }, "0077\n"},
		"an open umask":        {"umask", func(m *wire.Spawn) { m.Umask = 0 + 1 }, "0000\n"},
		"no other files":       {"for f in 3 4 5 6 7 8 9; do [ -e /dev/fd/$f ] && echo $f; done; echo none", nil, "none\n"},
		"priority":             {"nice", nil, "0\n"},
		"a size":               {"stty size </dev/tty", func(m *wire.Spawn) { m.Pipe, m.Cols, m.Rows = false, 123, 45 }, "45 123\n"},
		"a session of its own": {`test $$ = $(ps -o sid= -p $$) && test $$ = $(ps -o pgid= -p $$) && echo yes`, nil, "yes\n"},
		"a terminal":           {"test -t 0 && test -t 1 && test -t 2 && echo yes", func(m *wire.Spawn) { m.Pipe = false }, "yes\n"},
		"no input":             {"read x || echo end", nil, "end\n"},
	} {
		t.Run(name, func(t *testing.T) {
			m := sh(strings.ReplaceAll(name, " ", "-"), c.script)
			m.Pipe = true
			if c.change != nil {
				c.change(&m)
			}
			if _, err := l.Spawn(ctx(t), m); err != nil {
				t.Fatal(err)
			}
			s := adopt(t, l, m.ID)
			ex := n.exit(t, m.ID)
			got := strings.ReplaceAll(readAll(t, l, n, s, ex.Head), "\r\n", "\n")
			if got != c.want || ex.Code != 0 {
				t.Errorf("%q, exit %d; want %q", got, ex.Code, c.want)
			}
		})
	}
}

// TestSpawn_SignalsNotIgnored checks that programs do not inherit ignored signals of the keeper's starter.
func TestSpawn_SignalsNotIgnored(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	for _, sig := range []string{"HUP", "INT", "QUIT", "PIPE", "TERM", "USR1", "ALRM"} {
		if _, err := l.Spawn(ctx(t), sh(sig, "kill -"+sig+" $$; exit 99")); err != nil {
			t.Fatal(err)
		}
		if ex := n.exit(t, sig); ex.Signal != int64(unix.SignalNum("SIG"+sig)) {
			t.Errorf("SIG%s: %+v", sig, ex)
		}
	}
}

// TestSpawn_Ring checks that the ring has the requested size, rounded to a power of two within bounds, and starts at the
// requested offset.
func TestSpawn_Ring(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	for i, c := range []struct {
		asked uint64
		size  int
		base  uint64
	}{
		{0, ring.DefaultSize, 0},
		{1, ring.MinSize, 7},
		{ring.MinSize, ring.MinSize, 1 << 40},
		{ring.MinSize + 1, 2 * ring.MinSize, ring.MinSize - 1},
		{1 << 62, ring.MaxSize, 3},
	} {
		m := sh(fmt.Sprint("s", i), "printf abc")
		m.RingBytes, m.Base, m.Pipe = c.asked, c.base, true
		sp, err := l.Spawn(ctx(t), m)
		if err != nil {
			t.Fatal(err)
		}
		s := adopt(t, l, m.ID)
		ex := n.exit(t, m.ID)
		if s.ring.Cap() != c.size || sp.Base != c.base || ex.Head != c.base+3 {
			t.Errorf("%+v: ring of %d, base %d, head %d", c, s.ring.Cap(), sp.Base, ex.Head)
		}
		if got := string(s.ring.BytesAt(c.base, 10)); got != "abc" {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
