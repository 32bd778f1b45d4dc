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

// crashReport is what `bench crash` found.
type crashReport struct {
	Sessions int      `json:"sessions"`
	Lines    int      `json:"lines"`
	Kills    int      `json:"kills"`
	Bytes    uint64   `json:"bytes"`
	Gaps     uint64   `json:"gap_bytes"`
	Equal    int      `json:"equal"`
	BackMS   float64  `json:"back_ms"`
	WorstMS  float64  `json:"worst_ms"`
	Seconds  float64  `json:"seconds"`
	Failures []string `json:"failures"`

	Stops      int   `json:"stops"`
	StartKills int   `json:"start_kills"`
	Upgrades   int   `json:"upgrades"`
	Keys       int64 `json:"keys"`
	KeysBad    int64 `json:"keys_lost_or_doubled"`
	Run        int64 `json:"lines_run"`
	RunBad     int64 `json:"lines_lost_or_doubled"`
	Calls      int64 `json:"calls_failed"`
	Streams    int   `json:"streams"`
	StreamsBad int64 `json:"streams_that_differ"`
}

// bad says that something was lost, doubled or refused.
func (r *crashReport) bad() bool {
	return r.Equal < r.Sessions || r.KeysBad+r.RunBad+r.Calls+r.StreamsBad > 0
}

// crashPlan is what `bench crash` does to the daemon, under what.
type crashPlan struct {
	sessions, lines, typed, execs, streams int
	kills, stops, startKills, upgrades     int
}

func crashCommand(e *Program) *cobra.Command {
	var p crashPlan
	c := &cobra.Command{
		Use: "crash", Short: "Kill the daemon again and again under full output and compare every byte", Args: cobra.NoArgs,
		Long: `Have sessions print as fast as they can, type into others, have lines run and read along, in an instance of its
own; kill the daemon with SIGKILL at random instants, stop and continue it, kill it while it starts, upgrade it; and
compare what the histories hold with what was printed, and what programs got with what was typed and run. Exit
status 1 when a byte, a key or a line is lost or doubled.`,
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
					r.Sessions-r.Equal, r.KeysBad, r.RunBad, r.StreamsBad, r.Calls))
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
	f.IntVar(&p.streams, "streams", 5, "clients that read what a session prints as it comes")
	f.IntVar(&p.stops, "stops", 0, "times the daemon is stopped for a moment (SIGSTOP, SIGCONT)")
	f.IntVar(&p.startKills, "start-kills", 0, "times the daemon is killed while it starts")
	f.IntVar(&p.upgrades, "upgrades", 0, "times keeper and daemon are replaced by another copy of this program")
	return e.JSONFlag(c)
}

func writeCrash(w io.Writer, r *crashReport) {
	fmt.Fprintf(w, "%d kills under %d sessions, %d bytes in %.1f s: %d histories are equal, %d bytes in gaps\n",
		r.Kills, r.Sessions, r.Bytes, r.Seconds, r.Equal, r.Gaps)
	fmt.Fprintf(w, "the daemon answered again after %.0f ms (median), %.0f ms at worst\n", r.BackMS, r.WorstMS)
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "\tall\tlost or doubled\t")
	for _, row := range []struct {
		what     string
		all, bad int64
	}{
		{"histories", int64(r.Sessions), int64(r.Sessions - r.Equal)}, {"keys", r.Keys, r.KeysBad},
		{"lines", r.Run, r.RunBad}, {"calls", r.Keys + r.Run, r.Calls}, {"streams", int64(r.Streams), r.StreamsBad},
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
		if err := l.typed(ctx, b, "t"+strconv.Itoa(i)); err != nil {
			return nil, err
		}
	}
	for i := range p.execs {
		if err := l.lined(ctx, b, "x"+strconv.Itoa(i)); err != nil {
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
		r.BackMS, r.WorstMS = median(back), maxOf(back)
	}
	for i := range p.sessions {
		if err := b.compare(ctx, "s"+strconv.Itoa(i), p.lines, r); err != nil {
			return nil, err
		}
	}
	l.end()
	r.Keys, r.KeysBad, r.Run, r.RunBad = l.keys.Load(), l.badKeys.Load(), l.lines.Load(), l.badLines.Load()
	r.Calls, r.StreamsBad = l.brokenCalls.Load(), l.badStreams.Load()
	r.Failures = append(r.Failures, l.found...)
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// disturb does to the daemon what is planned, in a random order, and measures how long each
// kill was felt.
func (b *sessionBench) disturb(ctx context.Context, p *crashPlan) (back []float64, err error) {
	var plan []func() error
	add := func(n int, f func() error) {
		for range n {
			plan = append(plan, f)
		}
	}
	add(p.kills, func() error {
		ms, err := b.killDaemon(ctx)
		back = append(back, ms)
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
			_, err := combined(b.command(ctx, copies[n%len(copies)], "daemon", "upgrade"))
			return err
		})
	}
	rand.Shuffle(len(plan), func(i, j int) { plan[i], plan[j] = plan[j], plan[i] })
	for _, f := range plan {
		pause(ctx, time.Duration(rand.Int64N(int64(60*time.Millisecond))))
		if ctx.Err() != nil {
			return back, ctx.Err()
		}
		if err := f(); err != nil {
			return back, err
		}
	}
	return back, nil
}

// copies are two more executables of this program, to upgrade to and from.
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

// stopDaemon stops the daemon for a moment (SIGSTOP).
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

// killStarting kills it, and its successor while that starts.
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

// daemonOf is the daemon that a keeper started; 0: none is there.
func daemonOf(keeper int) int {
	children, _ := sys.Children(keeper) // gone: it has none
	for _, pid := range children {
		argv, _ := sys.Cmdline(pid)
		if i := slices.Index(argv, "daemon"); i >= 0 && i+1 < len(argv) && argv[i+1] == "serve" {
			return pid
		}
	}
	return 0
}

// killDaemon kills it and measures until it answers again.
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
	sum := &counter{Hash: sha256.New()}
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
		r.Failures = append(r.Failures, fmt.Sprintf("%s: %d bytes are gaps, as the history says", name, gap))
	default:
		r.Failures = append(r.Failures, fmt.Sprintf("%s: %d bytes, printed were %d, %d bytes in gaps", name, sum.n, printed, gap))
	}
	return nil
}

// gapBytes adds up what `output` complained of.
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

// counter is a hash that counts.
type counter struct {
	hash.Hash
	n uint64
}

func (c *counter) Write(p []byte) (int, error) {
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
