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

// agentProcesses maps the PIDs of child processes that run for agents to the agents' labels. Children that run for the
// user are absent.
var agentProcesses = struct {
	sync.Mutex // also held during a start: the process may request its identity before Start returns
	labels     map[int]string
	everUsed   bool // a command was started for an agent
}{labels: map[int]string{}}

// AgentOf returns the label of the agent that a child process runs for, or "".
func AgentOf(pid int) string {
	agentProcesses.Lock()
	defer agentProcesses.Unlock()
	return agentProcesses.labels[pid]
}

// RanForAgents reports whether any command ran for an agent. Its processes may still run.
func RanForAgents() bool {
	agentProcesses.Lock()
	defer agentProcesses.Unlock()
	return agentProcesses.everUsed
}

// startForAgent starts a command for an agent and registers its PID. The caller calls unregister after the command
// exited.
func startForAgent(agent string, cmd *exec.Cmd) (unregister func(), err error) {
	agentProcesses.Lock()
	defer agentProcesses.Unlock()
	if err = cmd.Start(); err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	agentProcesses.labels[pid], agentProcesses.everUsed = agent, true
	return func() {
		agentProcesses.Lock()
		defer agentProcesses.Unlock()
		delete(agentProcesses.labels, pid)
	}, nil
}

// Command is a command line for /bin/sh.
type Command struct {
	Line    string
	Args    []string // positional parameters: $1 and on
	Env     []string // nil: the process's own
	Dir     string   // "": the working directory
	Stdin   io.Reader
	Max     int           // bytes of output; more is an error, and kills the command's process group
	Timeout time.Duration // after it, the command's process group is killed

	KillLeftover bool // kills the processes that remain in the process group after the command
}

// ErrTooMuch is returned if a command prints more than Command.Max.
var ErrTooMuch = errors.New("it prints too much")

// Run runs a command and returns its standard output. Standard error is dropped: it could contain secrets. If the
// context belongs to an agent (package identity), the command gets the agent's label.
func (c *Command) Run(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	out := limitedBuffer{max: c.Max, onFull: cancel}
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", c.Line, "longterm"}, c.Args...)...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout = c.Env, c.Dir, c.Stdin, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // leftover processes may hold the pipe open
	err := run(cmd, identity.Of(ctx).Agent)
	if c.KillLeftover && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the group's id is not reused while a process is in it
	}
	switch {
	case out.truncated:
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooMuch, c.Max)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("no answer within %v", c.Timeout)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, fmt.Errorf("%w; run it yourself to see why", err)
	}
	return out.b, nil
}

// run runs a command, registered for an agent unless agent is "".
func run(cmd *exec.Cmd, agent string) error {
	if agent == "" {
		return cmd.Run()
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, identity.Env+"="+agent)
	unregister, err := startForAgent(agent, cmd)
	if err != nil {
		return err
	}
	defer unregister()
	return cmd.Wait()
}

// limitedBuffer stores the first max bytes written to it and drops the rest.
type limitedBuffer struct {
	b         []byte
	max       int
	truncated bool
	onFull    func() // called if bytes were dropped
}

// Write always accepts all of p, so that the command does not block.
func (w *limitedBuffer) Write(p []byte) (int, error) {
	n := min(len(p), w.max-len(w.b))
	w.b = append(w.b, p[:n]...)
	if n < len(p) {
		w.truncated = true
		w.onFull()
	}
	return len(p), nil
}
