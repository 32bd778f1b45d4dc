//go:build unix

package keeper

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestExitStatuses checks that a program's exit status is reported unchanged, with all output before it.
//
// FEATURES: R1, R90
func TestExitStatuses(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	for name, c := range map[string]struct {
		script string
		code   int64
		signal syscall.Signal
	}{
		"success":            {"exit 0", 0, 0},
		"failure":            {"exit 1", 1, 0},
		"not executable":     {"exec / 2>/dev/null", 126, 0},
		"not found":          {"exec /does/not/exist 2>/dev/null", 127, 0},
		"as if by a signal":  {"exit 130", 130, 0}, // the shell's report of its child, not the kernel's
		"the largest":        {"exit 255", 255, 0},
		"another program":    {"exec false", 1, 0},
		"its child's signal": {"sh -c 'kill -TERM $$'; exit $?", 143, 0},
		"hang-up":            {"kill -HUP $$", -1, syscall.SIGHUP},
		"interrupt":          {"kill -INT $$", -1, syscall.SIGINT},
		"kill":               {"kill -KILL $$", -1, syscall.SIGKILL},
		"terminate":          {"kill -TERM $$", -1, syscall.SIGTERM},
		"abort":              {"ulimit -c 0; kill -ABRT $$", -1, syscall.SIGABRT},
		"a crash":            {"ulimit -c 0; kill -SEGV $$", -1, syscall.SIGSEGV},
		"a user's":           {"kill -USR2 $$", -1, syscall.SIGUSR2},
		"CPU time":           {"ulimit -t 1; while :; do :; done", -1, syscall.SIGXCPU},
	} {
		for kind, pipe := range map[string]bool{"terminal": false, "pipe": true} {
			if name == "CPU time" && (pipe || !tier.IsFull()) {
				continue // takes a second
			}
			t.Run(name+"/"+kind, func(t *testing.T) {
				asked := time.Now()
				m := sh(strings.ReplaceAll(name, " ", "-")+"-"+kind, "printf before; "+c.script)
				m.Pipe = pipe
				if _, err := l.Spawn(ctx(t), m); err != nil {
					t.Fatal(err)
				}
				s := adopt(t, l, m.ID)
				ex := n.exit(t, m.ID)
				if c.signal == syscall.SIGXCPU && ex.Signal == int64(syscall.SIGKILL) {
					ex.Signal = int64(c.signal) // with the hard limit in the same second
				}
				if ex.Code != c.code || ex.Signal != int64(c.signal) {
					t.Errorf("code %d, signal %d; want %d, %d", ex.Code, ex.Signal, c.code, c.signal)
				}
				if at := time.Unix(0, ex.Time); at.Before(asked.Add(-time.Second)) || at.After(time.Now().Add(time.Second)) {
					t.Errorf("ended at %v, started after %v", at, asked)
				}
				if got := readAll(t, l, n, s, ex.Head); !strings.HasPrefix(got, "before") {
					t.Errorf("output %q", got)
				}
				if cl := n.close(t, m.ID); cl.Head < ex.Head {
					t.Errorf("closed at %d, exited at %d", cl.Head, ex.Head)
				}
			})
		}
	}
}

// TestUsage checks that the usage of a program includes the children that it waited for.
func TestUsage(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	if _, err := l.Spawn(ctx(t), sh("busy", "sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'")); err != nil {
		t.Fatal(err)
	}
	ex := receive(t, n.exited, "exit")
	if used := time.Duration(ex.User + ex.System); used < 5*time.Millisecond || used > 20*time.Second {
		t.Errorf("CPU time %v", used)
	}
	if ex.MaxRSS < 100<<10 || ex.MaxRSS > 1<<30 {
		t.Errorf("memory %d bytes", ex.MaxRSS)
	}
}

