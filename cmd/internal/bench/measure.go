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

// startup measures `longterm version`.
func (b *sessionBench) startup(ctx context.Context) (figure, error) {
	return b.pairwise("start of the command line (version)",
		func(int) error { _, err := b.lt(ctx, "version"); return err },
		func(o multiplexer, _ int) error { return o.version(ctx) })
}

// creation measures how long it takes to start a session.
func (b *sessionBench) creation(ctx context.Context) (figure, error) {
	return b.pairwise("create a session",
		func(i int) error {
			_, err := b.lt(ctx, "new", "-n", fmt.Sprint("c", i), "--", "sleep", "100000")
			return err
		},
		func(o multiplexer, i int) error { return o.create(ctx, fmt.Sprint("c", i), "sleep 100000") })
}

// screen measures `longterm screen`.
func (b *sessionBench) screen(ctx context.Context) (figure, error) {
	return b.pairwise("print the screen",
		func(int) error { _, err := b.lt(ctx, "screen", "first"); return err },
		func(o multiplexer, _ int) error { return o.print(ctx, "first") })
}

// listing measures `longterm ls`.
func (b *sessionBench) listing(ctx context.Context) (figure, error) {
	return b.pairwise("list the sessions",
		func(int) error { _, err := b.lt(ctx, "ls"); return err },
		func(o multiplexer, _ int) error { return o.list(ctx) })
}

// benchClient is a client program that runs on a PTY of the bench.
type benchClient struct {
	cmd *exec.Cmd
	tty *os.File
	in  *bufio.Reader
}

// client starts a client program on a new PTY.
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

// readUntil reads the client's output until it contains text.
func (c *benchClient) readUntil(text string) error {
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
const echoScript = `stty -echo -icanon min 1; printf 'READY>'; exec cat`

// echoSession starts a session that echoes input, and returns the command that attaches to it.
func (b *sessionBench) echoSession(ctx context.Context) (lt []string, err error) {
	if _, err = b.lt(ctx, "new", "-n", "echo", "--", "sh", "-c", echoScript); err != nil {
		return nil, err
	}
	for _, o := range b.others {
		if err = o.create(ctx, "echo", echoScript); err != nil {
			return nil, err
		}
	}
	_, err = b.lt(ctx, "wait", "echo", "--for", "text=READY>", "--timeout", "10s")
	return []string{b.self, "attach", "echo"}, err
}

// attachTime measures the time until an attached client shows the screen.
func (b *sessionBench) attachTime(ctx context.Context) (figure, error) {
	lt, err := b.echoSession(ctx)
	if err != nil {
		return figure{}, err
	}
	attach := func(argv []string) error {
		c, err := b.client(ctx, argv[0], argv[1:]...)
		if err != nil {
			return err
		}
		defer c.close()
		return c.readUntil("READY>")
	}
	return b.pairwise("attach to first paint", func(int) error { return attach(lt) },
		func(o multiplexer, _ int) error { return attach(o.attach("echo")) })
}

// firstKeys is the number of keys typed into each attached client; echoRounds limits the measured echoes, all of which
// must fit the screen.
const firstKeys, echoRounds = 200, 8

// echo measures the time from a key typed into an attached client to its echo on the client's terminal, for the first
// keys typed into each of several clients.
func (b *sessionBench) echo(ctx context.Context) ([]figure, error) {
	argvs := [][]string{{b.self, "attach", "echo"}}
	for _, o := range b.others {
		argvs = append(argvs, o.attach("echo"))
	}
	all := make([][]float64, len(argvs))
	for range min(max(b.runs/6, 1), echoRounds) {
		for i, argv := range argvs {
			us, err := b.firstEchoes(ctx, argv)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], us...)
		}
	}
	var figures []figure
	for _, p := range []struct {
		name string
		of   float64
	}{{"key to echo, p50", 0.5}, {"key to echo, p99", 0.99}} {
		fig := figure{Name: p.name, Unit: "µs", Runs: len(all[0]), Longterm: percentile(all[0], p.of)}
		for i, o := range b.others {
			theirs := percentile(all[1+i], p.of)
			fig.addOther(o.name(), theirs, fig.Longterm/theirs)
		}
		figures = append(figures, fig)
	}
	return figures, nil
}

