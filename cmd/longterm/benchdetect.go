//go:build unix

package main

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/vterm"
)

//go:embed corpus/detect.txt
var detectCorpus string

// situation is one row of the corpus: a line, and the truth about it.
type situation struct {
	name, line string
	shells     []string
	exit       *int          // nil: not to be known
	takes      time.Duration // to its end, or until it asks
	output     *regexp.Regexp
	input      string // kind; empty: it asks for nothing
	answer     string // keys
}

// detectReport is what `bench detect` found.
type detectReport struct {
	Runs        int      `json:"runs"`
	Situations  int      `json:"situations"`
	Shells      []string `json:"shells"`
	ExitRight   float64  `json:"exit_right_percent"`
	MomentRight float64  `json:"moment_right_percent"`
	OutputRight float64  `json:"output_right_percent"`
	OverheadMS  float64  `json:"overhead_median_ms"`
	OverheadP95 float64  `json:"overhead_p95_ms"`
	InputRight  float64  `json:"input_right_percent"`
	InputMS     float64  `json:"input_median_ms"`
	InputP95    float64  `json:"input_p95_ms"`
	FalseAlarms float64  `json:"false_alarms_percent"`
	Failures    []string `json:"failures"`
}

func benchDetect(a *app) *cobra.Command {
	var only string
	c := &cobra.Command{
		Use: "detect [FILE]", Short: "Run a corpus of commands in living shells and compare with the truth", Args: cobra.MaximumNArgs(1),
		Long: `Run a corpus of situations in bash, zsh, fish, dash and mksh, as far as they are installed, in an instance
of its own, and compare status, moment, output and requests for input with the truth. FILE is another
corpus of the same form (see cmd/longterm/corpus/detect.txt).`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text := detectCorpus
			if len(args) == 1 {
				b, err := os.ReadFile(args[0])
				if err != nil {
					return err
				}
				text = string(b)
			}
			list, err := parseCorpus(text)
			if err != nil {
				return err
			}
			list = slices.DeleteFunc(list, func(s situation) bool { return !strings.Contains(s.name, only) })
			b, err := newSessionBench(1, 0)
			if err != nil {
				return err
			}
			defer b.close()
			d, err := newDetection(b)
			if err != nil {
				return err
			}
			defer d.client.Close()
			r, err := d.run(cmd.Context(), list)
			if err != nil {
				return err
			}
			return a.print(r, func(w io.Writer) { writeDetect(w, r) })
		},
	}
	c.Flags().StringVar(&only, "only", "", "only situations whose name contains this")
	return a.jsonFlag(c)
}

func writeDetect(w io.Writer, r *detectReport) {
	fmt.Fprintf(w, "%d runs of %d situations in %s\n", r.Runs, r.Situations, strings.Join(r.Shells, ", "))
	fmt.Fprintf(w, "status right       %6.2f %%\n", r.ExitRight)
	fmt.Fprintf(w, "moment right       %6.2f %%   overhead %.1f ms (median), %.1f ms (95th percentile)\n", r.MomentRight, r.OverheadMS, r.OverheadP95)
	fmt.Fprintf(w, "output right       %6.2f %%\n", r.OutputRight)
	fmt.Fprintf(w, "input recognised   %6.2f %%   after %.1f ms (median), %.1f ms (95th percentile)\n", r.InputRight, r.InputMS, r.InputP95)
	fmt.Fprintf(w, "false alarms       %6.2f %%\n", r.FalseAlarms)
	for _, f := range r.Failures {
		fmt.Fprintln(w, printable(f))
	}
}

// parseCorpus reads a corpus; its form is explained in the file.
func parseCorpus(text string) ([]situation, error) {
	var list []situation
	sc := bufio.NewScanner(strings.NewReader(text))
	for n := 1; sc.Scan(); n++ {
		if line := sc.Text(); line != "" && !strings.HasPrefix(line, "#") {
			s, err := parseSituation(line)
			if err != nil {
				return nil, fmt.Errorf("corpus line %d: %w", n, err)
			}
			list = append(list, s)
		}
	}
	return list, sc.Err()
}