// TestExits_Simultaneous checks that each of many simultaneous exits is reported once, with its own status.
//
// FEATURES: R90
func TestExits_Simultaneous(t *testing.T) {
	socket, pid := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	before := countDescriptors(pid)
	const many = 24
	fifo := filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range many {
		m := sh(fmt.Sprint(i), fmt.Sprintf("echo ready; read x < %s; exit %d", fifo, i))
		m.Pipe = i%2 == 0
		if _, err := l.Spawn(ctx(t), m); err != nil {
			t.Fatal(err)
		}
		s := adopt(t, l, m.ID)
		await(t, "its first line", func() bool { return s.ring.Head() >= 6 })
	}
	gate, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gate.WriteString(strings.Repeat("\n", many)); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range many {
		ex := receive(t, n.exited, "exit")
		if seen[ex.ID] || fmt.Sprint(ex.Code) != ex.ID {
			t.Errorf("%+v, reported before: %t", ex, seen[ex.ID])
		}
		seen[ex.ID] = true
	}
	_ = gate.Close()
	for range many {
		receive(t, n.closed, "close")
	}
	for id := range seen {
		if err := l.Release(ctx(t), id); err != nil {
			t.Fatal(err)
		}
	}
	awaitDescriptors(t, pid, before)
	select {
	case ex := <-n.exited:
		t.Errorf("reported again: %+v", ex)
	default:
	}
}

// TestKill_BehindFullRing checks that a child which is blocked by a full ring and killed is reported once its output was
// read, without loss.
//
// FEATURES: R90, R93
func TestKill_BehindFullRing(t *testing.T) {
	for kind, pipe := range map[string]bool{"terminal": false, "pipe": true} {
		t.Run(kind, func(t *testing.T) {
			socket, _ := start(t)
			l, n := dial(t, socket, wire.RoleDaemon)
			m := sh("a", "while :; do echo 0123456789abcdef; done")
			m.Pipe = pipe
			if _, err := l.Spawn(ctx(t), m); err != nil {
				t.Fatal(err)
			}
			s := adopt(t, l, "a")
			await(t, "a full ring", func() bool { return s.ring.Head()-s.ring.Tail() == uint64(s.ring.Cap()) })
			if err := l.Signal(ctx(t), "a", syscall.SIGKILL, wire.ScopeAll); err != nil {
				t.Fatal(err)
			}
			if _, err := l.Status(ctx(t)); err != nil { // the keeper answers in the meantime
				t.Fatal(err)
			}
			got := readAll(t, l, n, s, uint64(s.ring.Cap()))
			ex := receive(t, n.exited, "exit")
			if ex.Signal != int64(syscall.SIGKILL) || ex.Head < uint64(s.ring.Cap()) {
				t.Errorf("exit %+v", ex)
			}
			got += readAll(t, l, n, s, ex.Head)
			line := "0123456789abcdef\n"
			if !pipe {
				line = "0123456789abcdef\r\n"
			}
			if want := strings.Repeat(line, len(got)/len(line)+1)[:len(got)]; got != want || uint64(len(got)) != ex.Head {
				t.Errorf("got %d bytes of %d; correct up to %d", len(got), ex.Head, commonPrefix(got, want))
			}
		})
	}
}

