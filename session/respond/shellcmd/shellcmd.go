//go:build unix

// Package shellcmd runs a command line to its end and takes what it prints, within
// bounds of time and size.
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

	"github.com/longterm-dev/longterm/session/actor"
)

// ofAgents are the processes that run for agents, by their numbers, with the agents' labels: they are children of ours, as
// those of the person are.
var ofAgents = struct {
	sync.Mutex // also while one is started: it may ask who it is before Start returns
	labels     map[int]string
	ever       bool
}{labels: map[int]string{}}

// AgentOf is the label of the agent for whom a process of ours runs; empty: for none.
func AgentOf(pid int) string {
	ofAgents.Lock()
	defer ofAgents.Unlock()
	return ofAgents.labels[pid]
}

// RanForAgents says that something was run for an agent, which may have left processes behind.
func RanForAgents() bool {
	ofAgents.Lock()
	defer ofAgents.Unlock()
	return ofAgents.ever
}

// startFor starts a command for an agent. ended is to be called when it has.
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

// ErrTooMuch is returned for a command that prints more than it may.
var ErrTooMuch = errors.New("it prints too much")

// Run runs a command and returns what it printed. What it says of errors is not passed
// on: it could hold what must not be shown. Where the context is an agent's (package actor) it has its label.
func (c *Command) Run(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	out := bounded{max: c.Max}
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", c.Line, "longterm"}, c.Args...)...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout = c.Env, c.Dir, c.Stdin, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // what it leaves behind may hold the pipe
	err := run(cmd, actor.Of(ctx).Agent)
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

// run runs a command, for an agent if there is one.
func run(cmd *exec.Cmd, agent string) error {
	if agent == "" {
		return cmd.Run()
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, actor.Env+"="+agent)
	ended, err := startFor(agent, cmd)
	if err != nil {
		return err
	}
	defer ended()
	return cmd.Wait()
}

// bounded keeps the beginning of what is written to it.
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
