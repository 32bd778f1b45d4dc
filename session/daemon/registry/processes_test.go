//go:build linux

package registry

import (
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// TestLooksAreShared checks that concurrent calls share a scan that started after them.
//
// FAULT: A26
func TestLooksAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks, answered atomic.Int32
		gate := make(chan struct{})
		w := &scanner{read: func() *sys.Table { looks.Add(1); <-gate; return &sys.Table{} }}
		ask := func() { w.scan(); answered.Add(1) }
		go ask()
		synctest.Wait() // the scan runs
		for range 100 {
			go ask()
		}
		synctest.Wait()
		gate <- struct{}{}
		synctest.Wait()
		if answered.Load() != 1 {
			t.Errorf("%d have a result from before their request", answered.Load()-1)
		}
		gate <- struct{}{}
		synctest.Wait()
		if looks.Load() != 2 || answered.Load() != 101 {
			t.Errorf("%d scans for %d", looks.Load(), answered.Load())
		}
	})
}

// TestProcessesOfASession checks that a session's processes are its descendants, those of its terminal session and
// those that carry its mark.
//
// FAULT: B9, A26
func TestProcessesOfASession(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "600")
	cmd.Env = append(os.Environ(), sessionMark+"=the-id")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Skip("needs sleep: ", err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	seen := scanProcesses()
	if all := seen.SessionProcesses(0, "the-id"); len(all) != 1 || all[0].PID != cmd.Process.Pid || !all[0].IsAlive() {
		t.Errorf("by its mark: %v, it is %d", all, cmd.Process.Pid)
	}
	if all := seen.SessionProcesses(cmd.Process.Pid, "another"); len(all) != 1 {
		t.Errorf("by its terminal session: %v", all)
	}
	p := seen.SessionProcesses(0, "the-id")[0]
	if p.IgnoresSignal(syscall.SIGTERM) {
		t.Error("sleep does not ignore SIGTERM")
	}
	sys.SignalAll([]sys.Process{p}, syscall.SIGKILL)
	_ = cmd.Wait()
	if p.IsAlive() || len(sys.FilterAlive([]sys.Process{p})) != 0 {
		t.Error("it lives")
	}
}

// TestOneLookForAll checks that the leftover processes of many sessions are found by one scan, and killed; a second
// scan confirms that.
//
// FEATURES: R16
func TestOneLookForAll(t *testing.T) {
	t.Parallel()
	const many = 20
	var ids []string
	r, _ := hosted(t, func(r *Registry) {
		for i := range many {
			ids = append(ids, withHistory(t, r, fmt.Sprint("s", i), time.Now(), 0))
		}
	})
	r.AdoptAll(t.Context(), nil, nil)
	var looks atomic.Int32
	r.scanner.read = func() *sys.Table { looks.Add(1); return scanProcesses() }
	var list []*Handle
	var left []*exec.Cmd
	for _, id := range ids {
		cmd := exec.Command("sleep", "600")
		cmd.Env = append(os.Environ(), sessionMark+"="+id)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			t.Skip("needs sleep: ", err)
		}
		t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
		list, left = append(list, r.ByID(id)), append(left, cmd)
	}
	r.sweep(list...)
	for _, cmd := range left {
		if err := cmd.Wait(); err == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("process %d: %v", cmd.Process.Pid, err)
		}
	}
	if n := looks.Load(); n != 2 {
		t.Errorf("%d scans for %d sessions", n, many)
	}
}
