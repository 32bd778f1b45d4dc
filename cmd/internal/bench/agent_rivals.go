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

// endMark is what an agent that looks has a line print at its end.
const endMark = `; echo "[exit $?]"`

var endSeen = pattern.Lazy(`\[exit \d+\]`)

// firstLook is how long after a step an agent looks for the first time.
const firstLook = time.Second

// looked says whether what is shown tells of a step's event.
func looked(s *step, shown string) bool {
	if s.until == "end" {
		return endSeen.MatchString(shown)
	}
	return regexp.MustCompile(s.want).MatchString(shown)
}

// looks calls look a moment after a step and then from time to time, until the event is seen.
func looks(ctx context.Context, every time.Duration, look func() (done bool, err error)) error {
	for pause := firstLook; ; pause = every {
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

// tmuxHistory is how many lines above a pane an agent looks at that was told how to use tmux: what the skills and servers
// that are handed round for it say (`capture-pane -p -J -S -200`).
const tmuxHistory = "-200"

// tmuxWay is an agent that types into panes and looks at them: with history, as agents are told to; without, at what the
// pane shows after it was cleared for each line.
type tmuxWay struct {
	b         *agentBench
	tmux      *tmux
	history   bool
	calls     int
	asked     int // bytes, as are
	answered  int
	terminals map[string]bool
	crashed   chan struct{}
}

func newTmuxWay(_ context.Context, b *agentBench) (way, error) {
	for _, o := range b.others {
		if t, ok := o.(*tmux); ok {
			return &tmuxWay{b: b, tmux: t, terminals: map[string]bool{}, crashed: make(chan struct{})}, nil
		}
	}
	return nil, nil //nolint:nilnil // it is not here
}

func newTmuxHistoryWay(ctx context.Context, b *agentBench) (way, error) {
	w, err := newTmuxWay(ctx, b)
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

func (w *tmuxWay) spent() (calls, asked, bytes int) { return w.calls, w.asked, w.asked + w.answered }
func (w *tmuxWay) close()                           { w.tmux.close() }

func (w *tmuxWay) call(ctx context.Context, args ...string) (string, error) {
	w.calls++
	out, err := w.tmux.run(ctx, args...)
	w.asked += len("tmux " + strings.Join(args, " "))
	w.answered += len(out)
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

// restart is nothing to tmux: the agent lists what is there.
func (w *tmuxWay) restart(ctx context.Context) error {
	_, err := w.call(ctx, "list-panes", "-a", "-F", "#{session_name} #{pane_current_command} #{pane_title}")
	return err
}

func (w *tmuxWay) do(ctx context.Context, s *step) (string, error) {
	begin := func() error {
		if !w.terminals[s.on] {
			if _, err := w.call(ctx, "new-session", "-d", "-s", "s"+s.on, "-x", "120", "-y", "40", "-c", w.b.at); err != nil {
				return err
			}
			w.terminals[s.on] = true
		}
		args := []string{"send-keys", "-t", "s" + s.on}
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
	all, again := "", s.does == "restart"
	err := looks(ctx, w.b.o.poll, func() (bool, error) {
		if again {
			again = false
			if err := w.restart(ctx); err != nil {
				return false, err
			}
		}
		look := []string{"capture-pane", "-p", "-t", "s" + s.on}
		if w.history {
			look = append(look, "-J", "-S", tmuxHistory)
		}
		out, err := w.call(ctx, look...)
		if err != nil && s.does == "crash" { // it is gone: from the beginning
			<-w.crashed
			w.terminals = map[string]bool{}
			return false, begin()
		}
		all += out
		return looked(s, out), err
	})
	if err == nil && s.want != "" && !regexp.MustCompile(s.want).MatchString(all) { // it scrolled by
		var out string
		out, err = w.call(ctx, "capture-pane", "-p", "-S", "-", "-t", "s"+s.on)
		all += out
	}
	return all, err
}

// shellCap bounds what a shell tool hands out at once, in bytes: head and tail.
const shellCap = 30_000

// shellWay is an agent with a tool that runs commands in the background, on pipes, and hands out what is new.
type shellWay struct {
	b        *agentBench
	calls    int
	asked    int // bytes, as are
	answered int
	running  map[string]*shellCommand
	crashed  chan struct{}
}

// shellCommand is a command that runs in the background.
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

func newShellWay(_ context.Context, b *agentBench) (way, error) {
	return &shellWay{b: b, running: map[string]*shellCommand{}, crashed: make(chan struct{})}, nil
}

func (w *shellWay) name() string                     { return "shell" }
func (w *shellWay) spent() (calls, asked, bytes int) { return w.calls, w.asked, w.asked + w.answered }

func (w *shellWay) close() {
	for on := range w.running {
		w.end(on)
	}
}

// end ends a command with all it started.
func (w *shellWay) end(on string) {
	c := w.running[on]
	delete(w.running, on)
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	_ = c.in.Close()
}

// crash is the end of the tool's server, and of what it runs.
func (w *shellWay) crash(context.Context) error {
	close(w.crashed)
	return nil
}

func (w *shellWay) restart(ctx context.Context) error { return w.crash(ctx) }

func (w *shellWay) start(s *step) error {
	line := s.run + endMark
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = w.b.env, w.b.at, &syscall.SysProcAttr{Setpgid: true}
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
	w.running[s.on] = c
	w.calls++
	w.asked += len(line)
	w.answered += len(`{"id":"1","status":"running"}`)
	return nil
}

func (w *shellWay) begin(s *step) error {
	if s.run != "" {
		return w.start(s)
	}
	c := w.running[s.on]
	text := s.typed + "\n"
	switch {
	case c == nil:
		return fmt.Errorf("nothing runs as %q", s.on)
	case len(s.keys) == 1 && s.keys[0] == "C-c":
		w.calls++
		w.asked += len("kill 1")
		return syscall.Kill(-c.cmd.Process.Pid, syscall.SIGINT)
	case len(s.keys) > 0:
		return errCannot
	case s.typed == "":
		return nil
	}
	w.calls++
	w.asked += len(text)
	_, err := io.WriteString(c.in, text)
	return err
}

// look is a call for what is new.
func (w *shellWay) look(on string) (string, bool) {
	c := w.running[on]
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.out.String()
	c.out.Reset()
	if len(out) > shellCap {
		out = out[:shellCap/2] + "\n… truncated …\n" + out[len(out)-shellCap/2:]
	}
	w.calls++
	w.asked += len(`{"id":"1"}`)
	w.answered += len(out) + len(`{"status":"running","output":""}`)
	return out, c.ended
}

func (w *shellWay) do(ctx context.Context, s *step) (string, error) {
	if err := w.begin(s); err != nil || s.until == "" {
		return "", err
	}
	all, dies := "", s.does == "crash" || s.does == "restart"
	err := looks(ctx, w.b.o.poll, func() (bool, error) {
		if dies && s.does == "crash" {
			select {
			case <-w.crashed:
			default:
				out, _ := w.look(s.on)
				all += out
				return false, nil
			}
		}
		if dies { // what ran is gone with it: from the beginning
			dies, all = false, ""
			w.end(s.on)
			return false, w.start(s)
		}
		out, ended := w.look(s.on)
		all += out
		switch {
		case looked(s, all) || ended && s.until == "end":
			return true, nil
		case ended:
			return false, errCannot
		}
		return false, nil
	})
	return all, err
}
