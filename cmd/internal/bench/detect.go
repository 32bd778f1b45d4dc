//go:build unix

package bench

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/output"
)

// detectReport is the result of `bench detect`. Rates are percent, times milliseconds.
type detectReport struct {
	Runs        int          `json:"runs"`
	Situations  int          `json:"situations"`
	Shells      []string     `json:"shells"`
	Right       float64      `json:"right_percent"` // runs without any error
	ExitRight   float64      `json:"exit_right_percent"`
	MomentRight float64      `json:"moment_right_percent"` // ends that were reported at the right time
	OutputRight float64      `json:"output_right_percent"`
	OverheadMS  float64      `json:"overhead_median_ms"` // time added to a command's own run time: median, 95th percentile
	OverheadP95 float64      `json:"overhead_p95_ms"`
	InputRight  float64      `json:"input_right_percent"` // requests for input that were detected
	InputMS     float64      `json:"input_median_ms"`
	InputP95    float64      `json:"input_p95_ms"`
	FalseAlarms float64      `json:"false_alarms_percent"` // requests for input reported where none was
	Table       []detectCell `json:"table"`
	LeftOut     []string     `json:"left_out"` // programs that are not installed
	Failures    []string     `json:"failures"`
}

// detectCell is a cell of the table by category and shell.
type detectCell struct {
	Category string `json:"category"`
	Shell    string `json:"shell"`
	Runs     int    `json:"runs"`
	Right    int    `json:"right"`
	Alarms   int    `json:"false_alarms"`
}

// detectOptions choose among the situations.
type detectOptions struct {
	only, category string
	shells         []string
	short, agent   bool
	parallel       int
}

func detectCommand(e *Program) *cobra.Command {
	var o detectOptions
	c := &cobra.Command{
		Use: "detect [FILE]", Short: "Run a corpus of commands in live shells and check the results", Args: cobra.MaximumNArgs(1),
		Long: `Run a corpus of situations in the installed shells of bash, zsh, fish, dash, mksh and ksh, in a separate instance, and
compare status, time, output and prompts with the corpus. FILE is another corpus of the same form (see
cmd/internal/bench/corpus/detect.txt). Several sessions run at a time; to measure how soon a prompt is detected, use
--parallel 1 on an idle machine.

With --agent, run lines as coding agents write them (corpus/agent.toml there) in bash, zsh, fish and dash, without rules
and under the presets hard and build, with empty and full histories, and compare verdict, status, output and recorded
command. Categories are then rules and history, such as "hard, no history"; a short run has each line once in each
shell.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text := detectCorpus
			if o.agent {
				text = agentCorpus
			}
			if len(args) == 1 {
				b, err := os.ReadFile(args[0])
				if err != nil {
					return err
				}
				text = string(b)
			}
			if o.agent {
				return runAgentLines(cmd.Context(), e, text, &o)
			}
			list, err := parseCorpus(text)
			if err != nil {
				return err
			}
			return inInstance(e, func(d *detection) error {
				r, err := d.run(cmd.Context(), o.choose(list), &o)
				if err != nil {
					return err
				}
				return e.Print(r, func(w io.Writer) { writeDetect(w, r) })
			})
		},
	}
	c.Flags().BoolVar(&o.agent, "agent", false, "run the lines of coding agents instead")
	c.Flags().StringVar(&o.only, "only", "", "only situations whose name contains this")
	c.Flags().StringVar(&o.category, "category", "", "only situations of this category")
	c.Flags().StringSliceVar(&o.shells, "shell", nil, "only in these shells")
	c.Flags().BoolVar(&o.short, "short", false, "only the first situations of each category")
	c.Flags().IntVar(&o.parallel, "parallel", 4, "sessions at a time")
	return e.JSONFlag(c)
}

// shortRuns is the number of situations per category in a short run.
const shortRuns = 3

// choose returns the situations that the options select.
func (o *detectOptions) choose(list []situation) []situation {
	taken := map[string]int{}
	return slices.DeleteFunc(list, func(s situation) bool {
		if !strings.Contains(s.name, o.only) || o.category != "" && s.category != o.category {
			return true
		}
		if o.short {
			taken[s.category]++
			return taken[s.category] > shortRuns
		}
		return false
	})
}

func writeDetect(w io.Writer, r *detectReport) {
	fmt.Fprintf(w, "%d runs of %d situations in %s\n", r.Runs, r.Situations, strings.Join(r.Shells, ", "))
	fmt.Fprintf(w, "all right          %6.2f %%\n", r.Right)
	fmt.Fprintf(w, "status right       %6.2f %%\n", r.ExitRight)
	fmt.Fprintf(w, "moment right       %6.2f %%   overhead %.1f ms (median), %.1f ms (95th percentile)\n", r.MomentRight, r.OverheadMS, r.OverheadP95)
	fmt.Fprintf(w, "output right       %6.2f %%\n", r.OutputRight)
	fmt.Fprintf(w, "input recognised   %6.2f %%   after %.1f ms (median), %.1f ms (95th percentile)\n", r.InputRight, r.InputMS, r.InputP95)
	fmt.Fprintf(w, "false alarms       %6.2f %%\n", r.FalseAlarms)
	if len(r.LeftOut) > 0 {
		fmt.Fprintf(w, "not installed      %s\n", strings.Join(r.LeftOut, ", "))
	}
	r.writeTable(w)
	for _, f := range r.Failures {
		fmt.Fprintln(w, output.Printable(f))
	}
}

// writeTable writes how many runs were right, of how many, by category and shell.
func (r *detectReport) writeTable(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "\t%s\tfalse alarms\t\n", strings.Join(r.Shells, "\t"))
	var categories []string
	for _, c := range r.Table {
		if !slices.Contains(categories, c.Category) {
			categories = append(categories, c.Category)
		}
	}
	for _, name := range categories {
		fmt.Fprint(tw, name)
		alarms := 0
		for _, sh := range r.Shells {
			text := "-"
			if c := r.cell(name, sh); c.Runs > 0 {
				text = fmt.Sprintf("%d/%d", c.Right, c.Runs)
				alarms += c.Alarms
			}
			fmt.Fprintf(tw, "\t%s", text)
		}
		fmt.Fprintf(tw, "\t%d\t\n", alarms)
	}
	_ = tw.Flush()
}

// cell returns the counts for a category and shell.
func (r *detectReport) cell(category, sh string) detectCell {
	for _, c := range r.Table {
		if c.Category == category && c.Shell == sh {
			return c
		}
	}
	return detectCell{}
}

// sortTable puts the cells in the order of the corpus and of the shells.
func (r *detectReport) sortTable(list []situation) {
	order := map[string]int{}
	for i := range list {
		if _, ok := order[list[i].category]; !ok {
			order[list[i].category] = len(order)
		}
	}
	slices.SortStableFunc(r.Table, func(a, b detectCell) int {
		return cmp.Or(order[a.Category]-order[b.Category], slices.Index(r.Shells, a.Shell)-slices.Index(r.Shells, b.Shell))
	})
}
