package program

import (
	"os/exec"
	"slices"
	"testing"

	"github.com/longterm-dev/longterm/session/sys"
)

// A process that was found in the tree belongs to it until it has ended, though nothing shows it any more: one that is being
// killed has no environment.
//
// FAULT: B7
func TestTree_KeepsWhatItFound_WhenItsMarkIsLost(t *testing.T) {
	p := begin(t, Cmd{Line: "sleep 1000"})
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	st, err := sys.ReadStat(other.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	h := p.host.(*ptyHost)
	h.found = []sys.Process{{PID: other.Process.Pid, Start: st.Start}}
	if pids := h.tree(); !slices.Contains(pids, other.Process.Pid) || !slices.Contains(pids, h.cmd.Process.Pid) {
		t.Errorf("%v without %d or %d", pids, other.Process.Pid, h.cmd.Process.Pid)
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	if pids := h.tree(); slices.Contains(pids, other.Process.Pid) {
		t.Errorf("%v with %d, which has ended", pids, other.Process.Pid)
	}
}
