//go:build unix

package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/sys"
)

// FEATURES: R3
func TestNoTerminalIsToldFromOtherErrors(t *testing.T) {
	for _, c := range []struct {
		err error
		no  bool
	}{
		{&link.SpawnError{Errno: syscall.ENXIO, Message: "open a PTY: device not configured"}, true},
		{&link.SpawnError{Errno: syscall.ENOSPC, Message: "open a PTY: no space left"}, true},
		{&link.SpawnError{Errno: syscall.ENOENT}, false},
		{&link.SpawnError{}, false},
		{errors.New("lost"), false},
		{nil, false},
	} {
		if why, no := noTerminal(c.err); no != c.no || no && why == "" {
			t.Errorf("%v: %q, %t", c.err, why, no)
		}
	}
}

// What is asked for on pipes keeps the streams apart; input is for pipes only.
func TestSpawnRequest(t *testing.T) {
	p := &plan{input: true, fallback: true}
	if m := p.request(); m.Pipe || m.Apart || m.Input {
		t.Errorf("on a terminal: %+v", m)
	}
	p.pipe = true
	if m := p.request(); !m.Pipe || !m.Apart || !m.Input {
		t.Errorf("on pipes: %+v", m)
	}
}

// FEATURES: R97
func TestLimits(t *testing.T) {
	var p plan
	if err := p.limit(&api.Limits{Memory: 2 << 30, CPU: 1.5, PIDs: 500}); err != nil || p.memory != 2<<30 || p.cpu != 1500 || p.pids != 500 || !p.limited() {
		t.Errorf("%+v, %v", p, err)
	}
	for _, l := range []api.Limits{{Memory: -1}, {CPU: -1}, {PIDs: -1}, {CPU: 0.001}} {
		if err := new(plan).limit(&l); err == nil {
			t.Errorf("%+v is accepted", l)
		}
	}
	if err := new(plan).limit(nil); err != nil {
		t.Error(err)
	}
}

// FEATURES: R97
func TestCgroupUse(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"memory.current": "1048576\n", "memory.max": "2147483648\n", "pids.current": "3\n", "pids.max": "max\n",
		"cpu.stat": "usage_usec 2500000\nuser_usec 1\n", "cpu.max": "150000 100000\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := cgroupOf(dir)
	if c == nil || *c.Memory != 1<<20 || *c.PIDs != 3 || *c.CPUMS != 2500 || *c.Limits != (api.Limits{Memory: 2 << 30, CPU: 1.5}) {
		t.Errorf("%+v", c)
	}
	if c := cgroupOf(t.TempDir()); c == nil || c.Memory != nil || c.Limits != nil {
		t.Errorf("nothing known: %+v", c)
	}
	if cgroupOf("") != nil || cgroupOf(filepath.Join(dir, "gone")) != nil {
		t.Error("there is no cgroup")
	}
}

// A pid that is another process's by now is not signalled.
func TestRecycledPIDIsLeftAlone(t *testing.T) {
	self, ok := processOf(os.Getpid())
	if !ok {
		t.Skip("no /proc on this system")
	}
	sys.SignalAll([]sys.Process{{PID: self.PID, Start: self.Start + 1}, {PID: self.PID}}, syscall.SIGKILL)
}
