package sys

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A parent is the same one by a process's descriptor as by /proc: of a process, of a thread that is not its first, of one
// whose parent has ended. Of one that has ended itself there is none.
//
// FEATURES: R107
func TestParent(t *testing.T) {
	same := func(what string, pid int) {
		t.Helper()
		want, err := statParent(pid)
		got, err2 := Parent(pid)
		if err != nil || err2 != nil || got != want || got == 0 {
			t.Errorf("%s: %d, %v; /proc says %d, %v", what, got, err2, want, err)
		}
	}
	same("ourselves", os.Getpid())
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		same("a thread", syscall.Gettid())
	}()
	<-done

	cmd := exec.Command("/bin/sh", "-c", `exec 3<&0; sh -c 'echo $$; read x <&3' & wait $!`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Parent(pid); err != nil || got != cmd.Process.Pid {
		t.Errorf("a child's: %d, %v; want %d", got, err, cmd.Process.Pid)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var st syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &st, 0, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := Parent(cmd.Process.Pid); err == nil {
		t.Errorf("of one that has ended: %d", got)
	}
	if got, err := Parent(pid); err != nil || got == cmd.Process.Pid {
		t.Errorf("of one whose parent has ended: %d, %v", got, err)
	}
	same("one whose parent has ended", pid)
	_ = in.Close() // it ends
}

func BenchmarkParent(b *testing.B) {
	pid := os.Getppid()
	b.Run("descriptor", func(b *testing.B) {
		for b.Loop() {
			_, _ = Parent(pid)
		}
	})
	b.Run("stat", func(b *testing.B) {
		for b.Loop() {
			_, _ = statParent(pid)
		}
	})
}
