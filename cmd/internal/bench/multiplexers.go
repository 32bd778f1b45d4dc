//go:build unix

package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// multiplexer is another program that holds sessions, measured in the same run. Sessions are of 80×24 cells.
type multiplexer interface {
	name() string
	version(ctx context.Context) error
	create(ctx context.Context, session, line string) error // creates a session that runs a line
	print(ctx context.Context, session string) error        // prints the session's screen
	list(ctx context.Context) error
	attach(session string) (argv []string)               // command that attaches to the session
	servers(ctx context.Context) (pids []int, err error) // processes that hold sessions
	// cat makes a detached session print a file, and returns how long that takes.
	cat(ctx context.Context, file string) (time.Duration, error)
	close()
}

// multiplexers returns the installed ones.
func (b *sessionBench) multiplexers() (all []multiplexer) {
	if path, err := exec.LookPath("tmux"); err == nil {
		all = append(all, &tmux{b, []string{path, "-S", filepath.Join(b.dir, "tmux.sock"), "-f", "/dev/null"}})
	}
	if path, err := exec.LookPath("screen"); err == nil {
		dir := filepath.Join(b.dir, "screens")
		b.env = append(b.env, "SCREENDIR="+dir)
		if os.Mkdir(dir, 0o700) == nil {
			all = append(all, &gnuScreen{b, []string{path, "-c", "/dev/null"}})
		}
	}
	return all
}

// tmux measures tmux.
type tmux struct {
	b    *sessionBench
	argv []string
}

func (t *tmux) name() string { return "tmux" }

func (t *tmux) run(ctx context.Context, args ...string) (string, error) {
	return t.b.output(ctx, append(t.argv[:len(t.argv):len(t.argv)], args...))
}

func (t *tmux) version(ctx context.Context) error {
	_, err := t.run(ctx, "-V")
	return err
}

func (t *tmux) create(ctx context.Context, session, line string) error {
	_, err := t.run(ctx, "new-session", "-d", "-s", session, "-x", "80", "-y", "24", line)
	return err
}

func (t *tmux) print(ctx context.Context, session string) error {
	_, err := t.run(ctx, "capture-pane", "-p", "-t", session)
	return err
}

func (t *tmux) list(ctx context.Context) error {
	_, err := t.run(ctx, "list-sessions")
	return err
}

func (t *tmux) attach(session string) []string {
	return append(t.argv[:len(t.argv):len(t.argv)], "attach", "-t", session)
}

func (t *tmux) servers(ctx context.Context) ([]int, error) {
	out, err := t.run(ctx, "display-message", "-p", "#{pid}")
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out))
	return []int{pid}, err
}

func (t *tmux) cat(ctx context.Context, file string) (time.Duration, error) {
	begin := time.Now()
	name := fmt.Sprint("flood", begin.UnixNano())
	if err := t.create(ctx, name, "cat "+file+"; "+strings.Join(t.argv, " ")+" wait-for -S "+name); err != nil {
		return 0, err
	}
	_, err := t.run(ctx, "wait-for", name)
	return time.Since(begin), err
}

func (t *tmux) close() { _, _ = t.run(context.Background(), "kill-server") }

// gnuScreen measures GNU Screen, which has a server for each session.
type gnuScreen struct {
	b    *sessionBench
	argv []string
}

func (s *gnuScreen) name() string { return "screen" }

func (s *gnuScreen) run(ctx context.Context, args ...string) (string, error) {
	return s.b.output(ctx, append(s.argv[:len(s.argv):len(s.argv)], args...))
}

func (s *gnuScreen) version(ctx context.Context) error {
	_, err := s.run(ctx, "-v")
	return err
}

func (s *gnuScreen) create(ctx context.Context, session, line string) error {
	_, err := s.run(ctx, "-dmS", session, "sh", "-c", line)
	return err
}

// print writes the screen into a file, which is the only way. The command may return before the file is written.
func (s *gnuScreen) print(ctx context.Context, session string) error {
	file := filepath.Join(s.b.dir, "hardcopy")
	if _, err := s.run(ctx, "-S", session, "-X", "hardcopy", file); err != nil {
		return err
	}
	for {
		if fi, err := os.Stat(file); err == nil && fi.Size() > 0 {
			return os.Remove(file)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Microsecond):
		}
	}
}

func (s *gnuScreen) list(ctx context.Context) error {
	_, err := s.run(ctx, "-ls")
	return err
}

func (s *gnuScreen) attach(session string) []string {
	return append(s.argv[:len(s.argv):len(s.argv)], "-x", session)
}

func (s *gnuScreen) servers(ctx context.Context) (pids []int, err error) {
	out, err := s.run(ctx, "-ls")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) { // "\tPID.NAME\t(when)\t(Detached)" among others
		pid, _, _ := strings.Cut(strings.TrimSpace(line), ".")
		if n, err := strconv.Atoi(pid); err == nil && strings.HasPrefix(line, "\t") {
			pids = append(pids, n)
		}
	}
	return pids, nil
}

// cat runs a detached session that ends with its program.
func (s *gnuScreen) cat(ctx context.Context, file string) (time.Duration, error) {
	begin := time.Now()
	_, err := s.run(ctx, "-DmS", fmt.Sprint("flood", begin.UnixNano()), "cat", file)
	return time.Since(begin), err
}

// close stops the servers and waits: the command only requests the stop.
func (s *gnuScreen) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		pids, err := s.servers(ctx) // of our directory
		if err != nil || len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_, _ = s.run(ctx, "-S", strconv.Itoa(pid), "-X", "quit") // it may be gone
		}
	}
}
