//go:build unix

package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// figure is one measured quantity: the median over its runs, for longterm and, where
// it is installed, for tmux in the same run.
type figure struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	Runs     int     `json:"runs"`
	Longterm float64 `json:"longterm"`
	Tmux     float64 `json:"tmux,omitempty"`
	// Ratio is longterm's cost as a multiple of tmux's: below 1 is better, whatever
	// the unit.
	Ratio float64 `json:"ratio,omitempty"`
	Note  string  `json:"note,omitempty"`
}

func sessionsCommand(e *Program) *cobra.Command {
	var runs, idle int
	c := &cobra.Command{
		Use: "sessions", Short: "Measure sessions side by side with tmux", Args: cobra.NoArgs,
		Long: "Measure creation, screen, echo latency, attach, throughput and memory of sessions, in an instance of\n" +
			"its own, side by side with tmux where it is installed. Medians; compare ratios, not absolute times.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := newSessionBench(e, runs, idle)
			if err != nil {
				return err
			}
			defer b.close()
			figures, err := b.run(cmd.Context())
			if err != nil {
				return err
			}
			return e.Print(figures, func(w io.Writer) { writeFigures(w, figures) })
		},
	}
	c.Flags().IntVar(&runs, "runs", 30, "runs of each quick measurement")
	c.Flags().IntVar(&idle, "idle", 50, "idle sessions to measure memory with")
	return e.JSONFlag(c)
}

func writeFigures(w io.Writer, figures []figure) {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "\tlongterm\ttmux\tunit\tcost ratio\t")
	for _, f := range figures {
		tmux, ratio := "-", "-"
		if f.Tmux > 0 {
			tmux, ratio = fmt.Sprintf("%.2f", f.Tmux), fmt.Sprintf("%.2f", f.Ratio)
		}
		fmt.Fprintf(tw, "%s\t%.2f\t%s\t%s\t%s\t\n", f.Name, f.Longterm, tmux, f.Unit, ratio)
	}
	_ = tw.Flush()
}

// sessionBench is an instance of longterm, and one of tmux, made for measuring.
type sessionBench struct {
	program    *Program
	runs, idle int
	dir        string
	self       string
	tmux       string // empty: not installed
	env        []string
}

func newSessionBench(e *Program, runs, idle int) (*sessionBench, error) {
	dir, err := os.MkdirTemp("", "longterm-bench-")
	if err != nil {
		return nil, err
	}
	b := &sessionBench{program: e, runs: runs, idle: idle, dir: dir}
	if b.self, err = os.Executable(); err != nil {
		return nil, err
	}
	b.tmux, _ = exec.LookPath("tmux")
	for _, kv := range os.Environ() {
		if !slices.ContainsFunc([]string{"TMUX=", "TMUX_PANE=", "LONGTERM_SESSION=", "SHELL="}, func(p string) bool {
			return len(kv) >= len(p) && kv[:len(p)] == p
		}) {
			b.env = append(b.env, kv)
		}
	}
	b.env = append(b.env, "LONGTERM_DIR="+filepath.Join(dir, "lt"), "HOME="+dir, "SHELL=/bin/sh", "TERM=xterm-256color")
	return b, nil
}

func (b *sessionBench) close() {
	if _, err := b.lt(context.Background(), "daemon", "stop", "--kill-sessions"); err != nil {
		fmt.Fprintf(os.Stderr, "longterm: the bench's daemon was not ended (%v); its files stay in %s\n", err, b.dir)
		return
	}
	if b.tmux != "" {
		_, _ = b.mux(context.Background(), "kill-server")
	}
	_ = os.RemoveAll(b.dir)
}

func (b *sessionBench) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = b.env
	cmd.Dir = "/"
	return cmd
}

// lt and mux run one command of each program.
func (b *sessionBench) lt(ctx context.Context, args ...string) (string, error) {
	return combined(b.command(ctx, b.self, args...))
}

func (b *sessionBench) mux(ctx context.Context, args ...string) (string, error) {
	return combined(b.command(ctx, b.tmux, append([]string{"-S", filepath.Join(b.dir, "tmux.sock"), "-f", "/dev/null"}, args...)...))
}

func combined(cmd *exec.Cmd) (string, error) {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", cmd, err, out)
	}
	return string(out), nil
}

func (b *sessionBench) run(ctx context.Context) ([]figure, error) {
	if _, err := b.lt(ctx, "new", "-n", "first", "--", "sleep", "100000"); err != nil {
		return nil, err
	}
	if b.tmux != "" {
		if _, err := b.mux(ctx, "new-session", "-d", "-s", "first", "-x", "80", "-y", "24", "sleep 100000"); err != nil {
			return nil, err
		}
	}
	var figures []figure
	// Memory first: what floods leave behind in the heaps would be reused by idle sessions.
	for _, m := range []func(context.Context) ([]figure, error){
		b.memory, one(b.startup), one(b.creation), one(b.screen), one(b.listing), one(b.attachTime), b.echo, one(b.throughput),
	} {
		f, err := m(ctx)
		if err != nil {
			return figures, err
		}
		figures = append(figures, f...)
	}
	return figures, nil
}

func one(m func(context.Context) (figure, error)) func(context.Context) ([]figure, error) {
	return func(ctx context.Context) ([]figure, error) {
		f, err := m(ctx)
		return []figure{f}, err
	}
}

// pairwise times f and g in turn and fills in medians and the median of the ratios, in
// milliseconds.
func (b *sessionBench) pairwise(name string, f, g func(i int) error) (figure, error) {
	fig := figure{Name: name, Unit: "ms", Runs: b.runs}
	var fs, gs, ratios []float64
	for i := range b.runs {
		ft, err := timed(i, f)
		if err != nil {
			return fig, err
		}
		fs = append(fs, ft)
		if g == nil || b.tmux == "" {
			continue
		}
		gt, err := timed(i, g)
		if err != nil {
			return fig, err
		}
		gs, ratios = append(gs, gt), append(ratios, ft/gt)
	}
	fig.Longterm, fig.Tmux, fig.Ratio = median(fs), median(gs), median(ratios)
	return fig, nil
}

func timed(i int, f func(int) error) (float64, error) {
	begin := time.Now()
	err := f(i)
	return float64(time.Since(begin).Microseconds()) / 1000, err
}

func percentile(v []float64, p float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[min(len(v)-1, int(float64(len(v))*p))]
}
