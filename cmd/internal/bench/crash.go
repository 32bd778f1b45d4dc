//go:build unix

package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys"
)

// crashReport is the result of `bench crash`. Counters ending in Bad count bytes, lines or streams that were lost,
// duplicated or differ.
type crashReport struct {
	Sessions   int      `json:"sessions"`
	Lines      int      `json:"lines"` // output lines of each session
	Kills      int      `json:"kills"`
	Bytes      uint64   `json:"bytes"`
	Gaps       uint64   `json:"gap_bytes"` // bytes missing from histories
	Equal      int      `json:"equal"`     // sessions whose history equals the printed output
	RecoveryMS float64  `json:"back_ms"`   // median time from a kill to the next answer
	WorstMS    float64  `json:"worst_ms"`
	Seconds    float64  `json:"seconds"`
	Failures   []string `json:"failures"` // first differences found

	Stops       int   `json:"stops"`       // times the daemon was suspended with SIGSTOP
	StartKills  int   `json:"start_kills"` // times a daemon was killed together with its starting successor
	Upgrades    int   `json:"upgrades"`
	Keys        int64 `json:"keys"`
	KeysBad     int64 `json:"keys_lost_or_doubled"`
	Run         int64 `json:"lines_run"` // lines run
	RunBad      int64 `json:"lines_lost_or_doubled"`
	FailedCalls int64 `json:"calls_failed"` // failed API calls
	Streams     int   `json:"streams"`
	StreamsBad  int64 `json:"streams_that_differ"`
}

// bad reports whether anything was lost, duplicated or rejected.
func (r *crashReport) bad() bool {
	return r.Equal < r.Sessions || r.KeysBad+r.RunBad+r.FailedCalls+r.StreamsBad > 0
}

// crashPlan holds the load and the number of each kind of fault in `bench crash`.
type crashPlan struct {
	sessions, lines, typed, execs, streams int
	kills, stops, startKills, upgrades     int
}

