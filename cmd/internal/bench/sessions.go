//go:build unix

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
)

// figure is one measured quantity: the median over its runs, for longterm and, where
// they are installed, for tmux and others in the same run.
type figure struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	Runs     int     `json:"runs"`
	Longterm float64 `json:"longterm"`
	Tmux     float64 `json:"tmux,omitempty"`
	// Ratio is longterm's cost as a multiple of tmux's: below 1 is better, in any unit.
	Ratio  float64 `json:"ratio,omitempty"`
	Others []other `json:"others,omitempty"` // the same quantity of other multiplexers
	Note   string  `json:"note,omitempty"`
}

// other is the measured value of another multiplexer.
type other struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Ratio float64 `json:"ratio"` // longterm's cost divided by this program's
}

// addOther records another multiplexer's value.
func (f *figure) addOther(name string, value, ratio float64) {
	if name == "tmux" {
		f.Tmux, f.Ratio = value, ratio
	} else {
		f.Others = append(f.Others, other{name, value, ratio})
	}
}

func sessionsCommand(e *Program) *cobra.Command {
	var runs, idle int
	c := &cobra.Command{
		Use: "sessions", Short: "Measure sessions, compared with tmux and screen", Args: cobra.NoArgs,
		Long: "Measure creation, screen, echo latency, attach, throughput and memory of sessions in a separate instance,\n" +
			"compared with tmux and GNU screen if they are installed. Results are medians; compare ratios, not absolute\n" +
			"times. If interrupted, the finished measurements are printed.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if runs < 1 || idle < 1 {
				return exit.Usagef("--runs and --idle must be at least 1")
			}
			b, err := newSessionBench(e, runs, idle)
			if err != nil {
				return err
			}
			defer b.close()
			figures, err := b.run(cmd.Context())
			if len(figures) > 0 { // minutes may have gone by until it failed or was ended
				err = errors.Join(err, e.Print(figures, func(w io.Writer) { writeFigures(w, figures) }))
			}
			return err
		},
	}
	c.Flags().IntVar(&runs, "runs", 30, "runs of each quick measurement")
	c.Flags().IntVar(&idle, "idle", 50, "idle sessions to measure memory with")
	return e.JSONFlag(c)
}

// writeFigures prints a row for each figure, and two columns for each program that it is compared with.
func writeFigures(w io.Writer, figures []figure) {
	var others []string
	for _, f := range figures {
		for _, o := range f.Others {
			if !slices.Contains(others, o.Name) {
				others = append(others, o.Name)
			}
		}
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "\tlongterm\ttmux\tunit\tcost ratio\t")
	for _, name := range others {
		fmt.Fprintf(tw, "%s\tcost ratio\t", name)
	}
	fmt.Fprintln(tw)
	for _, f := range figures {
		tmux := other{Value: f.Tmux, Ratio: f.Ratio}
		value, ratio := tmux.words()
		fmt.Fprintf(tw, "%s\t%.2f\t%s\t%s\t%s\t", f.Name, f.Longterm, value, f.Unit, ratio)
		for _, name := range others {
			var of other
			if i := slices.IndexFunc(f.Others, func(o other) bool { return o.Name == name }); i >= 0 {
				of = f.Others[i]
			}
			value, ratio := of.words()
			fmt.Fprintf(tw, "%s\t%s\t", value, ratio)
		}
		fmt.Fprintln(tw)
	}
	_ = tw.Flush()
}

// words returns value and ratio as text.
func (o other) words() (value, ratio string) {
	if o.Value == 0 {
		return "-", "-"
	}
	return fmt.Sprintf("%.2f", o.Value), fmt.Sprintf("%.2f", o.Ratio)
}

// sessionBench is an instance of longterm, and one of each other multiplexer, created for measuring.
type sessionBench struct {
	program    *Program
	runs, idle int // measured rounds; idle sessions
	dir        string
	self       string
	env        []string
	others     []multiplexer
}

func newSessionBench(e *Program, runs, idle int) (*sessionBench, error) {
	dir, err := os.MkdirTemp("", "longterm-bench-")
	if err != nil {
		return nil, err
	}
	b := &sessionBench{program: e, runs: runs, idle: idle, dir: dir}
	if b.self, err = e.Path(); err != nil {
		return nil, err
	}
	for _, kv := range os.Environ() {
		if !slices.ContainsFunc([]string{"TMUX=", "TMUX_PANE=", "LONGTERM_SESSION=", "SHELL="}, func(p string) bool {
			return len(kv) >= len(p) && kv[:len(p)] == p
		}) {
			b.env = append(b.env, kv)
		}
	}
	b.env = append(b.env, "LONGTERM_DIR="+filepath.Join(dir, "lt"), "HOME="+dir, "SHELL=/bin/sh", "TERM=xterm-256color")
	b.others = b.multiplexers()
	return b, nil
}

