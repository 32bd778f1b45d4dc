//go:build unix

package isolate

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// A test binary that starts keepers, daemons and sessions may be interrupted or killed, and these
// are made to outlive the process that started them. So all its temporary files are made below one directory,
// and a second process, the guard, waits for its end on a pipe: what has that directory in its
// environment is killed then, and the directory removed.

// directory is the variable that makes a process a guard, for that directory.
const directory = "LONGTERM_TEST_GUARD"

// beGuard does not return in the guard's own process.
func beGuard() {
	dir := os.Getenv(directory)
	if dir == "" {
		return
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until its writer ends
	clear(dir)
	os.Exit(0)
}

// guard starts a guard. end has it clear up now.
func guard() (end func() error, err error) {
	dir, err := os.MkdirTemp("", "ltt")
	if err == nil {
		err = os.Chmod(dir, 0o711) // tests that run as root run some programs as another user
	}
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe)
	cmd.Args[0] = "testguard"
	cmd.Env = append(os.Environ(), directory+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what ends the whole job spares it
	alive, err := cmd.StdinPipe()                        // no process inherits it
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	before := os.Getenv("TMPDIR")
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return nil, err
	}
	return func() error {
		return errors.Join(alive.Close(), cmd.Wait(), os.Setenv("TMPDIR", before))
	}, nil
}

// rounds bounds looking for processes that were born while others were killed.
const rounds = 200

func clear(dir string) {
	for range rounds {
		pids := users(dir)
		if len(pids) == 0 {
			break
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // gone already is fine
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = os.RemoveAll(dir)
}

// users returns the processes with the directory in their environment.
func users(dir string) (pids []int) {
	all, _ := sys.PIDs()
	for _, pid := range all {
		if env, err := sys.ReadEnviron(pid); err == nil && pid != os.Getpid() && bytes.Contains(env, []byte(dir)) {
			pids = append(pids, pid)
		}
	}
	return pids
}