func crashCommand(e *Program) *cobra.Command {
	var p crashPlan
	c := &cobra.Command{
		Use: "crash", Short: "Kill the daemon repeatedly under full output and compare every byte", Args: cobra.NoArgs,
		Long: `In a separate instance, let sessions print as fast as they can, type into others, run lines and follow output; kill the
daemon with SIGKILL at random instants, stop and continue it, kill it while it starts, upgrade it. Then compare the
histories with the printed output, and the input of programs with what was typed and run. Exit status 1 if a byte, a key
or a line is lost or duplicated.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.sessions < 1 || p.lines < 1 || min(p.typed, p.execs, p.streams, p.kills, p.stops, p.startKills, p.upgrades) < 0 {
				return exit.Usagef("--sessions and --lines must be positive, the others not negative")
			}
			b, err := newSessionBench(e, 1, 0)
			if err != nil {
				return err
			}
			defer b.close()
			r, err := b.crash(cmd.Context(), &p)
			if err != nil {
				return err
			}
			if err := e.Print(r, func(w io.Writer) { writeCrash(w, r) }); err != nil {
				return err
			}
			if r.bad() {
				return exit.With(api.ExitFailure, fmt.Errorf("%d histories differ from what was printed; %d keys, %d lines, %d streams and %d calls went wrong",
					r.Sessions-r.Equal, r.KeysBad, r.RunBad, r.StreamsBad, r.FailedCalls))
			}
			return nil
		},
	}
	f := c.Flags()
	f.IntVar(&p.sessions, "sessions", 20, "sessions that print")
	f.IntVar(&p.kills, "kills", 200, "times the daemon is killed")
	f.IntVar(&p.lines, "lines", 1_000_000, "lines each session prints")
	f.IntVar(&p.typed, "typed", 20, "sessions that are typed into")
	f.IntVar(&p.execs, "execs", 10, "shells that run lines, one after the other")
	f.IntVar(&p.streams, "streams", 5, "clients that follow the output of a session")
	f.IntVar(&p.stops, "stops", 0, "times the daemon is stopped for a moment (SIGSTOP, SIGCONT)")
	f.IntVar(&p.startKills, "start-kills", 0, "times the daemon is killed while it starts")
	f.IntVar(&p.upgrades, "upgrades", 0, "times keeper and daemon are replaced by another copy of this program")
	return e.JSONFlag(c)
}

func writeCrash(w io.Writer, r *crashReport) {
	fmt.Fprintf(w, "%d kills under %d sessions, %d bytes in %.1f s: %d histories are equal, %d bytes in gaps\n",
		r.Kills, r.Sessions, r.Bytes, r.Seconds, r.Equal, r.Gaps)
	fmt.Fprintf(w, "the daemon answered again after %.0f ms (median), %.0f ms at worst\n", r.RecoveryMS, r.WorstMS)
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "\tall\tlost or doubled\t")
	for _, row := range []struct {
		what     string
		all, bad int64
	}{
		{"histories", int64(r.Sessions), int64(r.Sessions - r.Equal)}, {"keys", r.Keys, r.KeysBad},
		{"lines", r.Run, r.RunBad}, {"calls", r.Keys + r.Run, r.FailedCalls}, {"streams", int64(r.Streams), r.StreamsBad},
	} {
		fmt.Fprintf(tw, "%s\t%d\t%d\t\n", row.what, row.all, row.bad)
	}
	_ = tw.Flush()
	fmt.Fprintf(w, "%d stops, %d kills at the start, %d upgrades\n", r.Stops, r.StartKills, r.Upgrades)
	for _, f := range r.Failures {
		fmt.Fprintln(w, f)
	}
}

func (b *sessionBench) crash(ctx context.Context, p *crashPlan) (*crashReport, error) {
	r := &crashReport{
		Sessions: p.sessions, Lines: p.lines, Kills: p.kills, Stops: p.stops, StartKills: p.startKills, Upgrades: p.upgrades,
		Streams: p.streams, Failures: []string{},
	}
	began := time.Now()
	for i := range p.sessions {
		script := fmt.Sprintf("seq 1 %d; read x", p.lines)
		if _, err := b.lt(ctx, "new", "-n", "s"+strconv.Itoa(i), "--", "sh", "-c", script); err != nil {
			return nil, err
		}
	}
	l := newLoad(b)
	defer l.end()
	for i := range p.typed {
		if err := l.typeKeys(ctx, b, "t"+strconv.Itoa(i)); err != nil {
			return nil, err
		}
	}
	for i := range p.execs {
		if err := l.runLines(ctx, b, "x"+strconv.Itoa(i)); err != nil {
			return nil, err
		}
	}
	for i := range p.streams {
		l.follow(ctx, "s"+strconv.Itoa(i%p.sessions), p.lines)
	}
	back, err := b.disturb(ctx, p)
	if err != nil {
		return nil, err
	}
	if len(back) > 0 {
		r.RecoveryMS, r.WorstMS = median(back), maxOf(back)
	}
	for i := range p.sessions {
		if err := b.compare(ctx, "s"+strconv.Itoa(i), p.lines, r); err != nil {
			return nil, err
		}
	}
	l.end()
	r.Keys, r.KeysBad, r.Run, r.RunBad = l.keys.Load(), l.badKeys.Load(), l.lines.Load(), l.badLines.Load()
	r.FailedCalls, r.StreamsBad = l.brokenCalls.Load(), l.badStreams.Load()
	r.Failures = append(r.Failures, l.differences...)
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// disturb injects the planned faults in random order, and returns the recovery time of each kill in milliseconds.
func (b *sessionBench) disturb(ctx context.Context, p *crashPlan) (recovery []float64, err error) {
	var plan []func() error
	add := func(n int, f func() error) {
		for range n {
			plan = append(plan, f)
		}
	}
	add(p.kills, func() error {
		ms, err := b.killDaemon(ctx)
		recovery = append(recovery, ms)
		return err
	})
	add(p.stops, func() error { return b.stopDaemon(ctx) })
	add(p.startKills, func() error { return b.killStarting(ctx) })
	if p.upgrades > 0 {
		copies, err := b.copies()
		if err != nil {
			return nil, err
		}
		n := 0
		add(p.upgrades, func() error {
			n++
			_, err := runCombined(b.command(ctx, copies[n%len(copies)], "daemon", "upgrade"))
			return err
		})
	}
	rand.Shuffle(len(plan), func(i, j int) { plan[i], plan[j] = plan[j], plan[i] })
	for _, f := range plan {
		pause(ctx, time.Duration(rand.Int64N(int64(60*time.Millisecond))))
		if ctx.Err() != nil {
			return recovery, ctx.Err()
		}
		if err := f(); err != nil {
			return recovery, err
		}
	}
	return recovery, nil
}

// copies creates two more executables of this program, for upgrades in both directions.
func (b *sessionBench) copies() ([]string, error) {
	data, err := os.ReadFile(b.self)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range []string{"one", "two"} {
		dir := filepath.Join(b.dir, name)
		path := filepath.Join(dir, "longterm")
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, data, 0o700)); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func (b *sessionBench) status(ctx context.Context) (st api.Status, err error) {
	out, err := b.lt(ctx, "daemon", "status", "--json")
	for try := 0; err != nil && try < 200 && ctx.Err() == nil; try++ { // it starts
		pause(ctx, 20*time.Millisecond)
		out, err = b.lt(ctx, "daemon", "status", "--json")
	}
	if err == nil {
		err = json.Unmarshal([]byte(out), &st)
	}
	return st, err
}

// stopDaemon suspends the daemon briefly with SIGSTOP.
func (b *sessionBench) stopDaemon(ctx context.Context) error {
	st, err := b.status(ctx)
	if err != nil {
		return err
	}
	if err := syscall.Kill(st.DaemonPID, syscall.SIGSTOP); err != nil {
		return err
	}
	pause(ctx, time.Duration(rand.Int64N(int64(300*time.Millisecond))))
	return syscall.Kill(st.DaemonPID, syscall.SIGCONT)
}

// killStarting kills the daemon, and then its successor while that starts.
func (b *sessionBench) killStarting(ctx context.Context) error {
	st, err := b.status(ctx)
	if err != nil {
		return err
	}
	if err := syscall.Kill(st.DaemonPID, syscall.SIGKILL); err != nil {
		return err
	}
	for until := time.Now().Add(time.Second); time.Now().Before(until) && ctx.Err() == nil; {
		if pid := daemonOf(st.KeeperPID); pid > 0 && pid != st.DaemonPID {
			pause(ctx, time.Duration(rand.Int64N(int64(30*time.Millisecond))))
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be further than that
			break
		}
		pause(ctx, time.Millisecond)
	}
	_, err = b.lt(ctx, "ls")
	return err
}

// daemonOf returns the pid of the daemon that a keeper started, or 0.
func daemonOf(keeper int) int {
	children, _ := sys.Children(keeper) // no children if it exited
	for _, pid := range children {
		argv, _ := sys.Cmdline(pid)
		if i := slices.Index(argv, "daemon"); i >= 0 && i+1 < len(argv) && argv[i+1] == "serve" {
			return pid
		}
	}
	return 0
}

// killDaemon kills the daemon and returns the milliseconds until the next one answers.
func (b *sessionBench) killDaemon(ctx context.Context) (ms float64, err error) {
	st, err := b.status(ctx)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := syscall.Kill(st.DaemonPID, syscall.SIGKILL); err != nil {
		return 0, fmt.Errorf("kill daemon %d: %w", st.DaemonPID, err)
	}
	_, err = b.lt(ctx, "ls")
	return float64(time.Since(begin).Microseconds()) / 1000, err
}

// compare reads a session's whole history and compares it with what seq printed.
func (b *sessionBench) compare(ctx context.Context, name string, lines int, r *crashReport) error {
	if _, err := b.lt(ctx, "wait", name, "--for", "text="+strconv.Itoa(lines), "--since", "0", "--timeout", "10m"); err != nil {
		return err
	}
	cmd := b.command(ctx, b.self, "output", name, "--raw")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	sum := &countingHash{Hash: sha256.New()}
	cmd.Stdout = sum
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("output of %s: %w: %s", name, err, complaints.String())
	}
	r.Bytes += sum.n
	want, printed := floodSum(lines)
	gap := gapBytes(complaints.String())
	r.Gaps += gap
	switch {
	case bytes.Equal(sum.Sum(nil), want):
		r.Equal++
	case gap > 0 && sum.n+gap == printed:
		r.Failures = append(r.Failures, fmt.Sprintf("%s: history has gaps of %d bytes", name, gap))
	default:
		r.Failures = append(r.Failures, fmt.Sprintf("%s: %d bytes, printed were %d, %d bytes in gaps", name, sum.n, printed, gap))
	}
	return nil
}

// gapBytes sums the gaps that `output` reported.
func gapBytes(complaints string) uint64 {
	var sum uint64
	for line := range strings.SplitSeq(complaints, "\n") {
		var n, at uint64
		if _, err := fmt.Sscanf(line, "longterm: %d bytes from offset %d are lost", &n, &at); err == nil {
			sum += n
		}
	}
	return sum
}

// countingHash is a hash that also counts bytes.
type countingHash struct {
	hash.Hash
	n uint64
}

func (c *countingHash) Write(p []byte) (int, error) {
	c.n += uint64(len(p))
	return c.Hash.Write(p)
}

func maxOf(v []float64) float64 {
	m := 0.0
	for _, x := range v {
		m = max(m, x)
	}
	return m
}
