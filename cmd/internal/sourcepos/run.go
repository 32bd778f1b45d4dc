//go:build unix

package sourcepos

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

// endings returns the signals at which this program exits while an editor has the terminal. Signals of keys are not
// included: they are for the editor.
func endings() []os.Signal {
	return slices.DeleteFunc(slices.Clone(takeover.TerminationSignals), func(s os.Signal) bool {
		return s == os.Interrupt || s == syscall.SIGQUIT || signal.Ignored(s)
	})
}

// endTime is how long an editor has to exit when this program must exit, for instance to save its text. An editor that
// hangs would otherwise keep this program and its terminal.
const endTime = time.Second

// errEditorEnded reports that the editor was ended because this program must exit.
var errEditorEnded = errors.New("the editor was ended")

// run runs an editor to its end. When ctx ends, it ends the editor and its descendants: first by a signal that the
// editor may handle within grace. It restores the terminal's kernel settings; the caller redraws the screen.
func run(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	tty, _ := cmd.Stdin.(*os.File)
	var was *term.State
	if tty != nil {
		was, _ = term.GetState(int(tty.Fd())) // no terminal: nothing to restore
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
	return errEditorEnded
}

// processes returns the descendants of a shell, if the system can list them.
func processes(shell int) (all []sys.Process) {
	for _, pid := range sys.Descendants(shell) {
		if st, err := sys.ReadStat(pid); err == nil {
			all = append(all, sys.Process{PID: pid, Start: st.Start})
		}
	}
	return all
}

// endPoll is the interval at which awaitEnd checks the processes.
const endPoll = 5 * time.Millisecond

// awaitEnd waits until the shell, and everything it started, has exited, but not longer than within.
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
	for len(sys.FilterAlive(all)) > 0 {
		select {
		case <-until.C:
			return
		case <-look.C:
		}
	}
}
