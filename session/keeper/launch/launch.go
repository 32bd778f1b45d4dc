//go:build unix

package launch

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// ReadyFlag is the argument that carries the descriptor on which a keeper says that it serves, or
// why it does not.
const ReadyFlag = "--ready-fd"

// WatchEvery is how often keepers and the daemon look whether their sockets and locks are
// still there: a person may remove a runtime directory, thinking that it is left over.
const WatchEvery = time.Second

// Keeper starts a keeper as a process of its own: argv (whose first element is only
// a name) run by this process's executable, in a session of its own, with nothing of
// ours but a log to write to. It returns once the keeper serves its socket.
func Keeper(argv []string, log string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	logFile, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return fmt.Errorf("keeper log: %s is a symbolic link, which is not followed; remove it", log)
	}
	if err != nil {
		return fmt.Errorf("keeper log: %w", err)
	}
	defer logFile.Close()
	ready, readyEnd, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	p, err := startUnblocked(sys.SelfExe(), append(argv, ReadyFlag, "3"), &os.ProcAttr{
		Dir:   "/",
		Env:   keeperEnviron(),
		Files: []*os.File{null, null, logFile, readyEnd},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	_ = readyEnd.Close()
	if err != nil {
		return fmt.Errorf("start the keeper: %w", err)
	}
	go func() { _, _ = p.Wait() }() // when we live longer than it
	if err := ready.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	line, err := bufio.NewReader(ready).ReadString('\n')
	switch line = strings.TrimSpace(line); {
	case line == "ok":
		return nil
	case line == ErrRunning.Error():
		return ErrRunning
	case line != "":
		return fmt.Errorf("the keeper did not start: %s", line)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the keeper did not answer within 10 s; see %s", log)
	default:
		return fmt.Errorf("the keeper ended at its start; see %s", log)
	}
}

// keeperEnviron is our environment without the mark of the session we may run in: a
// keeper started from inside a session does not belong to it and must not be swept
// away with it.
func keeperEnviron() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "LONGTERM_SESSION=") {
			env = append(env, kv)
		}
	}
	return env
}
