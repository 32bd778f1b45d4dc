//go:build linux

package executions

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// TestSwappedFile_RefusedAfterApproval checks that an approval covers the file that existed at the request. Another
// file in its place, other content, a redirected link of its directory or another interpreter are refused, and under
// another name need approval.
//
// FEATURES: R107
func TestSwappedFile_RefusedAfterApproval(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put := func(path, text string) {
		t.Helper()
		must(os.WriteFile(path+".new", []byte(text), 0o755))
		must(os.Rename(path+".new", path))
	}
	for name, c := range map[string]struct {
		swap func(dir string)
		want syscall.Errno
	}{
		"nothing": {func(string) {}, 0},
		"renamed": {func(dir string) { put(dir+"/a/tool", "#!"+dir+"/a/sh\necho other\n") }, syscall.EPERM},
		"written": {func(dir string) {
			f, err := os.OpenFile(dir+"/a/tool", os.O_WRONLY|os.O_APPEND, 0)
			must(err)
			_, err = f.WriteString("echo more\n")
			must(err)
			must(f.Close())
		}, syscall.EPERM},
		"link": {func(dir string) {
			must(os.Symlink("b", dir+"/new"))
			must(os.Rename(dir+"/new", dir+"/link"))
		}, syscall.EPERM},
		"interpreter": {func(dir string) { put(dir+"/a/sh", "another") }, syscall.EPERM},
		"gone":        {func(dir string) { must(os.Remove(dir + "/a/tool")) }, 0}, // reported by the kernel itself
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			must(err)
			must(os.Mkdir(dir+"/a", 0o700))
			must(os.Mkdir(dir+"/b", 0o700))
			must(os.Symlink("a", dir+"/link"))
			put(dir+"/a/sh", "")
			put(dir+"/a/tool", "#!"+dir+"/a/sh\necho x\n")
			put(dir+"/b/tool", "#!"+dir+"/a/sh\necho y\n")
			d := &door{decide: func(context.Context, authorize.Request) error {
				c.swap(dir)
				return nil
			}}
			s := newSet(t, d)
			pid := process(t)
			st, err := sys.ReadStat(pid)
			must(err)
			m := &wire.Execution{ID: "s", Run: 1, Number: 7, PID: int64(pid), LeaderPID: int64(pid), Start: st.Start, Cwd: dir,
				Path: dir + "/link/tool", Argv: []string{"tool", "V"}}
			if got := answered(s, m); got != c.want {
				t.Errorf("answered %v, want %v", got, c.want)
			}
			if c.want != 0 && (len(d.refused) != 1 || !strings.Contains(d.refused[0].Why, "has changed since")) {
				t.Errorf("refused: %+v", d.refused)
			}
			if name == "gone" {
				return
			}
			d.decide = nil
			answered(s, m) // as by the next daemon
			if same := d.asks[0].ID == d.asks[1].ID; same != (c.want == 0) {
				t.Errorf("%s, then %s", d.asks[0].ID, d.asks[1].ID)
			}
		})
	}
}