func (b *sessionBench) close() {
	if _, err := b.lt(context.Background(), "daemon", "stop", "--kill-sessions"); err != nil {
		fmt.Fprintf(os.Stderr, "longterm: the bench's daemon was not ended (%v); its files stay in %s\n", err, b.dir)
	} else {
		defer func() { _ = os.RemoveAll(b.dir) }()
	}
	for _, o := range b.others {
		o.close()
	}
}

func (b *sessionBench) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = b.env
	cmd.Dir = "/"
	return cmd
}

// lt runs a command of longterm and returns its output.
func (b *sessionBench) lt(ctx context.Context, args ...string) (string, error) {
	return runCombined(b.command(ctx, b.self, args...))
}

// output runs a command of another program and returns its output.
func (b *sessionBench) output(ctx context.Context, argv []string) (string, error) {
	return runCombined(b.command(ctx, argv[0], argv[1:]...))
}

// runCombined runs a command to its end. Signals to this process group, from a closed terminal or a runner that stops, do
// not reach it: the cleanup must continue.
func runCombined(cmd *exec.Cmd) (string, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
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
	for _, o := range b.others {
		if err := o.create(ctx, "first", "sleep 100000"); err != nil {
			return nil, err
		}
	}
	var figures []figure
	// Memory first: idle sessions would reuse heap memory that floods have left.
	for _, m := range []struct {
		what string
		do   func(context.Context) ([]figure, error)
	}{
		{fmt.Sprintf("memory with %d idle sessions", b.idle), b.memory}, {"how long a command takes that does nothing", singleFigure(b.startup)},
		{"making sessions", singleFigure(b.creation)}, {"screens", singleFigure(b.screen)}, {"lists", singleFigure(b.listing)}, {"attaching", singleFigure(b.attachTime)},
		{"the echo of keys", b.echo}, {"throughput", singleFigure(b.throughput)},
	} {
		b.printProgress(m.what)
		f, err := m.do(ctx)
		if err != nil {
			return figures, errors.Join(err, ctx.Err())
		}
		figures = append(figures, f...)
	}
	return figures, nil
}

// printProgress prints to a terminal what is being measured: the whole bench takes minutes.
func (b *sessionBench) printProgress(what string) {
	if termio.IsTerminal(b.program.Stderr) {
		fmt.Fprintf(b.program.Stderr, "longterm: measuring %s\n", what)
	}
}

// singleFigure converts a measurement of one figure into one that returns a list.
func singleFigure(m func(context.Context) (figure, error)) func(context.Context) ([]figure, error) {
	return func(ctx context.Context) ([]figure, error) {
		f, err := m(ctx)
		return []figure{f}, err
	}
}

// pairwise times f and the same operation of each other multiplexer in turn. It fills in the medians, and the median of
// the ratios, in milliseconds.
func (b *sessionBench) pairwise(name string, f func(i int) error, same func(o multiplexer, i int) error) (figure, error) {
	fig := figure{Name: name, Unit: "ms", Runs: b.runs}
	var ours []float64
	theirs, ratios := make([][]float64, len(b.others)), make([][]float64, len(b.others))
	for i := range b.runs {
		t, err := timeOne(i, f)
		if err != nil {
			return fig, err
		}
		ours = append(ours, t)
		for k, o := range b.others {
			ot, err := timeOne(i, func(i int) error { return same(o, i) })
			if err != nil {
				return fig, err
			}
			theirs[k], ratios[k] = append(theirs[k], ot), append(ratios[k], t/ot)
		}
	}
	fig.Longterm = median(ours)
	for k, o := range b.others {
		fig.addOther(o.name(), median(theirs[k]), median(ratios[k]))
	}
	return fig, nil
}

// timeOne returns the milliseconds that f takes.
func timeOne(i int, f func(int) error) (float64, error) {
	begin := time.Now()
	err := f(i)
	return float64(time.Since(begin).Microseconds()) / 1000, err
}

func percentile(v []float64, p float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[min(len(v)-1, int(float64(len(v))*p))]
}
