//go:build unix

// Package shellcmd runs a command line until it exits and returns its output, within limits of time and size.
package shellcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/identity"
)

// ofAgents maps the PIDs of child processes that run for agents to the agents' labels. Children that run for the user
// are not in it.
var ofAgents = struct {
	sync.Mutex // also held during a start: the process may ask for its identity before Start returns
	labels     map[int]string
	ever       bool
}{labels: map[int]string{}}

// AgentOf returns the label of the agent that a child process runs for, or "".
func AgentOf(pid int) string {
	ofAgents.Lock()
	defer ofAgents.Unlock()
	return ofAgents.labels[pid]
}

// RanForAgents reports whether a command ran for an agent, which may have left processes behind.
func RanForAgents() bool {
	ofAgents.Lock()
	defer ofAgents.Unlock()
	return ofAgents.ever
}

// startFor starts a command for an agent. The caller calls ended after it exited.
func startFor(agent string, cmd *exec.Cmd) (ended func(), err error) {
	ofAgents.Lock()
	defer ofAgents.Unlock()
	if err = cmd.Start(); err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	ofAgents.labels[pid], ofAgents.ever = agent, true
	return func() {
		ofAgents.Lock()
		defer ofAgents.Unlock()
		delete(ofAgents.labels, pid)
	}, nil
}

// Command is a command line for /bin/sh.
type Command struct {
	Line    string
	Args    []string // $1 and on
	Env     []string // nil: the process's own
	Dir     string   // "": the working directory
	Stdin   io.Reader
	Max     int           // bytes of output; more is an error
	Timeout time.Duration // at its end everything the command started is killed
}

// ErrTooMuch is returned for a command that prints more than its limit.
var ErrTooMuch = errors.New("it prints too much")

// Run runs a command and returns its standard output. Standard error is dropped: it could contain secrets. If the
// context belongs to an agent (package actor), the command gets the agent's label.
func (c *Command) Run(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	out := bounded{max: c.Max}
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", c.Line, "longterm"}, c.Args...)...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout = c.Env, c.Dir, c.Stdin, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // processes left behind may hold the pipe open
	err := run(cmd, identity.Of(ctx).Agent)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("no answer within %v", c.Timeout)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, fmt.Errorf("%w; run it yourself to see why", err)
	case out.over:
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooMuch, c.Max)
	}
	return out.b, nil
}

// run runs a command, for an agent if one is given.
func run(cmd *exec.Cmd, agent string) error {
	if agent == "" {
		return cmd.Run()
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, identity.Env+"="+agent)
	ended, err := startFor(agent, cmd)
	if err != nil {
		return err
	}
	defer ended()
	return cmd.Wait()
}

// bounded keeps the start of what is written to it.
type bounded struct {
	b    []byte
	max  int
	over bool
}

func (w *bounded) Write(p []byte) (int, error) {
	n := min(len(p), w.max-len(w.b))
	w.b, w.over = append(w.b, p[:n]...), w.over || n < len(p)
	return len(p), nil
}
