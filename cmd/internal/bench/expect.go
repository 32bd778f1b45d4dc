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
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
)

func expectCommand(e *Program) *cobra.Command {
	var b expectBench
	c := &cobra.Command{
		Use: "expect", Short: "Hold dialogues side by side with pexpect and expect", Args: cobra.NoArgs,
		Long: "Hold the same dialogues with programs in a terminal by longterm's Go library, by pexpect and by expect, in\n" +
			"turn, and print how long each takes, up to the program's exit status. Every run is checked: all expected text\n" +
			"arrives, and the exit status is right. By default pexpect pauses 50 ms before it sends; eager is pexpect without\n" +
			"that pause. Then each reads a stream up to a text at its end. Figures are medians; missing programs are skipped.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := b.run(cmd.Context())
			if err != nil {
				return err
			}
			return e.Print(report, report.write)
		},
	}
	f := c.Flags()
	f.IntVar(&b.runs, "runs", 5, "runs of each dialogue")
	f.Int64Var(&b.stream, "stream", 100_000_000, "bytes of the stream; 0: none")
	f.StringVar(&b.only, "only", "", "only dialogues whose name contains this")
	return e.JSONFlag(c)
}

// expectBench holds the options of `bench expect`.
type expectBench struct {
	runs   int
	stream int64 // size of the stream in bytes
	only   string
	dir    string
}

// contender is a program that can run dialogues, with its name.
type contender struct {
	name   string
	holder dialogueRunner
}

// rivalsReport is the result of `bench expect`.
type rivalsReport struct {
	Contenders []string         `json:"contenders"`
	Missing    []string         `json:"missing,omitempty"` // contenders that are not installed
	Runs       int              `json:"runs"`
	Dialogues  []dialogueReport `json:"dialogues"`
	Streams    []streamReport   `json:"streams,omitempty"`
}

// dialogueReport holds the results of one dialogue by contender.
type dialogueReport struct {
	Name    string             `json:"name"`
	MS      map[string]float64 `json:"ms"` // median
	Failed  map[string]int     `json:"failed,omitempty"`
	Wrong   map[string]string  `json:"wrong,omitempty"` // first failure of each contender
	Skipped string             `json:"skipped,omitempty"`
	// Ratio is longterm's time as a multiple of another's.
	Ratio map[string]float64 `json:"ratio,omitempty"`
}

// streamReport holds the throughput of reading a stream to its end, by contender.
type streamReport struct {
	Name    string             `json:"name"`
	Bytes   int64              `json:"bytes"`
	MBs     map[string]float64 `json:"mb_per_s"`
	PeakKiB map[string]int64   `json:"peak_kib"` // of the contender's memory
	Wrong   map[string]string  `json:"wrong,omitempty"`
}

const (
	nameLibrary = "longterm"
	namePexpect = "pexpect"
	nameEager   = "pexpect eager"
	nameExpect  = "expect"
)

