package bench

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/payload"
)

func emulatorCommand(e *Program) *cobra.Command {
	b := emulatorBench{}
	c := &cobra.Command{
		Use: "emulator [FILE…]", Short: "Measure how fast the terminal emulators read",
		Long: "Write the same output to the terminal emulators, in turn, and print how much each reads in a second, in\n" +
			"one thread, on a screen of 80×24 with its history. Medians. The ratio is the first engine's speed as a\n" +
			"multiple of the second's; at the end, the geometric mean of the ratios. Each FILE is measured as well.",
		RunE: func(_ *cobra.Command, files []string) error {
			report, err := b.run(files)
			if err != nil {
				return err
			}
			return e.Print(report, report.write)
		},
	}
	f := c.Flags()
	f.StringSliceVar(&b.engines, "engine", []string{"native", "vt10x"}, "engines to measure: "+strings.Join(session.EngineNames(), ", "))
	f.IntVar(&b.bytes, "bytes", 1<<20, "size of each payload")
	f.IntVar(&b.rounds, "rounds", 25, "rounds to take the median of")
	return e.JSONFlag(c)
}

// emulatorBench holds the options of `bench emulator`.
type emulatorBench struct {
	engines       []string
	bytes, rounds int
}

// emulatorReport is what `bench emulator` prints.
type emulatorReport struct {
	Engines  []string       `json:"engines"`
	Rounds   int            `json:"rounds"`
	Payloads []payloadSpeed `json:"payloads"`
	// Ratio is the geometric mean of the payloads' ratios; 0 with other than two engines.
	Ratio float64 `json:"ratio_geomean,omitempty"`
}

// payloadSpeed is the result of one payload.
type payloadSpeed struct {
	Name  string             `json:"name"`
	About string             `json:"about,omitempty"` // description of the payload
	Bytes int                `json:"bytes"`
	Speed map[string]float64 `json:"mb_per_s"` // 10⁶ bytes a second, by engine
	// Ratio is the first engine's speed as a multiple of the second's.
	Ratio float64 `json:"ratio,omitempty"`
}

func (b *emulatorBench) run(files []string) (*emulatorReport, error) {
	if b.bytes < 1 || b.rounds < 1 {
		return nil, exit.Usagef("--bytes and --rounds must be at least 1")
	}
	for i, name := range b.engines {
		if slices.Contains(b.engines[:i], name) {
			return nil, exit.Usagef("--engine names %s twice", name)
		}
	}
	report := &emulatorReport{Engines: b.engines, Rounds: b.rounds}
	add := func(name, about string, data []byte) error {
		s, err := b.measure(name, data)
		s.About = about
		report.Payloads = append(report.Payloads, s)
		return err
	}
	contents := make([][]byte, len(files)) // read before measuring, to report errors at once
	for i, file := range files {
		var err error
		if contents[i], err = os.ReadFile(file); err != nil {
			return nil, err
		}
		if len(contents[i]) == 0 {
			return nil, exit.Usagef("%s: empty file", file)
		}
	}
	for _, p := range payload.All {
		if err := add(p.Name, p.About, p.Generate(b.bytes)); err != nil {
			return nil, err
		}
	}
	for i, file := range files {
		if err := add(filepath.Base(file), "", contents[i]); err != nil {
			return nil, err
		}
	}
	report.Ratio = meanRatio(report.Payloads)
	return report, nil
}

// meanRatio returns the geometric mean, 0 without ratios.
func meanRatio(speeds []payloadSpeed) float64 {
	sum := 0.0
	for _, s := range speeds {
		sum += math.Log(s.Ratio)
	}
	return math.Exp(sum / float64(len(speeds)))
}

// measure runs every engine on data in each round, in turn and for the same time, so that other load on the machine
// affects all alike.
func (b *emulatorBench) measure(name string, data []byte) (payloadSpeed, error) {
	s := payloadSpeed{Name: name, Bytes: len(data), Speed: map[string]float64{}}
	readers := make([]engineReader, len(b.engines))
	for i, name := range b.engines {
		e, err := session.NewEngine(name, vterm.Options{Cols: 80, Rows: 24})
		if err != nil {
			return s, exit.Usage(err)
		}
		readers[i] = engineReader{engine: e, data: data}
		for first := true; first || len(readers[i].rest) > 0; first = false {
			readers[i].writePiece() // all of it, so that caches and tables are full
		}
	}
	speeds := make([][]float64, len(readers))
	for range b.rounds {
		for i := range readers {
			speeds[i] = append(speeds[i], readers[i].measureRound())
		}
	}
	for i, name := range b.engines {
		s.Speed[name] = median(speeds[i])
	}
	if len(readers) == 2 {
		s.Ratio = median(speeds[0]) / median(speeds[1])
	}
	return s, nil
}

// engineReader writes data to an engine over and over.
type engineReader struct {
	engine     vterm.Engine
	data, rest []byte // data and its part not written yet
	events     []vterm.Event
	replies    []byte
}

// writePiece writes one piece, as large as a session's, to the engine, discards its effects and returns the piece's size.
func (r *engineReader) writePiece() int {
	if len(r.rest) == 0 {
		r.rest = r.data
	}
	n := min(len(r.rest), 64<<10)
	_, _ = r.engine.Write(r.rest[:n]) // never fails
	r.rest = r.rest[n:]
	r.events = r.engine.Events(r.events[:0]) // as a session does
	r.replies = r.engine.Replies(r.replies[:0])
	return n
}

// roundTime is how long a round takes, which is long compared with the clock's resolution.
const roundTime = 20 * time.Millisecond

// measureRound returns the throughput of one round, in 10⁶ bytes a second.
func (r *engineReader) measureRound() float64 {
	begin := time.Now()
	n := r.writePiece()
	for time.Since(begin) < roundTime {
		n += r.writePiece()
	}
	return float64(n) / time.Since(begin).Seconds() / 1e6
}

func (r *emulatorReport) write(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "MB/s\t%s\t", strings.Join(r.Engines, "\t"))
	if r.Ratio > 0 {
		fmt.Fprint(tw, "ratio\t")
	}
	fmt.Fprintln(tw)
	for _, p := range r.Payloads {
		fmt.Fprintf(tw, "%s\t", p.Name)
		for _, e := range r.Engines {
			fmt.Fprintf(tw, "%.1f\t", p.Speed[e])
		}
		if r.Ratio > 0 {
			fmt.Fprintf(tw, "%.1f\t", p.Ratio)
		}
		fmt.Fprintln(tw)
	}
	if r.Ratio > 0 {
		fmt.Fprintf(tw, "geometric mean%s\t%.1f\t\n", strings.Repeat("\t", len(r.Engines)), r.Ratio)
	}
	_ = tw.Flush()
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
