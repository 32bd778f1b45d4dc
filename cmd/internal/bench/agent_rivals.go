//go:build unix

package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/pattern"
)

// endMark is appended to a line so that an agent that polls the output recognises its end.
const endMark = `; echo "[exit $?]"`

// endSeen matches the output of endMark.
var endSeen = pattern.Lazy(`\[exit \d+\]`)

// firstPollDelay is the delay from a step's action to an agent's first poll.
const firstPollDelay = time.Second

// showsEvent reports whether the shown text contains a step's event.
func showsEvent(s *step, shown string) bool {
	if s.until == "end" {
		return endSeen.MatchString(shown)
	}
	return regexp.MustCompile(s.want).MatchString(shown)
}

// pollEvent calls look a moment after a step and then at an interval, until it reports the event.
func pollEvent(ctx context.Context, every time.Duration, look func() (done bool, err error)) error {
	for pause := firstPollDelay; ; pause = every {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return errors.New("the agent never saw it")
		}
		if done, err := look(); done || err != nil {
			return err
		}
	}
}

// tmuxHistory is the number of lines above a pane that a well-instructed agent reads: the value in published skills and
// servers for tmux (`capture-pane -p -J -S -200`).
const tmuxHistory = "-200"

// tmuxWay runs tasks as an agent that types into tmux panes and captures them: with history, as agents are instructed;
// without, only the visible pane, which is cleared for each line.
type tmuxWay struct {
	b            *agentBench
	tmux         *tmux
	history      bool
	calls        int
	requestBytes int // bytes of requests
	answerBytes  int // bytes of answers
	terminals    map[string]bool
	crashed      chan struct{} // closed when the server was killed
}

func newTmuxDriver(_ context.Context, b *agentBench) (agentDriver, error) {
	for _, o := range b.others {
		if t, ok := o.(*tmux); ok {
			return &tmuxWay{b: b, tmux: t, terminals: map[string]bool{}, crashed: make(chan struct{})}, nil
		}
	}
	return nil, nil //nolint:nilnil // it is not here
}

func newTmuxHistoryDriver(ctx context.Context, b *agentBench) (agentDriver, error) {
	w, err := newTmuxDriver(ctx, b)
	if t, ok := w.(*tmuxWay); ok {
		t.history = true
	}
	return w, err
}

func (w *tmuxWay) name() string {
	if w.history {
		return "tmux-history"
	}
	return "tmux"
}

func (w *tmuxWay) usage() (calls, asked, bytes int) {
	return w.calls, w.requestBytes, w.requestBytes + w.answerBytes
}
func (w *tmuxWay) close() { w.tmux.close() }

func (w *tmuxWay) call(ctx context.Context, args ...string) (string, error) {
	w.calls++
	out, err := w.tmux.run(ctx, args...)
	w.requestBytes += len("tmux " + strings.Join(args, " "))
	w.answerBytes += len(out)
	return out, err
}

// crash kills the server, and with it the panes.
func (w *tmuxWay) crash(ctx context.Context) error {
	defer close(w.crashed)
	pids, err := w.tmux.servers(ctx)
	if err != nil {
		return err
	}
	return syscall.Kill(pids[0], syscall.SIGKILL)
}

// restart does nothing: a new agent finds its tmux sessions in their list.
func (w *tmuxWay) restart(ctx context.Context) error {
	_, err := w.call(ctx, "list-panes", "-a", "-F", "#{session_name} #{pane_current_command} #{pane_title}")
	return err
}

func (w *tmuxWay) do(ctx context.Context, s *step) (string, error) {
	begin := func() error {
		if !w.terminals[s.terminal] {
			if _, err := w.call(ctx, "new-session", "-d", "-s", "s"+s.terminal, "-x", "120", "-y", "40", "-c", w.b.dir); err != nil {
				return err
			}
			w.terminals[s.terminal] = true
		}
		args := []string{"send-keys", "-t", "s" + s.terminal}
		switch {
		case s.typed != "":
			args = append(args, s.typed, "Enter")
		case len(s.keys) > 0:
			args = append(args, s.keys...)
		case s.run == "":
			return nil
		default:
			line := s.run + endMark
			if !w.history {
				line = "clear; " + line
			}
			args = append(args, line, "Enter")
		}
		_, err := w.call(ctx, args...)
		return err
	}
	if err := begin(); err != nil || s.until == "" {
		return "", err
	}
	all, again := "", s.fault == "restart"
	err := pollEvent(ctx, w.b.options.poll, func() (bool, error) {
		if again {
			again = false
			if err := w.restart(ctx); err != nil {
				return false, err
			}
		}
		look := []string{"capture-pane", "-p", "-t", "s" + s.terminal}
		if w.history {
			look = append(look, "-J", "-S", tmuxHistory)
		}
		out, err := w.call(ctx, look...)
		if err != nil && s.fault == "crash" { // the session was lost: start over
			<-w.crashed
			w.terminals = map[string]bool{}
			return false, begin()
		}
		all += out
		return showsEvent(s, out), err
	})
	if err == nil && s.want != "" && !regexp.MustCompile(s.want).MatchString(all) { // it scrolled by
		var out string
		out, err = w.call(ctx, "capture-pane", "-p", "-S", "-", "-t", "s"+s.terminal)
		all += out
	}
	return all, err
}

