//go:build unix

package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/creack/pty"

	"github.com/longterm-dev/longterm/session/sys"
)

func (b *sessionBench) startup(ctx context.Context) (figure, error) {
	return b.pairwise("start of the command line (version)",
		func(int) error { _, err := b.lt(ctx, "version"); return err },
		func(int) error { _, err := b.mux(ctx, "-V"); return err })
}

func (b *sessionBench) creation(ctx context.Context) (figure, error) {
	return b.pairwise("create a session",
		func(i int) error {
			_, err := b.lt(ctx, "new", "-n", fmt.Sprint("c", i), "--", "sleep", "100000")
			return err
		},
		func(i int) error {
			_, err := b.mux(ctx, "new-session", "-d", "-s", fmt.Sprint("c", i), "-x", "80", "-y", "24", "sleep 100000")
			return err
		})
}

func (b *sessionBench) screen(ctx context.Context) (figure, error) {
	return b.pairwise("print the screen",
		func(int) error { _, err := b.lt(ctx, "screen", "first"); return err },
		func(int) error { _, err := b.mux(ctx, "capture-pane", "-p", "-t", "first"); return err })
}

func (b *sessionBench) listing(ctx context.Context) (figure, error) {
	return b.pairwise("list the sessions",
		func(int) error { _, err := b.lt(ctx, "ls"); return err },
		func(int) error { _, err := b.mux(ctx, "list-sessions"); return err })
}

// benchClient is a client program on a PTY of ours.
type benchClient struct {
	cmd *exec.Cmd
	tty *os.File
	in  *bufio.Reader
}

func (b *sessionBench) client(ctx context.Context, name string, args ...string) (*benchClient, error) {
	cmd := b.command(ctx, name, args...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		return nil, err
	}
	return &benchClient{cmd, tty, bufio.NewReaderSize(tty, 64<<10)}, nil
}

func (c *benchClient) close() {
	_ = c.cmd.Process.Kill()
	_ = c.tty.Close()
	_ = c.cmd.Wait()
}

// until reads until the text was printed.
func (c *benchClient) until(text string) error {
	var seen []byte
	for !bytes.Contains(seen, []byte(text)) {
		if _, err := c.in.Peek(1); err != nil {
			return fmt.Errorf("the client ended before it printed %q: %w", text, err)
		}
		p, _ := c.in.Peek(c.in.Buffered())
		seen = append(seen, p...)
		_, _ = c.in.Discard(len(p))
		if len(seen) > 1<<16 {
			seen = seen[len(seen)-256:]
		}
	}
	return nil
}

// echoScript prints what is typed into it.
const echoScript = `stty -echo -icanon; printf 'READY>'; exec cat`

// echoSession makes a session that echoes, and the two commands that attach to it.
func (b *sessionBench) echoSession(ctx context.Context) (lt, mux []string, err error) {
	if _, err = b.lt(ctx, "new", "-n", "echo", "--", "sh", "-c", echoScript); err != nil {
		return nil, nil, err
	}
	if b.tmux != "" {
		if _, err = b.mux(ctx, "new-session", "-d", "-s", "echo", "-x", "80", "-y", "24", "sh -c \""+echoScript+"\""); err != nil {
			return nil, nil, err
		}
	}
	_, err = b.lt(ctx, "wait", "echo", "--for", "text=READY>", "--timeout", "10s")
	return []string{b.self, "attach", "echo"},
		[]string{b.tmux, "-S", filepath.Join(b.dir, "tmux.sock"), "-f", "/dev/null", "attach", "-t", "echo"}, err
}

func (b *sessionBench) attachTime(ctx context.Context) (figure, error) {
	lt, mux, err := b.echoSession(ctx)
	if err != nil {
		return figure{}, err
	}
	attach := func(argv []string) func(int) error {
		return func(int) error {
			c, err := b.client(ctx, argv[0], argv[1:]...)
			if err != nil {
				return err
			}
			defer c.close()
			return c.until("READY>")
		}
	}
	return b.pairwise("attach to first paint", attach(lt), attach(mux))
}

// echo is the time from a key typed into an attached client to its echo on the
// client's terminal.
func (b *sessionBench) echo(ctx context.Context) (figure, error) {
	lt := []string{b.self, "attach", "echo"}
	mux := []string{b.tmux, "-S", filepath.Join(b.dir, "tmux.sock"), "-f", "/dev/null", "attach", "-t", "echo"}
	fig := figure{Name: "key to echo, p50", Unit: "µs", Runs: b.runs * 20}
	measure := func(argv []string) ([]float64, error) {
		c, err := b.client(ctx, argv[0], argv[1:]...)
		if err != nil {
			return nil, err
		}
		defer c.close()
		if err := c.until("READY>"); err != nil {
			return nil, err
		}
		var out []float64
		for i := range fig.Runs {
			key := string(rune('a' + i%26))
			begin := time.Now()
			if _, err := c.tty.WriteString(key); err != nil {
				return nil, err
			}
			if err := c.until(key); err != nil {
				return nil, err
			}
			out = append(out, float64(time.Since(begin).Nanoseconds())/1000)
		}
		return out, nil
	}
	ours, err := measure(lt)
	if err != nil {
		return fig, err
	}
	fig.Longterm = median(ours)
	fig.Note = fmt.Sprintf("p99 %.0f µs", percentile(ours, 0.99))
	if b.tmux != "" {
		theirs, err := measure(mux)
		if err != nil {
			return fig, err
		}
		fig.Tmux, fig.Ratio = median(theirs), median(ours)/median(theirs)
		fig.Note += fmt.Sprintf(", tmux %.0f µs", percentile(theirs, 0.99))
	}
	return fig, nil
}

