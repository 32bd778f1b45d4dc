package keeper

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys/spinwait"
)

// TestBell_Retried_WhenSwitchFails checks that if the kernel rejects notices of executions, the keeper reports it and
// polls for executions until the kernel accepts them again.
//
// FEATURES: R107
func TestBell_Retried_WhenSwitchFails(t *testing.T) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	// A number that no other file gets in the meantime.
	at, err := unix.FcntlInt(uintptr(pipe[0]), unix.F_DUPFD_CLOEXEC, 300)
	if err != nil {
		t.Fatal(err)
	}
	bell, err := spinwait.NewReadySignal(at)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	k := &Keeper{log: slog.New(slog.NewTextHandler(&said, nil))}
	l := &listener{readySignal: bell}
	k.listeners = map[sessionRun]*listener{{}: l}
	k.mu.Lock()
	l.spinWaiting = true
	k.setReadySignalLocked(l)
	if err := unix.Close(at); err != nil {
		t.Fatal(err)
	}
	l.spinWaiting = false
	k.setReadySignalLocked(l) // the descriptor is closed
	k.mu.Unlock()
	if _, err := unix.Write(pipe[1], []byte("x")); err != nil {
		t.Fatal(err)
	}
	looks := 0
	if err := bell.Wait(func() bool { // at the first and the next attempt
		looks++
		return looks == 2
	}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Dup3(pipe[0], at, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	if err := bell.Wait(func() bool { // only a bell that is on rings
		k.mu.Lock()
		defer k.mu.Unlock()
		return !l.readySignalBroken
	}); err != nil {
		t.Fatal(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := strings.Count(said.String(), "polling for executions"); n != 1 {
		t.Errorf("logged %d times: %s", n, said.String())
	}
	for _, err := range []error{bell.Close(), unix.Close(at), unix.Close(pipe[0]), unix.Close(pipe[1])} {
		if err != nil {
			t.Error(errors.Join(errors.New("close"), err))
		}
	}
}
