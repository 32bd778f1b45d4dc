//go:build unix

package launch

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// ReadyFlag passes the descriptor on which a keeper reports that it serves, or its error.
const ReadyFlag = "--ready-fd"

// WatchInterval is how often keepers and the daemon check that their sockets and locks exist: a user may remove a runtime
// directory as a supposed leftover.
const WatchInterval = time.Second

// readyTimeout bounds how long a process may take until it serves.
const readyTimeout = 10 * time.Second

// DiskFullStatus is the exit status of a daemon that cannot start because its disk is full. An immediate retry fails
// likewise.
const DiskFullStatus = 75

// StartKeeper starts a keeper process: argv (whose first element is only a name) run by a program, or by this process's
// executable if program is empty. It runs in a separate session and inherits only a log to write to. Keeper returns
// once the process serves its socket.
func StartKeeper(program string, argv []string, log string) error {
	return StartProcess("the keeper", cmp.Or(program, sys.SelfExe()), argv, log)
}

// StartProcess starts a process as Keeper does; what names it in errors.
func StartProcess(what, program string, argv []string, log string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	logFile, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return fmt.Errorf("%s's log: %s is a symbolic link, which is not followed; remove it", what, log)
	}
	if err != nil {
		return fmt.Errorf("%s's log: %w", what, err)
	}
	defer logFile.Close()
	ready, readyEnd, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	p, err := startUnblocked(program, append(argv, ReadyFlag, "3"), &os.ProcAttr{
		Dir:   "/",
		Env:   keeperEnviron(),
		Files: []*os.File{null, null, logFile, readyEnd},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	_ = readyEnd.Close()
	if err != nil {
		return fmt.Errorf("start %s: %w", what, err)
	}
	go func() { _, _ = p.Wait() }() // reaps it if we live longer
	if err := ready.SetReadDeadline(time.Now().Add(readyTimeout)); err != nil {
		return err
	}
	line, err := bufio.NewReader(ready).ReadString('\n')
	switch line = strings.TrimSpace(line); {
	case line == "ok":
		return nil
	case line == ErrRunning.Error():
		return ErrRunning
	case line != "":
		return fmt.Errorf("%s did not start: %s", what, line)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%s did not answer within %v; see %s", what, readyTimeout, log)
	default:
		return fmt.Errorf("%s ended at its start; see %s", what, log)
	}
}

// keeperEnviron returns the environment without the mark of the surrounding session: a keeper started inside a session
// must not end with it. The environment is of this host, even if the command concerns another one.
func keeperEnviron() []string {
	var env []string
	for _, kv := range os.Environ() {
		if dir, is := strings.CutPrefix(kv, "LONGTERM_DIR="); is && dir != "" { // it runs in another directory
			if abs, err := filepath.Abs(dir); err == nil {
				kv = "LONGTERM_DIR=" + abs
			}
		}
		if !strings.HasPrefix(kv, "LONGTERM_SESSION=") && !strings.HasPrefix(kv, "LONGTERM_HOST=") {
			env = append(env, kv)
		}
	}
	return env
}