// commonPrefix returns the length of the common prefix.
func commonPrefix(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestRelease_BehindFullRing checks that a session which waits behind a full ring can be released.
func TestRelease_BehindFullRing(t *testing.T) {
	socket, pid := start(t)
	l, _ := dial(t, socket, wire.RoleDaemon)
	before := countDescriptors(pid)
	for _, m := range []wire.Spawn{
		sh("terminal", "while :; do echo x; done"), onPipes("pipes", "while :; do echo x; echo y >&2; done"),
	} {
		if _, err := l.Spawn(ctx(t), m); err != nil {
			t.Fatal(err)
		}
		s := adopt(t, l, m.ID)
		await(t, m.ID+" held back", func() bool {
			return s.ring.Head()-s.ring.Tail() == uint64(s.ring.Cap()) || s.ring.LogUsagePercent() == 99
		})
		if err := l.Signal(ctx(t), m.ID, syscall.SIGKILL, wire.ScopeAll); err != nil {
			t.Fatal(err)
		}
		if err := l.Release(ctx(t), m.ID); err != nil {
			t.Fatal(err)
		}
		awaitDescriptors(t, pid, before)
	}
}

// TestSignalTargets checks what a signal reaches: the program, its group, the foreground group of the terminal, or all.
//
// FEATURES: R15
func TestSignalTargets(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	// A shell with job control runs a foreground job in a separate group, which prints the signals that it got.
	const script = `set -m; trap 'echo shell got it' USR1; echo shell ready
sh -c 'trap "echo job got it; kill -KILL \$\$" USR1; echo job ready; while :; do sleep 0.01; done'
echo job ended; while :; do sleep 0.01; done`
	for scope, want := range map[string]struct{ some, none string }{
		wire.ScopeChild:      {"", "job got it"},
		wire.ScopeGroup:      {"", "job got it"},
		wire.ScopeForeground: {"job got it", "shell got it"},
		wire.ScopeAll:        {"job got it", ""},
	} {
		t.Run(scope, func(t *testing.T) {
			if _, err := l.Spawn(ctx(t), sh(scope, script)); err != nil {
				t.Fatal(err)
			}
			s := adopt(t, l, scope)
			said := func() string { return string(s.ring.BytesAt(0, 4096)) }
			await(t, "the job", func() bool { return strings.Contains(said(), "job ready") })
			if err := l.Signal(ctx(t), scope, syscall.SIGUSR1, scope); err != nil {
				t.Fatal(err)
			}
			if want.some != "" {
				await(t, want.some, func() bool { return strings.Contains(said(), want.some) })
			} else { // the shell's trap runs after the foreground job
				if err := l.Signal(ctx(t), scope, syscall.SIGKILL, wire.ScopeForeground); err != nil {
					t.Fatal(err)
				}
				await(t, "the shell's trap", func() bool { return strings.Contains(said(), "shell got it") })
			}
			if want.none != "" && strings.Contains(said(), want.none) {
				t.Errorf("%q", said())
			}
			if err := l.Signal(ctx(t), scope, syscall.SIGKILL, wire.ScopeAll); err != nil {
				t.Fatal(err)
			}
			if ex := receive(t, n.exited, "exit"); ex.Signal != int64(syscall.SIGKILL) {
				t.Errorf("exit %+v", ex)
			}
		})
	}
}

func TestSignals_WithoutTarget(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	m := sh("a", "exit 0")
	m.Pipe = true
	if _, err := l.Spawn(ctx(t), m); err != nil {
		t.Fatal(err)
	}
	receive(t, n.closed, "close")
	for _, scope := range []string{wire.ScopeChild, wire.ScopeGroup, wire.ScopeAll, wire.ScopeForeground, "of a later protocol", ""} {
		if err := l.Signal(ctx(t), "a", syscall.SIGKILL, scope); err != nil {
			t.Errorf("%s of an ended program: %v", scope, err)
		}
		if err := l.Signal(ctx(t), "none", syscall.SIGKILL, scope); err == nil {
			t.Errorf("%s of an unknown session: no error", scope)
		}
	}
	if _, err := l.Spawn(ctx(t), sh("b", "read x")); err != nil {
		t.Fatal(err)
	}
	if err := l.Signal(ctx(t), "b", 200, wire.ScopeChild); err == nil {
		t.Error("signal 200: no error")
	}
}

// TestOrphans_Reaped checks that descendants without a parent become children of the keeper, which leaves no zombies.
//
// FEATURES: R14
func TestOrphans_Reaped(t *testing.T) {
	socket, keeper := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	if _, err := l.Spawn(ctx(t), sh("a", "for i in 1 2 3 4 5; do (setsid sh -c 'exit 3' &) ; done; exit 0")); err != nil {
		t.Fatal(err)
	}
	receive(t, n.exited, "exit")
	await(t, "no child of the keeper", func() bool {
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, path := range stats {
			b, _ := os.ReadFile(path)
			_, after, _ := strings.Cut(string(b), ") ")
			if f := strings.Fields(after); len(f) > 1 && f[1] == strconv.Itoa(keeper) {
				return false
			}
		}
		return true
	})
}