// shellCap limits the output of a call of a shell tool, in bytes; head and tail are kept.
const shellCap = 30_000

// shellWay runs tasks as an agent with a tool that runs commands in the background on pipes and returns new output.
type shellWay struct {
	b            *agentBench
	calls        int
	requestBytes int // bytes of requests
	answerBytes  int // bytes of answers
	running      map[string]*shellCommand
	crashed      chan struct{} // closed when the tool's server was killed
}

// shellCommand is a command in the background.
type shellCommand struct {
	cmd *exec.Cmd
	in  io.WriteCloser

	mu    sync.Mutex
	out   bytes.Buffer
	ended bool
}

// Write implements io.Writer.
func (c *shellCommand) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(p)
}

func newShellDriver(_ context.Context, b *agentBench) (agentDriver, error) {
	return &shellWay{b: b, running: map[string]*shellCommand{}, crashed: make(chan struct{})}, nil
}

func (w *shellWay) name() string { return "shell" }
func (w *shellWay) usage() (calls, asked, bytes int) {
	return w.calls, w.requestBytes, w.requestBytes + w.answerBytes
}

func (w *shellWay) close() {
	for on := range w.running {
		w.end(on)
	}
}

// end kills a command and all processes it started.
func (w *shellWay) end(terminal string) {
	c := w.running[terminal]
	delete(w.running, terminal)
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	_ = c.in.Close()
}

// crash ends the tool's server and its programs.
func (w *shellWay) crash(context.Context) error {
	close(w.crashed)
	return nil
}

func (w *shellWay) restart(ctx context.Context) error { return w.crash(ctx) }

func (w *shellWay) start(s *step) error {
	line := s.run + endMark
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = w.b.env, w.b.dir, &syscall.SysProcAttr{Setpgid: true}
	c := &shellCommand{cmd: cmd}
	var err error
	if c.in, err = cmd.StdinPipe(); err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = c, c
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = cmd.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended = true
	}()
	w.running[s.terminal] = c
	w.calls++
	w.requestBytes += len(line)
	w.answerBytes += len(`{"id":"1","status":"running"}`)
	return nil
}

func (w *shellWay) begin(s *step) error {
	if s.run != "" {
		return w.start(s)
	}
	c := w.running[s.terminal]
	text := s.typed + "\n"
	switch {
	case c == nil:
		return fmt.Errorf("nothing runs as %q", s.terminal)
	case len(s.keys) == 1 && s.keys[0] == "C-c":
		w.calls++
		w.requestBytes += len("kill 1")
		return syscall.Kill(-c.cmd.Process.Pid, syscall.SIGINT)
	case len(s.keys) > 0:
		return errUnsupported
	case s.typed == "":
		return nil
	}
	w.calls++
	w.requestBytes += len(text)
	_, err := io.WriteString(c.in, text)
	return err
}

// newOutput returns a command's new output, and whether the command runs.
func (w *shellWay) newOutput(terminal string) (string, bool) {
	c := w.running[terminal]
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.out.String()
	c.out.Reset()
	if len(out) > shellCap {
		out = out[:shellCap/2] + "\n… truncated …\n" + out[len(out)-shellCap/2:]
	}
	w.calls++
	w.requestBytes += len(`{"id":"1"}`)
	w.answerBytes += len(out) + len(`{"status":"running","output":""}`)
	return out, c.ended
}

func (w *shellWay) do(ctx context.Context, s *step) (string, error) {
	if err := w.begin(s); err != nil || s.until == "" {
		return "", err
	}
	all, dies := "", s.fault == "crash" || s.fault == "restart"
	err := pollEvent(ctx, w.b.options.poll, func() (bool, error) {
		if dies && s.fault == "crash" {
			select {
			case <-w.crashed:
			default:
				out, _ := w.newOutput(s.terminal)
				all += out
				return false, nil
			}
		}
		if dies { // the programs died with it: start over
			dies, all = false, ""
			w.end(s.terminal)
			return false, w.start(s)
		}
		out, ended := w.newOutput(s.terminal)
		all += out
		switch {
		case showsEvent(s, all) || ended && s.until == "end":
			return true, nil
		case ended:
			return false, errUnsupported
		}
		return false, nil
	})
	return all, err
}
