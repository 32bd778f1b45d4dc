package registry

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sys"
)

// TestIsFork_TellsTheShellsOwnForks starts a subshell in the shell's process group, one in its own, and a program.
//
// FAULT: H27
func TestIsFork_TellsTheShellsOwnForks(t *testing.T) {
	t.Parallel()
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "-c", "(read x <&3; :) & own=$!; cat <&3 & program=$!; set -m; (read x <&3; :) & echo $own $! $program; wait")
	cmd.ExtraFiles = []*os.File{in}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_, _ = hold.Close(), in.Close()
		_ = cmd.Wait()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	for i, of := range strings.Fields(line) {
		pid, _ := strconv.Atoi(of)
		for isOurs(pid, cmd.Process.Pid) != (i == 0) { // the program may not have been executed yet
			if i == 0 {
				t.Fatal("the shell's own fork counts as a process of the user")
			}
			runtime.Gosched()
		}
	}
}

func isOurs(pid, leader int) bool {
	st, err := sys.ReadStat(pid)
	return err == nil && isFork(pid, &st, leader)
}
