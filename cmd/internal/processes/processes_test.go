//go:build unix

package processes

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/paths"
)

func TestNothingRuns(t *testing.T) {
	dir := t.TempDir()
	dirs := paths.Dirs{Run: filepath.Join(dir, "run"), State: filepath.Join(dir, "state"), Config: dir}
	if AnyKeeper(dirs) || AnyDaemon(dirs) {
		t.Error("something runs")
	}
	asked := errors.New("no daemon")
	if err := WithKeeper(t.Context(), asked, dirs, func() string { return "v0" }); !errors.Is(err, asked) || err.Error() != asked.Error() {
		t.Error(err)
	}
}

// TestLastDaemon checks that a daemon that has just ended counts as the last one, also before its keeper has reaped it.
func TestLastDaemon(t *testing.T) {
	alive := func(pid int) bool { return pid == 8 }
	for _, c := range []struct {
		st   wire.StatusReply
		want string
	}{
		{wire.StatusReply{}, ""},
		{wire.StatusReply{LastError: "daemon 7 ended: killed"}, "; last: daemon 7 ended: killed"},
		{wire.StatusReply{DaemonPID: 8, LastError: "daemon 7 ended: killed"}, "; daemon 8 not serving yet"},
		{wire.StatusReply{DaemonPID: 9, LastError: "daemon 7 ended: killed"}, "; last: daemon 9 has just ended"},
	} {
		if got := lastDaemon(&c.st, alive); got != c.want {
			t.Errorf("%+v: %q, want %q", c.st, got, c.want)
		}
	}
}

// TestIsAlive_FalseForZombies checks that an exited process is not alive, even before its parent has reaped it.
func TestIsAlive_FalseForZombies(t *testing.T) {
	if !Alive(os.Getpid()) {
		t.Error("this very process is not alive")
	}
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := WaitExit(ctx, cmd.Process.Pid, func() int { return 0 }); !errors.Is(err, context.Canceled) {
		t.Errorf("while it runs: %v", err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := WaitExit(t.Context(), cmd.Process.Pid, func() int { return 0 }); err != nil || Alive(cmd.Process.Pid) {
		t.Errorf("after its end: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestUntil checks that a function that ends with a process does so, also if the process had ended before, and no
// earlier.
func TestUntil(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := until(t.Context(), cmd.Process.Pid, time.Millisecond)
	defer stop()
	if ctx.Err() != nil {
		t.Error("the function ended before its process")
	}
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	late, stop := until(t.Context(), cmd.Process.Pid, time.Hour)
	defer stop()
	<-late.Done()
}
