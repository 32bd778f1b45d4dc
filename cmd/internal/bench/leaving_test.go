//go:build unix

package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// TestUntilLeft checks that a bench whose terminal closes ends by its context, and cleans up: the signal does not end
// the process.
func TestUntilLeft(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT} {
		putAway, want := false, 1
		seen := make(chan os.Signal, 4) // a signal that arrives after the bench has ended would end the test
		signal.Notify(seen, sig)
		c := CleanUpOnHangup(&cobra.Command{RunE: func(cmd *cobra.Command, _ []string) error {
			if err := syscall.Kill(os.Getpid(), sig); err != nil {
				return err
			}
			<-cmd.Context().Done()
			if sig != syscall.SIGINT { // again, while it puts away
				_ = syscall.Kill(os.Getpid(), sig)
				want++
			}
			putAway = true
			return cmd.Context().Err()
		}})
		c.SetArgs(nil)
		c.SilenceErrors, c.SilenceUsage = true, true
		if err := c.ExecuteContext(t.Context()); !errors.Is(err, context.Canceled) || !putAway {
			t.Errorf("%v: %v, cleaned up: %v", sig, err, putAway)
		}
		for range want {
			<-seen
		}
		signal.Stop(seen)
	}
}

// TestCombinedIsOfNoGroup checks that cleanup commands run outside of our process group, which a closing terminal
// signals as a whole.
func TestCombinedIsOfNoGroup(t *testing.T) {
	out, err := runCombined(exec.Command("sh", "-c", "ps -o pgid= -p $$"))
	if err != nil {
		t.Skip(err) // this system's ps has no such option
	}
	if group, err := strconv.Atoi(strings.TrimSpace(out)); err != nil || group == syscall.Getpgrp() {
		t.Errorf("of group %q, and we of %d; %v", out, syscall.Getpgrp(), err)
	}
}
