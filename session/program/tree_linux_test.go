package program

import (
	"os/exec"
	"slices"
	"testing"

	"github.com/longterm-dev/longterm/session/sys"
)

// TestTree_KeepsWhatItFound_WhenItsMarkIsLost checks that a found process belongs to the tree until it has ended, even
// without its environment variable: a process that is being killed has no environment.
// FAULT: B7
func TestTree_KeepsWhatItFound_WhenItsMarkIsLost(t *testing.T) {
	p := startProgram(t, Cmd{Line: "sleep 1000"})
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	st, err := sys.ReadStat(other.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	h := p.host.(*ptyHost)
	h.knownProcesses = []sys.Process{{PID: other.Process.Pid, Start: st.Start}}
	if pids := h.processes(); !slices.Contains(pids, other.Process.Pid) || !slices.Contains(pids, h.cmd.Process.Pid) {
		t.Errorf("got processes %v without %d or %d", pids, other.Process.Pid, h.cmd.Process.Pid)
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	if pids := h.processes(); slices.Contains(pids, other.Process.Pid) {
		t.Errorf("got processes %v with the ended %d", pids, other.Process.Pid)
	}
}