// parseSituation reads "name | shells | line | exit | takes | seen"; the line may have bars.
func parseSituation(text string) (situation, error) {
	if strings.HasSuffix(text, " |") {
		text += " "
	}
	f := strings.Split(text, " | ")
	n := len(f)
	if n < 6 {
		return situation{}, fmt.Errorf("%d columns, there should be 6", n)
	}
	s := situation{name: f[0], line: strings.ReplaceAll(strings.Join(f[2:n-3], " | "), "⏎", "\n")}
	switch f[1] {
	case "all":
		s.shells = []string{"bash", "zsh", "fish", "dash", "mksh"}
	case "posix":
		s.shells = []string{"bash", "zsh", "dash", "mksh"}
	default:
		s.shells = strings.Fields(f[1])
	}
	if f[n-3] != "?" {
		code, err := strconv.Atoi(f[n-3])
		if err != nil {
			return s, fmt.Errorf("exit %q", f[n-3])
		}
		s.exit = &code
	}
	ms, err := strconv.Atoi(f[n-2])
	if err != nil {
		return s, fmt.Errorf("time %q", f[n-2])
	}
	s.takes = time.Duration(ms) * time.Millisecond
	return s, s.seen(f[n-1])
}

// seen reads the last column.
func (s *situation) seen(text string) (err error) {
	if kind, ok := strings.CutPrefix(text, "input="); ok {
		parts := strings.SplitN(kind, " =>", 3)
		s.input = strings.TrimSpace(parts[0])
		text = ""
		if len(parts) > 1 {
			s.answer = strings.TrimSpace(parts[1])
		}
		if len(parts) > 2 {
			text = strings.TrimSpace(parts[2])
		}
	}
	if text = strings.TrimSpace(text); text != "" {
		s.output, err = regexp.Compile("(?m)" + text)
	}
	return err
}

// detection runs situations through the API, as a program would.
type detection struct {
	bench  *sessionBench
	client *client.Client
	report *detectReport
	tally  map[string]*ratio
	over   []float64 // overhead, ms
	asked  []float64 // input recognised after, ms
}

// ratio counts what was right.
type ratio struct{ right, all int }

func (r *ratio) percent() float64 {
	if r.all == 0 {
		return 100
	}
	return 100 * float64(r.right) / float64(r.all)
}

func newDetection(b *sessionBench) (*detection, error) {
	if _, err := b.lt(context.Background(), "daemon", "start"); err != nil {
		return nil, err
	}
	dir := filepath.Join(b.dir, "lt")
	dirs := paths.Dirs{Run: filepath.Join(dir, "run"), State: filepath.Join(dir, "state")}
	d := &detection{bench: b, report: &detectReport{Failures: []string{}}, tally: map[string]*ratio{}}
	for _, k := range []string{"exit", "moment", "output", "input", "alarm"} {
		d.tally[k] = &ratio{}
	}
	d.client = client.New(client.Options{Dirs: dirs, Build: version})
	return d, nil
}

func (d *detection) run(ctx context.Context, list []situation) (*detectReport, error) {
	r := d.report
	for _, sh := range []string{"bash", "zsh", "fish", "dash", "mksh"} {
		if _, err := exec.LookPath(sh); err != nil {
			continue
		}
		r.Shells = append(r.Shells, sh)
		for i := range list {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if slices.Contains(list[i].shells, sh) {
				if err := d.situation(ctx, sh, &list[i]); err != nil {
					return nil, fmt.Errorf("%s in %s: %w", list[i].name, sh, err)
				}
				r.Runs++
			}
		}
	}
	r.Situations = len(list)
	r.ExitRight, r.MomentRight, r.OutputRight = d.tally["exit"].percent(), d.tally["moment"].percent(), d.tally["output"].percent()
	r.InputRight, r.FalseAlarms = d.tally["input"].percent(), 100-d.tally["alarm"].percent()
	r.OverheadMS, r.InputMS = median(d.over), median(d.asked)
	if len(d.over) > 0 {
		r.OverheadP95 = percentile(d.over, 0.95)
	}
	if len(d.asked) > 0 {
		r.InputP95 = percentile(d.asked, 0.95)
	}
	return r, nil
}

// momentSlack is how late an end may be told on a machine that is busy, in tests that
// judge the moment; the overhead's median and percentile are told apart from it.
const momentSlack = 400 * time.Millisecond

