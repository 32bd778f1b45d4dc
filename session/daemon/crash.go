//go:build unix

package daemon

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
)

// crashFile, in the state directory, receives the runtime's crash output.
const crashFile = "daemon.crash"

// watchCrash reports whether the previous daemon crashed (and was not killed), and redirects this one's crash output to
// a file.
func (d *Daemon) watchCrash() (crashed bool) {
	path := filepath.Join(d.cfg.Dirs.State, crashFile)
	if b, err := os.ReadFile(path); err == nil && len(b) > 0 {
		crashed = true
		why, _, _ := bytes.Cut(b, []byte("\n"))
		d.log.Error("previous daemon crashed", "why", string(why), "trace", path+".last")
		if err := os.Rename(path, path+".last"); err != nil {
			d.log.Warn("keep the trace of a crash", "err", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(debug.SetCrashOutput(f, debug.CrashOptions{}), f.Close()) // it duplicates the descriptor
	}
	if err != nil {
		d.log.Warn("a crash would not be noticed", "err", err)
	}
	return crashed
}