// firstEchoes attaches a client and types its first keys, each after the echo of the last. It returns the delays in
// microseconds.
func (b *sessionBench) firstEchoes(ctx context.Context, argv []string) (us []float64, err error) {
	c, err := b.client(ctx, argv[0], argv[1:]...)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := c.readUntil("READY>"); err != nil {
		return nil, err
	}
	for i := range firstKeys {
		key := string(rune('a' + i%26))
		begin := time.Now()
		if _, err := c.tty.WriteString(key); err != nil {
			return nil, err
		}
		if err := c.readUntil(key); err != nil {
			return nil, err
		}
		us = append(us, float64(time.Since(begin).Nanoseconds())/1000)
	}
	return us, nil
}

// throughput measures how fast a detached session reads a coloured log from its program.
func (b *sessionBench) throughput(ctx context.Context) (figure, error) {
	const size = 64 << 20
	log := filepath.Join(b.dir, "log")
	if err := os.WriteFile(log, colouredLog(size), 0o600); err != nil {
		return figure{}, err
	}
	fig := figure{Name: "detached cat of a coloured log", Unit: "MiB/s", Runs: 3}
	rate := func(d time.Duration) float64 { return float64(size>>20) / d.Seconds() }
	var ours, discards []float64
	theirs := make([][]float64, len(b.others))
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
		for i, o := range b.others {
			if d, err = o.cat(ctx, log); err != nil {
				return fig, err
			}
			theirs[i] = append(theirs[i], rate(d))
		}
	}
	fig.Longterm = median(ours)
	for i, o := range b.others {
		fig.addOther(o.name(), median(theirs[i]), median(theirs[i])/fig.Longterm) // cost: time, the inverse of the rate
	}
	fig.Note = fmt.Sprintf("a reader that discards everything: %.0f MiB/s", median(discards))
	return fig, nil
}

// detachedCat measures how long the program itself takes: it exits when all its output was read.
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

// discard measures the upper limit: a reader on a PTY that drops all output.
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

// colouredLog returns a coloured build log.
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

// memory measures the proportional set size of the processes that hold sessions, and the memory added by an idle
// session.
func (b *sessionBench) memory(ctx context.Context) ([]figure, error) {
	base := figure{Name: "memory with one session", Unit: "MiB", Runs: 1}
	each := figure{Name: "memory of an idle session", Unit: "KiB", Runs: b.idle}
	before, more, err := b.growth(ctx, b.daemonPIDs, func(i int) error {
		_, err := b.lt(ctx, "new", "-n", fmt.Sprint("idle", i), "--", "sleep", "100000")
		return err
	})
	if err != nil {
		return nil, err
	}
	base.Longterm, each.Longterm = before/1024, more
	for _, o := range b.others {
		before, more, err := b.growth(ctx, o.servers, func(i int) error { return o.create(ctx, fmt.Sprint("idle", i), "sleep 100000") })
		if err != nil {
			return nil, err
		}
		base.addOther(o.name(), before/1024, base.Longterm*1024/before)
		each.addOther(o.name(), more, each.Longterm/more)
	}
	return []figure{base, each}, nil
}

// growth returns the memory of the processes before idle sessions are started, and the memory that each session adds,
// in KiB.
func (b *sessionBench) growth(ctx context.Context, pids func(context.Context) ([]int, error), add func(i int) error) (before, each float64, err error) {
	if before, err = stableMemory(ctx, pids); err != nil {
		return 0, 0, err
	}
	for i := range b.idle {
		if err := add(i); err != nil {
			return 0, 0, err
		}
	}
	after, err := stableMemory(ctx, pids)
	return before, (after - before) / float64(b.idle), err
}

const (
	// sampleInterval is the interval between memory samples.
	sampleInterval = 4 * time.Second
	// stableSamples is the number of consecutive samples that must agree within a hundredth; maxSamples limits the samples.
	stableSamples, maxSamples = 4, 8
)

// stableMemory returns the memory of processes in KiB, once it has stopped changing.
func stableMemory(ctx context.Context, listPIDs func(context.Context) ([]int, error)) (float64, error) {
	pids, err := listPIDs(ctx)
	if err != nil {
		return 0, err
	}
	is, same := pss(pids...), 0
	for range maxSamples {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(sampleInterval):
		}
		now := pss(pids...)
		if same++; now < 0.99*is || now > 1.01*is {
			is, same = now, 0
		}
		if same == stableSamples {
			break
		}
	}
	return pss(pids...), nil
}

// daemonPIDs returns the pids of the processes that hold longterm's sessions.
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

// pss returns the proportional set size of processes, in KiB.
func pss(pids ...int) float64 {
	total := 0.0
	for _, pid := range pids {
		total += float64(sys.NumberField(pid, "smaps_rollup", "Pss"))
	}
	return total
}
