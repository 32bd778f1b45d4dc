//go:build unix

package places

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/internal/termio/takeover"
	"github.com/longterm-dev/longterm/session/sys"
)

// endings are the signals at which this program leaves, whatever has the terminal. Those of keys are none: they are
// the editor's.
func endings() []os.Signal {
	return slices.DeleteFunc(slices.Clone(takeover.Leaving), func(s os.Signal) bool {
		return s == os.Interrupt || s == syscall.SIGQUIT || signal.Ignored(s)
	})
}

// endTime is how long an editor has to end when this program is told to, for instance to keep what was not saved. One that
// hangs would otherwise keep this program, and with it the terminal.
const endTime = time.Second

// errLeft is the error of an editor that was ended, as this program was told to leave.
var errLeft = errors.New("the editor was ended")

// run runs an editor to its end, or ends it and everything it started when ctx does: first by a signal that it may heed
// within the grace. The terminal is set as it was then, as far as the kernel has it: what is drawn on it is the caller's.
func run(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	tty, _ := cmd.Stdin.(*os.File)
	var was *term.State
	if tty != nil {
		was, _ = term.GetState(int(tty.Fd())) // no terminal: nothing is to be set
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	all := processes(cmd.Process.Pid)
	_ = cmd.Process.Signal(syscall.SIGTERM) // gone already is fine
	sys.SignalAll(all, syscall.SIGTERM)
	awaitEnd(all, ended, grace)
	_ = cmd.Process.Kill()
	sys.SignalAll(all, syscall.SIGKILL)
	if was != nil {
		_ = term.Restore(int(tty.Fd()), was) // the terminal may be gone
	}
	return errLeft
}

// processes are those below a shell, where that can be known.
func processes(shell int) (all []sys.Process) {
	for _, pid := range sys.Descendants(shell) {
		if st, err := sys.ReadStat(pid); err == nil {
			all = append(all, sys.Process{PID: pid, Start: st.Start})
		}
	}
	return all
}

// endPoll is how often it is looked whether all have ended.
const endPoll = 5 * time.Millisecond

// awaitEnd waits for the ends of a shell, which ended tells of, and of what it started, for so long at most.
func awaitEnd(all []sys.Process, ended <-chan error, within time.Duration) {
	until := time.NewTimer(within)
	defer until.Stop()
	select {
	case <-ended:
	case <-until.C:
		return
	}
	look := time.NewTicker(endPoll)
	defer look.Stop()
	for len(sys.Living(all)) > 0 {
		select {
		case <-until.C:
			return
		case <-look.C:
		}
	}
}