func (b *expectBench) run(ctx context.Context) (r *rivalsReport, err error) {
	if b.runs < 1 {
		return nil, exit.Usagef("--runs must be at least 1")
	}
	if b.dir, err = os.MkdirTemp("", "longterm-expect-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	r = &rivalsReport{Runs: b.runs}
	all, err := b.contenders(ctx, r)
	defer func() {
		for _, c := range all {
			err = errors.Join(err, c.holder.close())
		}
	}()
	if err != nil {
		return nil, err
	}
	for _, d := range dialogues() {
		if !strings.Contains(d.name, b.only) {
			continue
		}
		rep, err := b.measure(ctx, &d, all)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		r.Dialogues = append(r.Dialogues, rep)
	}
	if b.stream > 0 {
		err = b.streams(ctx, r, all)
	}
	return r, err
}

// contenders returns the installed contenders.
func (b *expectBench) contenders(ctx context.Context, r *rivalsReport) (all []contender, err error) {
	for _, c := range []struct {
		name string
		make func() (dialogueRunner, error)
	}{
		{nameLibrary, func() (dialogueRunner, error) { return library{}, nil }},
		{namePexpect, func() (dialogueRunner, error) { return newPexpect(ctx, false, 0) }},
		{nameEager, func() (dialogueRunner, error) { return newPexpect(ctx, true, 0) }},
		{nameExpect, func() (dialogueRunner, error) { return newExpect(ctx) }},
	} {
		h, err := c.make()
		switch {
		case errors.Is(err, exec.ErrNotFound):
			r.Missing = append(r.Missing, err.Error())
			continue
		case err != nil:
			return all, err
		}
		all = append(all, contender{c.name, h})
		r.Contenders = append(r.Contenders, c.name)
	}
	return all, nil
}

// measure runs a dialogue with each contender in turn.
func (b *expectBench) measure(ctx context.Context, d *dialogue, all []contender) (dialogueReport, error) {
	rep := dialogueReport{Name: d.name, MS: map[string]float64{}, Failed: map[string]int{}, Wrong: map[string]string{}, Ratio: map[string]float64{}}
	for _, need := range d.needs {
		if _, err := exec.LookPath(need); err != nil {
			rep.Skipped = need + " is not installed"
			return rep, nil
		}
	}
	times := map[string][]float64{}
	for range b.runs {
		for _, c := range all {
			h, err := b.runDialogue(ctx, d, c.holder)
			if err != nil {
				return rep, fmt.Errorf("%s: %w", c.name, err)
			}
			if h.failure != "" {
				rep.Failed[c.name]++
				rep.Wrong[c.name] = h.failure
				continue
			}
			times[c.name] = append(times[c.name], h.seconds*1000)
		}
	}
	for name, ms := range times {
		rep.MS[name] = median(ms)
	}
	for _, c := range all[1:] {
		if rep.MS[c.name] > 0 && rep.MS[nameLibrary] > 0 {
			rep.Ratio[c.name] = rep.MS[nameLibrary] / rep.MS[c.name]
		}
	}
	return rep, nil
}

// runDialogue runs a dialogue in a new directory.
func (b *expectBench) runDialogue(ctx context.Context, d *dialogue, h dialogueRunner) (outcome, error) {
	dir, err := os.MkdirTemp(b.dir, "d")
	if err != nil {
		return outcome{}, err
	}
	if d.setup != nil {
		if err := d.setup(dir); err != nil {
			return outcome{}, err
		}
	}
	return h.runDialogue(ctx, d, dir)
}

// streams measures each contender reading a long stream up to a text at its end, each in a separate process, for its
// peak memory. pexpect gets a search window: without one it would search all earlier input for each piece.
func (b *expectBench) streams(ctx context.Context, r *rivalsReport, all []contender) error {
	path := filepath.Join(b.dir, "stream")
	if err := writeStream(path, b.stream); err != nil {
		return err
	}
	for _, s := range []struct {
		name string
		turn turn
	}{
		{"a text", expectText("the very last line of it all")},
		{"a regexp", turn{regexp: `the very (last|first) line of it [a-z]+`}},
	} {
		rep := streamReport{Name: s.name, Bytes: b.stream, MBs: map[string]float64{}, PeakKiB: map[string]int64{}, Wrong: map[string]string{}}
		d := &dialogue{argv: []string{"cat", path}, steps: []turn{s.turn}, limit: streamTimeout}
		speeds := map[string][]float64{}
		for range min(b.runs, 3) {
			if err := b.streamRound(ctx, d, all, &rep, speeds); err != nil {
				return err
			}
		}
		for name, v := range speeds {
			rep.MBs[name] = median(v)
		}
		r.Streams = append(r.Streams, rep)
	}
	return nil
}

// streamTimeout is the timeout for reading a stream.
const streamTimeout = 10 * time.Minute

// streamRound reads the stream once with each contender.
func (b *expectBench) streamRound(ctx context.Context, d *dialogue, all []contender, rep *streamReport, speeds map[string][]float64) error {
	for _, c := range all {
		if c.name == nameEager {
			continue // nothing is sent
		}
		o, err := b.streamOnce(ctx, c, d)
		switch {
		case err != nil:
			return fmt.Errorf("stream: %s: %w", c.name, err)
		case o.failure != "":
			rep.Wrong[c.name] = o.failure
		default:
			speeds[c.name] = append(speeds[c.name], float64(b.stream)/1e6/o.seconds)
			rep.PeakKiB[c.name] = max(rep.PeakKiB[c.name], o.rss)
		}
	}
	return nil
}

func (b *expectBench) streamOnce(ctx context.Context, c contender, d *dialogue) (h outcome, err error) {
	var own dialogueRunner = library{}
	switch c.name {
	case namePexpect:
		own, err = newPexpect(ctx, false, 4096)
	case nameExpect:
		own, err = newExpect(ctx)
	}
	if err != nil {
		return h, err
	}
	h, err = b.runDialogue(ctx, d, own)
	return h, errors.Join(err, own.close())
}

// writeStream writes a file of size bytes that ends with the text to find.
func writeStream(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	var b strings.Builder
	for i := 0; b.Len() < 64<<10; i++ {
		fmt.Fprintf(&b, "2026-01-02T03:04:05.678Z INFO  worker[%d]: processed batch of records without any trouble\n", i)
	}
	for left := size; left > 0 && err == nil; left -= int64(b.Len()) {
		_, err = io.WriteString(f, b.String()[:min(left, int64(b.Len()))])
	}
	if err == nil {
		_, err = io.WriteString(f, "\nthe very last line of it all\n")
	}
	return errors.Join(err, f.Close())
}

func (r *rivalsReport) write(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "ms\t%s\t", strings.Join(r.Contenders, "\t"))
	for _, name := range r.Contenders[1:] {
		fmt.Fprintf(tw, "/ %s\t", name)
	}
	fmt.Fprintln(tw)
	for _, d := range r.Dialogues {
		fmt.Fprintf(tw, "%s\t", d.Name)
		if d.Skipped != "" {
			fmt.Fprintf(tw, "%s\t\n", d.Skipped)
			continue
		}
		for _, name := range r.Contenders {
			fmt.Fprintf(tw, "%s\t", d.cell(name, r.Runs))
		}
		for _, name := range r.Contenders[1:] {
			fmt.Fprintf(tw, "%.2f\t", d.Ratio[name])
		}
		fmt.Fprintln(tw)
	}
	_ = tw.Flush()
	for _, s := range r.Streams {
		fmt.Fprintf(w, "%d bytes to %s at their end:", s.Bytes, s.Name)
		for _, name := range r.Contenders {
			switch {
			case s.MBs[name] > 0:
				fmt.Fprintf(w, " %s %.1f MB/s, peak %d MiB;", name, s.MBs[name], s.PeakKiB[name]>>10)
			case s.Wrong[name] != "":
				fmt.Fprintf(w, " %s failed: %s;", name, s.Wrong[name])
			}
		}
		fmt.Fprintln(w)
	}
	for _, m := range r.Missing {
		fmt.Fprintln(w, "left out:", m)
	}
}

// cell returns a contender's time, or its number of failures.
func (d *dialogueReport) cell(name string, runs int) string {
	failed := d.Failed[name]
	switch {
	case failed == runs:
		return "failed"
	case failed > 0:
		return fmt.Sprintf("%.1f (%d failed)", d.MS[name], failed)
	}
	return fmt.Sprintf("%.1f", d.MS[name])
}
