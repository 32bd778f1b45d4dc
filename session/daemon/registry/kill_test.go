//go:build unix

package registry

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys"
)

func TestSignals(t *testing.T) {
	for s, n := range map[string]int{"INT": 2, "sigterm": 15, "9": 9, "KILL": 9} {
		if got, err := parseSignal(s); err != nil || int(got) != n {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "NOPE", "0", "-9", "65"} {
		if _, err := parseSignal(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
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
