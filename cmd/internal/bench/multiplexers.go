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

// multiplexer is a program that keeps sessions, too: the same is asked of it in the same run. Sessions are of 80×24 cells.
type multiplexer interface {
	name() string
	version(ctx context.Context) error
	create(ctx context.Context, session, line string) error
	print(ctx context.Context, session string) error
	list(ctx context.Context) error
	attach(session string) (argv []string)
	servers(ctx context.Context) (pids []int, err error)
	// cat has a detached session print a file, and is how long that takes.
	cat(ctx context.Context, file string) (time.Duration, error)
	close()
}

// multiplexers are those that are installed.
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

type tmux struct {
	b    *sessionBench
	argv []string
}

func (t *tmux) name() string { return "tmux" }

func (t *tmux) run(ctx context.Context, args ...string) (string, error) {
	return t.b.prints(ctx, append(t.argv[:len(t.argv):len(t.argv)], args...))
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

// gnuScreen has a server for each session.
type gnuScreen struct {
	b    *sessionBench
	argv []string
}

func (s *gnuScreen) name() string { return "screen" }

func (s *gnuScreen) run(ctx context.Context, args ...string) (string, error) {
	return s.b.prints(ctx, append(s.argv[:len(s.argv):len(s.argv)], args...))
}

func (s *gnuScreen) version(ctx context.Context) error {
	_, err := s.run(ctx, "-v")
	return err
}

func (s *gnuScreen) create(ctx context.Context, session, line string) error {
	_, err := s.run(ctx, "-dmS", session, "sh", "-c", line)
	return err
}

// print has the screen written into a file, which is the only way; the command may return before it is.
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

// cat runs a session that is not attached to and stands for its program, so that it ends with that.
func (s *gnuScreen) cat(ctx context.Context, file string) (time.Duration, error) {
	begin := time.Now()
	_, err := s.run(ctx, "-DmS", fmt.Sprint("flood", begin.UnixNano()), "cat", file)
	return time.Since(begin), err
}

// close ends them and waits: the command only asks for that.
func (s *gnuScreen) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		pids, err := s.servers(ctx) // of a directory of our own
		if err != nil || len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_, _ = s.run(ctx, "-S", strconv.Itoa(pid), "-X", "quit") // it may be gone
		}
	}
}