// situation runs one line in a fresh shell.
func (d *detection) situation(ctx context.Context, sh string, s *situation) error {
	name := sh + "-" + s.name
	argv := []string{sh}
	if sh == "bash" {
		argv = []string{"bash", "--norc"}
	}
	info, err := d.client.NewSession(ctx, api.NewSession{Name: name, Argv: argv, Cwd: d.bench.dir, Env: append(d.bench.env, "HOME="+d.bench.dir)})
	if err != nil {
		return err
	}
	ses := d.client.Session(info.ID)
	defer func() { _ = ses.Remove(context.WithoutCancel(ctx), true) }()
	if _, err := ses.Wait(ctx, api.Wait{Conds: []api.Condition{{Kind: "prompt"}}, TimeoutMS: 20000}); err != nil {
		return err
	}
	begin := time.Now()
	r, err := ses.Exec(ctx, api.Exec{Line: s.line, Call: api.Call{TimeoutMS: wholeMS(20 * time.Second), OnInput: "return", OnTimeout: "kill", MaxOutput: 1 << 20}})
	took := time.Since(begin)
	if err != nil {
		d.fail(sh, s, "exec: %v", err)
		return nil
	}
	if s.input != "" {
		return d.judgeInput(ctx, sh, s, ses, &r, took)
	}
	d.count("alarm", r.State != "needs_input")
	if r.State == "needs_input" {
		d.fail(sh, s, "false alarm: %s", r.Needs)
	}
	d.judge(sh, s, &r, r.Output)
	late := took - s.takes
	d.over = append(d.over, float64(late.Microseconds())/1000)
	right := late > -30*time.Millisecond && (late < momentSlack || s.takes == 0)
	d.count("moment", right)
	if !right {
		d.fail(sh, s, "took %v, its own time is %v", took, s.takes)
	}
	return nil
}

// judge compares status and output.
func (d *detection) judge(sh string, s *situation, r *api.Result, output string) {
	right := s.exit == nil || r.ExitCode != nil && *r.ExitCode == *s.exit
	d.count("exit", right)
	if !right {
		got := "null"
		if r.ExitCode != nil {
			got = strconv.Itoa(*r.ExitCode)
		}
		d.fail(sh, s, "exit %s, should be %d (%s, %q)", got, *s.exit, r.State, shorten(output, 200))
	}
	if s.output != nil {
		right := s.output.MatchString(output)
		d.count("output", right)
		if !right {
			d.fail(sh, s, "output %q", shorten(output, 200))
		}
	}
}

// judgeInput compares the request for input, answers it and judges the end.
func (d *detection) judgeInput(ctx context.Context, sh string, s *situation, ses *client.Session, r *api.Result, took time.Duration) error {
	right := r.State == "needs_input" && r.Needs == s.input
	d.count("input", right)
	if !right {
		d.fail(sh, s, "input %q, should be %q (%s after %v, %q)", r.Needs, s.input, r.State, took, shorten(r.Output, 200))
		if r.State != "needs_input" {
			return nil
		}
	} else {
		d.asked = append(d.asked, float64((took-s.takes).Microseconds())/1000)
	}
	keys, err := vterm.ParseKeys(s.answer)
	if err != nil {
		return err
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.String())
	}
	if _, err := ses.Type(ctx, api.Input{Keys: names}); err != nil {
		return err
	}
	if strings.Contains(s.name, "ssh-like") { // it asks again
		return nil
	}
	w, err := ses.Wait(ctx, api.Wait{Conds: []api.Condition{{Kind: "prompt"}}, TimeoutMS: 10000})
	if err != nil {
		return err
	}
	if w.Outcome != "fired" {
		d.fail(sh, s, "no end after the answer (%s)", w.Outcome)
		return nil
	}
	c, err := ses.Command(ctx, 0)
	if err != nil {
		return err
	}
	o, err := ses.Output(ctx, c.Output.Start, 0)
	if err != nil {
		return err
	}
	if c.Output.End > 0 && o.Next > c.Output.End {
		o.Data = o.Data[:c.Output.End-o.From]
	}
	d.judge(sh, s, &api.Result{ExitCode: c.ExitCode, State: c.State}, plainText(o.Data))
	return nil
}

func (d *detection) count(what string, right bool) {
	d.tally[what].all++
	if right {
		d.tally[what].right++
	}
}

func (d *detection) fail(sh string, s *situation, format string, args ...any) {
	d.report.Failures = append(d.report.Failures, sh+" "+s.name+": "+fmt.Sprintf(format, args...))
}
