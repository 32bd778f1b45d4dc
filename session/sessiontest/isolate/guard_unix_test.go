//go:build unix

package isolate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// child is the variable that makes this binary a test that starts something and is killed.
const child = "LONGTERM_TEST_GUARD_CHILD"

func TestMain(m *testing.M) { os.Exit(Run(m)) }

// TestKilledTestsLeaveNothing checks that processes that a killed test binary started end with it, and that its files
// are removed, without any code of the binary.
//
// FAULT: A11
func TestKilledTestsLeaveNothing(t *testing.T) {
	if os.Getenv(child) != "" {
		beKilled()
	}
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe, "-test.run=^TestKilledTestsLeaveNothing$")
		cmd.Env = append(os.Environ(), child+"=1", "TMPDIR="+t.TempDir())
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		dir := strings.TrimSpace(line)
		if err != nil || dir == "" {
			t.Fatal(line, err)
		}
		began := time.After(time.Minute)
		for len(users(dir)) < 2 { // the guard and the started process; a process that is just starting shows no environment
			select {
			case <-began:
				t.Fatalf("of %s: %v", dir, users(dir))
			case <-time.After(2 * time.Millisecond):
			}
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		deadline := time.After(time.Minute)
		for left := true; left; {
			_, err := os.Stat(dir)
			left = err == nil || len(users(dir)) > 0
			select {
			case <-deadline:
				t.Fatalf("after %v: %v, %v", sig, users(dir), err)
			case <-time.After(2 * time.Millisecond):
			}
		}
	}
}

// beKilled starts a process that would outlive it, prints where its files are, and waits.
func beKilled() {
	cmd := exec.Command("sh", "-c", "trap '' HUP INT TERM; while :; do sleep 1; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	never, _, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString(os.TempDir() + "\n")
	_, _ = io.Copy(io.Discard, never) // select {} would be a deadlock, which ends the process
}

// TestIgnoredSignalsReachChildren checks that programs under test get an interrupt also if the tests run as a
// background job of a script, which ignores it.
//
// FAULT: A8
func TestIgnoredSignalsReachChildren(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP} {
		for _, name := range []string{"HOME", "GOCACHE", "GOPATH", "GOENV"} {
			t.Setenv(name, os.Getenv(name)) // restores the variable at the end
		}
		signal.Ignore(s)
		t.Cleanup(func() { signal.Reset(s) })
		Run(run(func() int {
			err := exec.Command("sh", "-c", fmt.Sprintf("kill -%d $$", s)).Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != s {
				t.Errorf("%v: %v", s, err)
			}
			return 0
		}))
	}
}
