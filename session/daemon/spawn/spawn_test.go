//go:build unix

package spawn

import (
	"errors"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/keeper/link"
)

// FEATURES: R3
func TestNoTerminalError_IsDistinct(t *testing.T) {
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

// TestSpawnRequest checks that a request on pipes separates the streams, and that only one on pipes has input.
func TestSpawnRequest(t *testing.T) {
	p := &Plan{input: true, fallback: true}
	if m := p.request(); m.Pipe || m.Separate || m.Input {
		t.Errorf("on a terminal: %+v", m)
	}
	p.pipe = true
	if m := p.request(); !m.Pipe || !m.Separate || !m.Input {
		t.Errorf("on pipes: %+v", m)
	}
}

// FEATURES: R97
func TestLimits(t *testing.T) {
	var p Plan
	if err := p.setLimits(&api.Limits{Memory: 2 << 30, CPU: 1.5, PIDs: 500}); err != nil || p.memory != 2<<30 || p.cpu != 1500 || p.pids != 500 || !p.hasLimits() {
		t.Errorf("%+v, %v", p, err)
	}
	for _, l := range []api.Limits{{Memory: -1}, {CPU: -1}, {PIDs: -1}, {CPU: 0.001}} {
		if err := new(Plan).setLimits(&l); err == nil {
			t.Errorf("%+v is accepted", l)
		}
	}
	if err := new(Plan).setLimits(nil); err != nil {
		t.Error(err)
	}
}
