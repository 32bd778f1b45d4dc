package bench

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestCPUTime checks that a process's CPU clock agrees with the kernel's account of it, and is finer.
func TestCPUTime(t *testing.T) {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	got, err := cpuTime(os.Getpid())
	after := used()
	if err != nil || got < before-10*time.Millisecond || got > after+10*time.Millisecond {
		t.Errorf("%v, %v; it used between %v and %v", got, err, before, after)
	}
	for again := got; again == got; { // so much of it is not lost in hundredths of a second
		if again, err = cpuTime(os.Getpid()); err != nil || again-got >= 10*time.Millisecond {
			t.Fatalf("%v after %v, %v", again, got, err)
		}
	}
	ended := exec.Command(os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	if got, err := cpuTime(ended.Process.Pid); err == nil {
		t.Errorf("an exited process has used %v", got)
	}
}