// throughput is how fast a detached session takes a coloured log from its child.
func (b *sessionBench) throughput(ctx context.Context) (figure, error) {
	const size = 64 << 20
	log := filepath.Join(b.dir, "log")
	if err := os.WriteFile(log, colouredLog(size), 0o600); err != nil {
		return figure{}, err
	}
	fig := figure{Name: "detached cat of a coloured log", Unit: "MiB/s", Runs: 3}
	rate := func(d time.Duration) float64 { return float64(size>>20) / d.Seconds() }
	var ours, theirs, discards []float64
	for range fig.Runs {
		d, err := b.detachedCat(ctx, log)
		if err != nil {
			return fig, err
		}
		ours = append(ours, rate(d))
		if d, err = b.discard(ctx, log); err != nil {
			return fig, err
		}
		discards = append(discards, rate(d))
		if b.tmux == "" {
			continue
		}
		if d, err = b.tmuxCat(ctx, log); err != nil {
			return fig, err
		}
		theirs = append(theirs, rate(d))
	}
	fig.Longterm, fig.Tmux = median(ours), median(theirs)
	if fig.Tmux > 0 {
		fig.Ratio = fig.Tmux / fig.Longterm // cost: time, the inverse of the rate
	}
	fig.Note = fmt.Sprintf("a reader that discards everything: %.0f MiB/s", median(discards))
	return fig, nil
}

// detachedCat is how long the child itself takes: it ends when all was taken from it.
func (b *sessionBench) detachedCat(ctx context.Context, log string) (time.Duration, error) {
	name := fmt.Sprint("flood", time.Now().UnixNano())
	begin := time.Now()
	if _, err := b.lt(ctx, "new", "-n", name, "--", "cat", log); err != nil {
		return 0, err
	}
	if _, err := b.lt(ctx, "wait", name, "--for", "exit", "--timeout", "2m"); err != nil {
		return 0, err
	}
	return time.Since(begin), nil
}

func (b *sessionBench) tmuxCat(ctx context.Context, log string) (time.Duration, error) {
	begin := time.Now()
	name := fmt.Sprint("flood", begin.UnixNano())
	if _, err := b.mux(ctx, "new-session", "-d", "-s", name, "-x", "80", "-y", "24", "cat "+log+"; tmux -S "+filepath.Join(b.dir, "tmux.sock")+" wait-for -S "+name); err != nil {
		return 0, err
	}
	_, err := b.mux(ctx, "wait-for", name)
	return time.Since(begin), err
}

// discard is the limit: a reader on a PTY that throws everything away.
func (b *sessionBench) discard(ctx context.Context, log string) (time.Duration, error) {
	begin := time.Now()
	c, err := b.client(ctx, "cat", log)
	if err != nil {
		return 0, err
	}
	defer c.close()
	buf := make([]byte, 64<<10)
	for {
		if _, err := c.tty.Read(buf); err != nil {
			return time.Since(begin), nil
		}
	}
}

// colouredLog is the output of a build, coloured.
func colouredLog(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "\x1b[32m[%4d/9999]\x1b[0m Compiling \x1b[1mmodule_%d\x1b[0m v0.%d.%d (\x1b[34m/src/project/module_%d\x1b[0m)\n", i%9999, i%577, i%31, i%7, i%577)
		if i%37 == 0 {
			fmt.Fprintf(&b, "\x1b[1;33mwarning\x1b[0m: unused variable: `x%d` at src/lib.rs:%d:%d\n", i%91, i%400, i%80)
		}
	}
	return b.Bytes()[:size]
}

// memory is the proportional set size of keeper and daemon per idle session.
func (b *sessionBench) memory(ctx context.Context) (figure, error) {
	fig := figure{Name: "memory of an idle session", Unit: "KiB", Runs: b.idle}
	pids, err := b.daemonPIDs(ctx)
	if err != nil {
		return fig, err
	}
	before := pss(pids...)
	for i := range b.idle {
		if _, err := b.lt(ctx, "new", "-n", fmt.Sprint("idle", i), "--", "sleep", "100000"); err != nil {
			return fig, err
		}
	}
	fig.Longterm = (pss(pids...) - before) / float64(b.idle)
	if b.tmux == "" {
		return fig, nil
	}
	out, err := b.mux(ctx, "display-message", "-p", "#{pid}")
	if err != nil {
		return fig, err
	}
	server, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		return fig, err
	}
	before = pss(server)
	for i := range b.idle {
		if _, err := b.mux(ctx, "new-session", "-d", "-s", fmt.Sprint("idle", i), "-x", "80", "-y", "24", "sleep 100000"); err != nil {
			return fig, err
		}
	}
	fig.Tmux = (pss(server) - before) / float64(b.idle)
	fig.Ratio = fig.Longterm / fig.Tmux
	return fig, nil
}

func (b *sessionBench) daemonPIDs(ctx context.Context) ([]int, error) {
	out, err := b.lt(ctx, "daemon", "status", "--json")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, line := range strings.Split(out, "\n") {
		for _, key := range []string{`"daemon_pid":`, `"keeper_pid":`} {
			if _, v, ok := strings.Cut(line, key); ok {
				n, err := strconv.Atoi(strings.Trim(v, " ,"))
				if err != nil {
					return nil, err
				}
				pids = append(pids, n)
			}
		}
	}
	return pids, nil
}

// pss is the proportional set size of processes, in KiB.
func pss(pids ...int) float64 {
	total := 0.0
	for _, pid := range pids {
		total += float64(sys.Number(pid, "smaps_rollup", "Pss"))
	}
	return total
}
