package sourcepos

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// TestEditorEndsWithUs checks that an editor and its children end when this program is ended: one that hangs is killed,
// and one that handles the signal has time to save.
//
// FEATURES: R76
func TestEditorEndsWithUs(t *testing.T) {
	for name, c := range map[string]struct {
		line  string
		grace time.Duration
		saved bool
	}{
		"heeds it": {`trap 'echo kept >"$0"; exit' TERM; echo up $$; while :; do sleep 0.01; done`, time.Minute, true},
		"hangs":    {`trap '' TERM HUP INT; echo up $$; while :; do sleep 1000; done`, time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			kept := filepath.Join(t.TempDir(), "kept")
			cmd := exec.Command("/bin/sh", "-c", `trap : INT; sh -c "$1" "$0"; true`, kept, c.line)
			r, w := io.Pipe()
			cmd.Stdout = w
			cmd.WaitDelay = time.Minute
			ctx, leave := context.WithCancel(t.Context())
			over := make(chan error, 1)
			go func() { over <- run(ctx, cmd, c.grace) }()
			buf := make([]byte, 64)
			n, err := r.Read(buf)
			if err != nil || !strings.HasPrefix(string(buf[:n]), "up ") {
				t.Fatalf("%q, %v", buf[:n], err)
			}
			go func() { _, _ = io.Copy(io.Discard, r) }()
			all := processes(cmd.Process.Pid)
			leave()
			if err := <-over; !errors.Is(err, errEditorEnded) {
				t.Error(err)
			}
			if len(all) == 0 {
				t.Fatal("the running program is unknown")
			}
			awaitEnd(all, closed(), time.Minute)
			if left := sys.FilterAlive(all); len(left) > 0 {
				t.Errorf("%v run on", left)
			}
			if _, err := os.Stat(kept); (err == nil) != c.saved {
				t.Errorf("unsaved text: %v", err)
			}
		})
	}
}

func closed() <-chan error {
	c := make(chan error)
	close(c)
	return c
}
