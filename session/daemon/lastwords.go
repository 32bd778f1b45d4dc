//go:build unix

package daemon

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
)

// crashFile is where the runtime writes what a daemon died of, in the state directory.
const crashFile = "daemon.crash"

// watchCrash says whether the daemon before this one died of an error of its own (and was not
// killed), and has this one's last words written down.
func (d *Daemon) watchCrash() (crashed bool) {
	path := filepath.Join(d.cfg.Dirs.State, crashFile)
	if b, err := os.ReadFile(path); err == nil && len(b) > 0 {
		crashed = true
		why, _, _ := bytes.Cut(b, []byte("\n"))
		d.log.Error("the daemon before this one crashed", "why", string(why), "trace", path+".last")
		if err := os.Rename(path, path+".last"); err != nil {
			d.log.Warn("keep the trace of a crash", "err", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(debug.SetCrashOutput(f, debug.CrashOptions{}), f.Close()) // it has a descriptor of its own
	}
	if err != nil {
		d.log.Warn("a crash would not be noticed", "err", err)
	}
	return crashed
}
