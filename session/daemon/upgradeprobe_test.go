//go:build unix

package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestProbe checks that the daemon is replaced only by a program that confirms that it can continue its sessions.
//
// FAULT: A24
func TestProbe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := func(name, script string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	says := func(a capabilities) string { return "echo '" + a.line() + "'" }
	ours := ownCapabilities()
	newer, older, other, both := ours, ours, ours, ours
	newer.schema++
	older.schema--
	other.minProtocol, other.protocol = ours.protocol+1, ours.protocol+1
	both.protocol++
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{program("same", "test \"$1 $2\" = 'version --probe' && "+says(ours), 0o700), ""},
		{program("newer", says(newer), 0o700), ""},
		{program("wider", "echo a warning; "+says(both)+"' and=more'", 0o700), ""},
		{program("older", says(older), 0o700), "too old"},
		{program("other", says(other), 0o700), "protocol"},
		{program("true", "exit 0", 0o700), "not a longterm"},
		{program("version", "echo longterm v1.0.0", 0o700), "not a longterm"},
		{program("false", says(ours)+"; exit 1", 0o700), "does not run"},
		{program("endless", "while :; do echo x; done", 0o700), "did not end"},
		{program("hangs", "sleep 1000", 0o700), "did not end"},
		{program("plain", says(ours), 0o600), "not executable"},
		{dir, "no file to execute"},
		{fifo, "no file to execute"},
		{filepath.Join(dir, "none"), "no such file"},
	} {
		limit := time.Minute
		if c.want == "did not end" {
			limit = 200 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		exe, err := openProgram(ctx, c.path)
		cancel()
		if err == nil {
			_ = exe.Close()
		}
		if got := fmt.Sprint(err); (err == nil) != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %v, want %q", filepath.Base(c.path), err, c.want)
		}
	}
}

func FuzzParseProbe(f *testing.F) {
	f.Add([]byte(ProbeLine()))
	f.Add([]byte("longterm-probe 1 protocol=1..x schema=\r\nlongterm-probe 1 schema=-1 protocol=18446744073709551615..0"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := parseProbe(b); err == nil {
			if again, err := parseProbe([]byte(a.line())); err != nil || again != a {
				t.Errorf("%+v, then %+v, %v", a, again, err)
			}
		}
	})
}
