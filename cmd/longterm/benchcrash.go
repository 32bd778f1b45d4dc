//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
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
}

func benchCrash(a *app) *cobra.Command {
	var sessions, kills, lines int
	c := &cobra.Command{
		Use: "crash", Short: "Kill the daemon again and again under full output and compare every byte", Args: cobra.NoArgs,
		Long: `Have sessions print as fast as they can, in an instance of its own, kill the daemon with SIGKILL at random
instants, and compare what the histories hold with what was printed. Exit status 1 when a byte is lost or doubled.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if sessions < 1 || kills < 0 || lines < 1 {
				return usagef("--sessions and --lines must be positive, --kills not negative")
			}
			b, err := newSessionBench(1, 0)
			if err != nil {
				return err
			}
			defer b.close()
			r, err := b.crash(cmd.Context(), sessions, kills, lines)
			if err != nil {
				return err
			}
			if err := a.print(r, func(w io.Writer) { writeCrash(w, r) }); err != nil {
				return err
			}
			if r.Equal < r.Sessions {
				return &exitError{api.ExitFailure, fmt.Errorf("%d histories differ from what was printed", r.Sessions-r.Equal)}
			}
			return nil
		},
	}
	f := c.Flags()
	f.IntVar(&sessions, "sessions", 20, "sessions that print")
	f.IntVar(&kills, "kills", 200, "times the daemon is killed")
	f.IntVar(&lines, "lines", 1_000_000, "lines each session prints")
	return a.jsonFlag(c)
}

func writeCrash(w io.Writer, r *crashReport) {
	fmt.Fprintf(w, "%d kills under %d sessions, %d bytes in %.1f s: %d histories are equal, %d bytes in gaps\n",
		r.Kills, r.Sessions, r.Bytes, r.Seconds, r.Equal, r.Gaps)
	fmt.Fprintf(w, "the daemon answered again after %.0f ms (median), %.0f ms at worst\n", r.BackMS, r.WorstMS)
	for _, f := range r.Failures {
		fmt.Fprintln(w, f)
	}
}

func (b *sessionBench) crash(ctx context.Context, sessions, kills, lines int) (*crashReport, error) {
	r := &crashReport{Sessions: sessions, Lines: lines, Kills: kills, Failures: []string{}}
	began := time.Now()
	for i := range sessions {
		script := fmt.Sprintf("seq 1 %d; read x", lines)
		if _, err := b.lt(ctx, "new", "-n", "s"+strconv.Itoa(i), "--", "sh", "-c", script); err != nil {
			return nil, err
		}
	}
	var back []float64
	for range kills {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		<-time.After(time.Duration(rand.Int64N(int64(60 * time.Millisecond))))
		ms, err := b.killDaemon(ctx)
		if err != nil {
			return nil, err
		}
		back = append(back, ms)
	}
	r.BackMS, r.WorstMS = median(back), maxOf(back)
	for i := range sessions {
		if err := b.compare(ctx, "s"+strconv.Itoa(i), lines, r); err != nil {
			return nil, err
		}
	}
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// killDaemon kills it and measures until it answers again.
func (b *sessionBench) killDaemon(ctx context.Context) (ms float64, err error) {
	out, err := b.lt(ctx, "daemon", "status", "--json")
	if err != nil {
		return 0, err
	}
	var st api.Status
	if err := json.Unmarshal([]byte(out), &st); err != nil {
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
	want := &counter{Hash: sha256.New()}
	var line []byte
	for i := 1; i <= lines; i++ {
		line = append(strconv.AppendInt(line[:0], int64(i), 10), '\r', '\n')
		_, _ = want.Write(line)
	}
	gap := gapBytes(complaints.String())
	r.Gaps += gap
	switch {
	case bytes.Equal(sum.Sum(nil), want.Sum(nil)):
		r.Equal++
	case gap > 0 && sum.n+gap == want.n:
		r.Failures = append(r.Failures, fmt.Sprintf("%s: %d bytes are gaps, as the history says", name, gap))
	default:
		r.Failures = append(r.Failures, fmt.Sprintf("%s: %d bytes, printed were %d, %d bytes in gaps", name, sum.n, want.n, gap))
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
