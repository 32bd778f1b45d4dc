//go:build unix

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// NumberedKeys returns n bytes of input in which lost, duplicated or misplaced bytes are recognisable.
func NumberedKeys(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%d,", i)
	}
	return b.String()[:n]
}

// KillDaemons kills one daemon after another, one to three in a row within a tenth of a second, until stop is closed.
// The channel returns their number.
func (i *Instance) KillDaemons(r *rand.Rand, stop <-chan struct{}) <-chan int {
	killed := make(chan int, 1)
	go func() {
		n := 0
		defer func() { killed <- n }()
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(r.Int64N(int64(600 * time.Millisecond)))):
			}
			for range 1 + r.IntN(3) {
				out, _, code := i.Try("daemon", "status", "--json") // starts nothing
				if code == 0 && syscall.Kill(Decode[api.Status](i.T, out).DaemonPID, syscall.SIGKILL) == nil {
					n++
				}
				PauseFor(time.Duration(r.Int64N(int64(100 * time.Millisecond))))
			}
		}
	}()
	return killed
}

// CheckKeys checks that the program that writes its input into file has read keys once and in order.
func CheckKeys(t *testing.T, file, keys string) {
	t.Helper()
	got := ""
	Eventually(t, "all is typed", func() bool {
		b, err := os.ReadFile(file)
		got = string(b)
		return err == nil && len(got) >= len(keys)
	})
	at := 0
	for at < min(len(got), len(keys)) && got[at] == keys[at] {
		at++
	}
	if got != keys {
		t.Errorf("%d keys of %d were read; at %d stands %.20q", len(got), len(keys), at, got[at:])
	}
}

// KeyReader returns the command line of a program that writes its input into a file.
func KeyReader(file string) []string {
	return []string{"sh", "-c", `stty raw -echo; printf READY; exec cat >"$1"`, "sh", file}
}
