//go:build unix

package registry

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store"
)

func TestSignals(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
		t.Errorf("an unknown process: %+v", c)
	}
	if cgroupOf("") != nil || cgroupOf(filepath.Join(dir, "gone")) != nil {
		t.Error("there is no cgroup")
	}
}

// TestRecycledPIDIsLeftAlone checks that a pid that another process has by now is not signalled.
func TestRecycledPIDIsLeftAlone(t *testing.T) {
	t.Parallel()
	self, ok := processOf(os.Getpid())
	if !ok {
		t.Skip("no /proc on this system")
	}
	sys.SignalAll([]sys.Process{{PID: self.PID, Start: self.Start + 1}, {PID: self.PID}}, syscall.SIGKILL)
}

// TestUntoldEnd checks that if a killed process's end is not reported in time, the error names the kernel only if the
// process lives. Otherwise the session still reads its output, and the error reports that.
func TestUntoldEnd(t *testing.T) {
	t.Parallel()
	kept := store.Session{ID: uuid.NewString(), Name: "kept", State: "running", PID: 1 << 30, Argv: []string{"sh"}, Created: time.Now(), Started: time.Now()}
	r, _ := hosted(t, func(r *Registry) { record(t, r, kept) })
	k := newOneKeeper(t, kept.ID, "printed")
	r.AdoptAll(t.Context(), []string{"main"}, func(string) (Keeper, error) { return k, nil })
	over, cancel := context.WithCancel(t.Context())
	cancel()
	self, _ := processOf(os.Getpid())
	for what, c := range map[string]struct {
		pid   int
		known []sys.Process
		says  string
	}{
		"it lives":            {self.PID, []sys.Process{self}, "did not end by SIGKILL"},
		"it has ended":        {1 << 30, []sys.Process{{PID: 1 << 30, Start: 1}}, "has ended, but its output"},
		"it was gone by then": {1 << 30, nil, "has ended, but its output"},
		"only others live":    {1 << 30, []sys.Process{self}, "has ended, but its output"},
	} {
		if err := r.ByID(kept.ID).endError(over, c.pid, c.known); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
