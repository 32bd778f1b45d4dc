//go:build unix

package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// startProgram starts a program that ends with the test.
func startProgram(t *testing.T, c Cmd) *Program {
	t.Helper()
	p, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// expect waits for a match and fails the test without one.
func expect(t *testing.T, p *Program, patterns ...Pattern) Match {
	t.Helper()
	m, err := p.Expect(testContext(t), patterns...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// send types text and fails the test on an error.
func send(t *testing.T, p *Program, text string) {
	t.Helper()
	if err := p.Send(text); err != nil {
		t.Fatal(err)
	}
}

// FEATURES: R51, R87
func TestStart_Dialogue(t *testing.T) {
	p := startProgram(t, Cmd{Line: `printf 'Name: '; read -r name; printf '%s, is that right? ' "$name"; read -r a
		echo "You are $name ($a)."; echo last words; exit 7`})
	expect(t, p, Text("Name: "))
	send(t, p, "Name: bob\r") // its echo is no question
	if m := expect(t, p, Text("Name: "), Regexp(`(?P<who>\w+), is (that|this) right\? $`)); m.Pattern != 0 {
		t.Errorf("got match %+v", m) // output equal to the input
	}
	m := expect(t, p, Text("Name: "), Regexp(`(?P<who>\w+), is (that|this) right\? $`))
	if m.Pattern != 1 || m.NamedGroups["who"] != "bob" || m.Groups[2] != "that" {
		t.Errorf("got match %+v", m)
	}
	send(t, p, "yes\r")
	expect(t, p, Text("(yes)"))
	if m := expect(t, p, Text("not this"), Ended); m.Pattern != 1 {
		t.Errorf("got match %+v", m)
	}
	e, err := p.Wait(testContext(t))
	if err != nil || e.Code != 7 || e.Signal != "" {
		t.Errorf("got exit %+v, error %v", e, err)
	}
	screen := p.Screen()
	if s := screen.Text(); !strings.HasSuffix(s, "You are Name: bob (yes).\nlast words\n") {
		t.Errorf("%q", s)
	}
	var unmet *ExpectError
	_, err = p.Expect(testContext(t), Text("more"))
	if !errors.Is(err, session.ErrEnded) || !errors.As(err, &unmet) || !strings.Contains(unmet.Screen, "last words") {
		t.Errorf("%v", err)
	}
	if err := p.Send("x"); !errors.Is(err, session.ErrEnded) {
		t.Errorf("input after the program's end: got error %v", err)
	}
}

// TestExpectError_ShowsUnreadOutput checks that an Expect without a match shows the unread output, even if its context
// had ended before.
// FEATURES: R51, R87
// FAULT: B18
func TestExpectError_ShowsUnreadOutput(t *testing.T) {
	p := startProgram(t, Cmd{Line: `echo one; echo two; printf 'three? '; read -r x`})
	expect(t, p, Text("one"))
	expect(t, p, Text("two"))
	p.WaitFor(testContext(t), session.Cond{Kind: session.CondText, Text: "three"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Expect(ctx, Text("four"), Regexp("fi+ve"))
	var unmet *ExpectError
	if !errors.As(err, &unmet) || !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if strings.Contains(unmet.Unread, "one") || !strings.Contains(unmet.Unread, "three? ") {
		t.Errorf("got unread output %q", unmet.Unread)
	}
	for _, s := range []string{`"four" or /fi+ve/`, "| three?", "| one"} {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("got error %v, want %q in it", err, s)
		}
	}
}

// FEATURES: R87
func TestStart_RejectsInvalidCmd(t *testing.T) {
	for name, c := range map[string]Cmd{
		"nothing":  {},
		"two":      {Argv: []string{"true"}, Line: "true"},
		"size":     {Line: "true", Cols: 1, Rows: 1 << 20},
		"missing":  {Argv: []string{"/no/such/program"}},
		"engine":   {Line: "true", Engine: "none"},
		"no shell": {Argv: []string{"cat"}, Shell: true},
		"dir":      {Line: "true", Dir: "/no/such/directory"},
	} {
		if p, err := Start(t.Context(), c); err == nil {
			t.Errorf("%s: got no error", name)
			_ = p.Close()
		}
	}
	if _, err := newExpectation([]Pattern{{}}); err == nil {
		t.Error("empty pattern: got no error")
	}
	if _, err := newExpectation([]Pattern{Regexp("(")}); err == nil {
		t.Error("invalid pattern: got no error")
	}
}

// FEATURES: R53, R87
func TestSecret_NeedsEchoOff(t *testing.T) {
	tier.Need(t, "stty")
	p := startProgram(t, Cmd{Line: `printf 'Password: '; read -r x; echo "got <$x>"
		stty -echo; printf 'Really: '; read -r x; stty echo; echo; [ "$x" = hunter2 ] && echo welcome`})
	expect(t, p, Text("Password: "))
	if err := p.Secret(testContext(t), []byte("hunter2")); !errors.Is(err, ErrEchoed) {
		t.Fatalf("a forged prompt got the secret: %v", err)
	}
	send(t, p, "\r")
	expect(t, p, Text("got <>"))
	expect(t, p, Text("Really: "))
	if err := p.Secret(testContext(t), []byte("hunter2")); err != nil {
		t.Fatal(err)
	}
	send(t, p, "\r")
	expect(t, p, Text("welcome"))
	out := make([]byte, 64<<10)
	c, err := p.Output(0, out)
	if err != nil || strings.Contains(string(c.Data), "hunter2") {
		t.Errorf("got output %q, error %v", c.Data, err)
	}
}

// FEATURES: R87
func TestProgram_Terminal(t *testing.T) {
	tier.Need(t, "stty")
	p := startProgram(t, Cmd{Cols: 100, Rows: 30, Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH"), "WORD=x y"}, Line: `
		echo "$TERM $WORD $PWD"; stty size
		trap 'stty size' WINCH; trap 'echo interrupted; exit 5' INT
		echo ready; while :; do read -r line && echo "line $line"; done`})
	expect(t, p, Text("xterm-256color x y /"))
	expect(t, p, Text("30 100"))
	expect(t, p, Text("ready"))
	if err := p.Resize(90, 20); err != nil {
		t.Fatal(err)
	}
	expect(t, p, Text("20 90"))
	if s := p.Screen(); s.Cols != 90 || s.Rows != 20 {
		t.Errorf("got size %d×%d", s.Cols, s.Rows)
	}
	if err := p.Keys("abc<Enter>"); err != nil {
		t.Fatal(err)
	}
	expect(t, p, Text("line abc"))
	if err := p.Keys("<Nonsense>"); err == nil {
		t.Error("unknown key: got no error")
	}
	if err := p.Paste("pasted\n"); err != nil {
		t.Fatal(err)
	}
	expect(t, p, Text("line pasted"))
	if err := p.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	expect(t, p, Text("interrupted"))
	if e, err := p.Wait(testContext(t)); err != nil || e.Code != 5 {
		t.Errorf("got exit %+v, error %v", e, err)
	}
	if err := p.Signal(syscall.SIGINT); !errors.Is(err, session.ErrEnded) {
		t.Error(err)
	}
}

// FEATURES: R87
func TestWait_KilledBySignal(t *testing.T) {
	p := startProgram(t, Cmd{Line: "kill -TERM $$"})
	e, err := p.Wait(testContext(t))
	if err != nil || e.Signal != "SIGTERM" || e.Code != -1 {
		t.Errorf("got exit %+v, error %v", e, err)
	}
}

// isAlive reports whether a process exists and is no zombie.
func isAlive(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return runtime.GOOS != "linux" && syscall.Kill(pid, 0) == nil
	}
	return !strings.Contains(string(b), ") Z ")
}

// TestClose_KillsProcessTree checks that Close ends all processes of a program: those that ignore signals, and those
// that left the process group, the terminal session or their parent.
// FEATURES: R87
func TestClose_KillsProcessTree(t *testing.T) {
	for _, way := range []string{"close", "context"} {
		t.Run(way, func(t *testing.T) {
			tier.Need(t, "setsid")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p, err := Start(ctx, Cmd{Grace: 20 * time.Millisecond, Line: `
				trap '' HUP TERM INT
				sh -c 'trap "" HUP TERM; echo "pid $$."; while :; do sleep 1000; done' &
				setsid sh -c 'echo "pid $$."; exec sleep 1000' &
				(setsid sh -c 'trap "" HUP TERM; echo "pid $$."; sleep 1000; sleep 1000' </dev/null &)
				echo "pid $$."; while :; do sleep 1000; done`})
			if err != nil {
				t.Fatal(err)
			}
			var pids []int
			for range 4 {
				m := expect(t, p, Regexp(`pid (\d+)\.`))
				pid, _ := strconv.Atoi(m.Groups[1])
				pids = append(pids, pid)
			}
			if way == "context" {
				cancel()
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			for _, pid := range pids {
				if isAlive(pid) {
					t.Errorf("process %d is alive after Close", pid)
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		})
	}
}

// TestClose_LeaksNothing checks that after Close no goroutine or descriptor of Start is left, however the program
// ended.
// FEATURES: R87
func TestClose_LeaksNothing(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("descriptors are counted in /proc: ", err)
	}
	count := func() int {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(fds)
	}
	round := func() {
		for _, c := range []Cmd{
			{Line: "exit 0"}, {Line: "cat"}, {Line: "yes"}, {Line: "sleep 1000 & exec >/dev/null 2>&1 </dev/null; sleep 1000"},
			{Argv: []string{"/bin/sh"}, Shell: true}, {Main: func(tty *Terminal) int { _, _ = fmt.Fprint(tty, "x"); <-tty.Closed(); return 0 }},
		} {
			p, err := Start(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_, _ = p.Expect(ctx, Text("never"))
			cancel()
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			if err := p.Send("x"); err == nil {
				t.Error("input after Close: got no error")
			}
		}
	}
	round() // starts what the process starts once, such as the poller
	goroutines, fds := runtime.NumGoroutine(), count()
	for range 3 {
		round()
	}
	for until := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines && time.Now().Before(until); {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		buf := make([]byte, 1<<20)
		t.Errorf("got %d goroutines, %d before:\n%s", n, goroutines, buf[:runtime.Stack(buf, true)])
	}
	if n := count(); n > fds {
		t.Errorf("got %d descriptors, %d before", n, fds)
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "longterm-shell-*"))
	for _, dir := range left {
		if st, err := os.Stat(dir); err == nil && time.Since(st.ModTime()) < time.Minute {
			t.Logf("possibly ours: %s", dir)
		}
	}
}

// TestExpect_FloodInBoundedMemory checks that a flood is read to its end in bounded memory: old output is deleted, new
// output is not.
// FEATURES: R51, R87
func TestExpect_FloodInBoundedMemory(t *testing.T) {
	const history = 2 << 20
	p := startProgram(t, Cmd{History: history, Line: `i=0; while [ $i -lt 12 ]; do head -c 1000000 /dev/zero | tr '\0' 'x' | fold -w 79; i=$((i+1)); done; echo; echo "the end is here"; read -r x`})
	expect(t, p, Text("the end is here"))
	start, end := p.Session().OutputRange()
	if end < 12_000_000 || start == 0 || end-start > 2*history {
		t.Errorf("got stored output from %d to %d", start, end)
	}
	buf := make([]byte, 1<<10)
	if c, err := p.Output(end-18, buf); err != nil || !strings.Contains(string(c.Data), "the end") {
		t.Errorf("got output %q, error %v", c.Data, err)
	}
	if c, err := p.Output(0, buf); err != nil || c.Gap != start {
		t.Errorf("got a gap of %d, want %d (%v)", c.Gap, start, err)
	}
}

// FEATURES: R87
func TestExec_Shells(t *testing.T) {
	for _, argv := range [][]string{{"bash", "--norc"}, {"zsh"}, {"fish", "--no-config"}, {"dash"}} {
		t.Run(argv[0], func(t *testing.T) {
			tier.Need(t, argv[0])
			dir := t.TempDir()
			t.Setenv("HOME", dir)
			t.Setenv("ZDOTDIR", dir)
			if err := os.WriteFile(filepath.Join(dir, ".zshrc"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			p := startProgram(t, Cmd{Argv: argv, Shell: true, Dir: dir})
			r, err := p.Exec(testContext(t), "echo one; echo two; sh -c 'exit 3'")
			if err != nil || r.Output != "one\ntwo\n" || r.Exit == nil || *r.Exit != 3 {
				t.Errorf("got %+v, error %v", r, err)
			}
			if r, err = p.Exec(testContext(t), "cd /"); err != nil || r.CwdAfter != "/" {
				t.Errorf("got %+v, error %v", r, err)
			}
			send(t, p, "printf 'said%s\\n' again\r") // executed input is read; input typed now is not
			expect(t, p, Text("saidagain"))
		})
	}
}

// FEATURES: R87
func TestExec_WithoutShell_Fails(t *testing.T) {
	p := startProgram(t, Cmd{Line: "cat"})
	if _, err := p.Exec(testContext(t), "true"); !errors.Is(err, session.ErrNoShell) {
		t.Error(err)
	}
}
