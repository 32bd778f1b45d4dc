//go:build unix

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// agentReport is the result of `bench agent`.
type agentReport struct {
	Schema int         `json:"schema_tokens"` // tokens of the tool list, which a conversation contains once
	Tasks  []agentTask `json:"tasks"`
	Sums   []agentSum  `json:"sums"`
}

// agentTask is a task with its result for each way of running it.
type agentTask struct {
	Name   string        `json:"task"`
	Events int           `json:"events"` // events that the agent must notice
	Ways   []agentResult `json:"ways"`
}

// agentResult is the result of one task done in one way.
type agentResult struct {
	Way          string  `json:"way"`
	Calls        int     `json:"calls"`
	Tokens       int     `json:"tokens"`       // bytes of requests and answers, divided by four
	RequestBytes int     `json:"asked_tokens"` // bytes of the agent's requests
	Seconds      float64 `json:"seconds"`
	// MedianDelay is the median delay in milliseconds between an event and the agent's notice of it; -1: no event was measured.
	MedianDelay float64 `json:"told_ms_median"`
	MaxDelay    float64 `json:"told_ms_max"`     // longest such delay
	Failure     string  `json:"wrong,omitempty"` // why the task failed; "" if it was done
}

// agentSum sums the tasks that were completed both in this way and over longterm.
type agentSum struct {
	Way         string  `json:"way"`
	Done        int     `json:"tasks_done"`
	Events      int     `json:"events"`
	Calls       int     `json:"calls"`
	PerEvent    float64 `json:"calls_per_event"` // tokens per event
	Tokens      int     `json:"tokens"`
	Longterm    int     `json:"longterm_tokens"` // tokens of longterm for the same tasks
	Fraction    float64 `json:"fraction"`        // longterm's tokens divided by this way's
	MaxDelay    float64 `json:"told_ms_max"`
	SlowestTask string  `json:"told_ms_max_task,omitempty"` // task with the longest delay
}

// step is one action of an agent, and the event that it must then notice.
type step struct {
	terminal string   // name of the terminal to act on
	run      string   // action: run this line in a shell,
	typed    string   // or type this text and Enter into the program,
	keys     []string // or press these keys
	// until is the event to notice: "end" of the line, "text" in the output, or "input" that the program needs; ""
	// leaves the line in the background.
	until       string
	want        string // regular expression that the agent's view must match at the end
	find        string // regular expression to search for in the output if the event did not show want
	stamp       string // file with the actual time of the event; "" if unknown
	fault       string // fault during the step: "crash" of the server, "restart" of the agent; or the name of a file to write
	interactive bool   // the line starts an interactive program instead of a command that ends
}

// agentDriver is a method by which an agent runs programs: longterm, tmux or a background shell.
type agentDriver interface {
	name() string
	// do performs a step and returns once the agent has noticed its event, with all text that the agent was shown.
	do(ctx context.Context, s *step) (shown string, err error)
	crash(ctx context.Context) error
	restart(ctx context.Context) error
	usage() (calls, asked, bytes int) // number of calls, bytes of requests, and bytes of requests and answers
	close()
}

// errUnsupported reports that a way does not support a step.
var errUnsupported = errors.New("it cannot: the program wants a terminal")

// agentStepTimeout is the timeout of a step.
const agentStepTimeout = 3 * time.Minute

func agentCommand(e *Program) *cobra.Command {
	o := agentOptions{poll: 5 * time.Second, silent: 50 * time.Second}
	c := &cobra.Command{
		Use: "agent", Short: "Measure calls, tokens and delays of an agent over longterm, tmux and a background shell", Args: cobra.NoArgs,
		Long: `Do twelve tasks as an agent does them: by calls of the MCP server; by tmux, with send-keys and capture-pane of a pane
that is cleared before each line (tmux), or with 200 lines above it, as agents are instructed (tmux-history); and by a
shell tool that runs commands in the background and returns new output. All but the first poll a second after each step
and then every --poll, as agents without notifications do. The report counts calls, tokens (bytes of requests and
answers, divided by four; the longer one of longterm's two forms of an answer) and the delay until the agent learned of
each event. Approvals are off during the run (policy.agents = off).`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := benchAgent(cmd.Context(), e, &o)
			if err != nil {
				return err
			}
			return e.Print(r, func(w io.Writer) { writeAgent(w, r) })
		},
	}
	f := c.Flags()
	f.DurationVar(&o.poll, "poll", o.poll, "poll interval of agents without notifications")
	f.DurationVar(&o.silent, "silent", o.silent, "how long the silent job takes")
	f.StringSliceVar(&o.only, "task", nil, "only these tasks")
	f.StringSliceVar(&o.ways, "way", nil, "only these ways: longterm, tmux, tmux-history, shell")
	return e.JSONFlag(c)
}

// agentOptions are the flags of `bench agent`.
type agentOptions struct {
	poll, silent time.Duration
	only, ways   []string
}

// benchAgent runs the tasks in each way and returns the report.
func benchAgent(ctx context.Context, e *Program, o *agentOptions) (*agentReport, error) {
	b, err := newSessionBench(e, 0, 0)
	if err != nil {
		return nil, err
	}
	defer b.close()
	if err := writeAgentFiles(b.dir); err != nil {
		return nil, err
	}
	// Answers are measured, without approvals by users.
	if _, err := b.lt(ctx, "config", "set", "policy.agents", "off"); err != nil {
		return nil, err
	}
	r := &agentReport{Tasks: []agentTask{}, Sums: []agentSum{}}
	for _, t := range agentTasks(ctx, o) {
		if len(o.only) > 0 && !slices.Contains(o.only, t.name) {
			continue
		}
		row := agentTask{Name: t.name}
		for i := range t.steps {
			if t.steps[i].until != "" {
				row.Events++
			}
		}
		for _, begin := range []func(context.Context, *agentBench) (agentDriver, error){newLongtermDriver, newTmuxDriver, newTmuxHistoryDriver, newShellDriver} {
			dir := filepath.Join(b.dir, fmt.Sprintf("%s-%d", t.name, len(row.Ways)))
			w, err := begin(ctx, &agentBench{b, dir, o, r})
			if err != nil {
				return nil, err
			}
			if w == nil || len(o.ways) > 0 && !slices.Contains(o.ways, w.name()) {
				continue
			}
			res, err := doTask(ctx, w, &t, dir)
			w.close()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t.name, err)
			}
			row.Ways = append(row.Ways, res)
		}
		r.Tasks = append(r.Tasks, row)
	}
	r.sum()
	return r, nil
}

// agentBench is the environment in which a way runs a task.
type agentBench struct {
	*sessionBench
	dir     string // directory of the task
	options *agentOptions
	report  *agentReport
}

// doTask does a task in a way.
func doTask(ctx context.Context, w agentDriver, t *agentWork, dir string) (agentResult, error) {
	res := agentResult{Way: w.name(), MedianDelay: -1, MaxDelay: -1}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return res, err
	}
	if t.before != nil {
		if err := t.before(ctx, dir); err != nil {
			return res, err
		}
	}
	var told []float64
	began := time.Now()
	for i := range t.steps {
		ms, err := doStep(ctx, w, &t.steps[i], dir)
		if ctx.Err() != nil {
			return res, ctx.Err()
		}
		if err != nil {
			res.Failure = fmt.Sprintf("step %d: %v", i+1, err)
			break
		}
		if ms >= 0 {
			told = append(told, ms)
		}
	}
	calls, asked, bytes := w.usage()
	res.Calls, res.RequestBytes, res.Tokens, res.Seconds = calls, asked/4, bytes/4, time.Since(began).Seconds()
	if len(told) > 0 {
		res.MedianDelay, res.MaxDelay = median(told), slices.Max(told)
	}
	return res, nil
}

// doStep runs a step and returns how long after the true event the agent learned of it, -1 if unknown.
func doStep(ctx context.Context, w agentDriver, s *step, dir string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, agentStepTimeout)
	defer cancel()
	meanwhile := make(chan error, 1)
	go func() { meanwhile <- injectFault(ctx, w, s, dir) }()
	shown, err := w.do(ctx, s)
	told := time.Now()
	if failed := <-meanwhile; err == nil {
		err = failed
	}
	switch {
	case err != nil:
		return -1, err
	case s.want != "" && !regexp.MustCompile(s.want).MatchString(shown):
		return -1, fmt.Errorf("the agent was not shown %q", s.want)
	case s.stamp == "":
		return -1, nil
	}
	at, err := stampOf(filepath.Join(dir, s.stamp))
	if err != nil {
		return -1, err
	}
	return float64(told.Sub(at).Microseconds()) / 1000, nil
}

// injectFault triggers the fault of a step while the step runs.
func injectFault(ctx context.Context, w agentDriver, s *step, dir string) error {
	if s.fault == "" {
		return nil
	}
	select {
	case <-time.After(faultDelay):
	case <-ctx.Done():
		return nil
	}
	switch s.fault {
	case "crash":
		return w.crash(ctx)
	case "restart":
		return nil // by the way itself, which is the agent
	}
	return os.WriteFile(filepath.Join(dir, s.fault), []byte("changed\n"), 0o600)
}

// faultDelay is the delay from the start of a step to its fault.
const faultDelay = 3 * time.Second

// stampOf returns the time written by `date +%s%N`.
func stampOf(path string) (time.Time, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return time.Time{}, err
	}
	ns, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return time.Unix(0, ns), err
}

// sum fills in the sums over all tasks.
func (r *agentReport) sum() {
	for _, name := range []string{"longterm", "tmux", "tmux-history", "shell"} {
		s := agentSum{Way: name}
		for i := range r.Tasks {
			ours, theirs := r.Tasks[i].resultOf("longterm"), r.Tasks[i].resultOf(name)
			if theirs == nil || theirs.Failure != "" || ours == nil || ours.Failure != "" {
				continue
			}
			s.Done++
			s.Events += r.Tasks[i].Events
			s.Calls += theirs.Calls
			s.Tokens += theirs.Tokens
			s.Longterm += ours.Tokens
			if theirs.MaxDelay > s.MaxDelay {
				s.MaxDelay, s.SlowestTask = theirs.MaxDelay, r.Tasks[i].Name
			}
		}
		if s.Done == 0 {
			continue
		}
		s.PerEvent, s.Fraction = float64(s.Calls)/float64(s.Events), float64(s.Longterm)/float64(max(s.Tokens, 1))
		r.Sums = append(r.Sums, s)
	}
}

// resultOf returns the task's result in a way.
func (t *agentTask) resultOf(way string) *agentResult {
	for i := range t.Ways {
		if t.Ways[i].Way == way {
			return &t.Ways[i]
		}
	}
	return nil
}

func writeAgent(w io.Writer, r *agentReport) {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "task\tevents\tway\tcalls\ttokens\tof it asked\ttold after, ms (most)\tseconds\t\t")
	for i := range r.Tasks {
		t := &r.Tasks[i]
		for _, x := range t.Ways {
			told := "-"
			if x.MedianDelay >= 0 {
				told = fmt.Sprintf("%.0f (%.0f)", x.MedianDelay, x.MaxDelay)
			}
			fmt.Fprintf(tw, "%s\t%d\t%s\t%d\t%d\t%d\t%s\t%.1f\t%s\t\n", t.Name, t.Events, x.Way, x.Calls, x.Tokens, x.RequestBytes, told, x.Seconds, x.Failure)
		}
	}
	_ = tw.Flush()
	fmt.Fprintf(w, "the list of longterm's tools: %d tokens, once\n", r.Schema)
	for _, s := range r.Sums {
		fmt.Fprintf(w, "%s: %d tasks done, %.2f calls an event, %d tokens (longterm's are %.3f of them), delay %.0f ms at most (%s)\n",
			s.Way, s.Done, s.PerEvent, s.Tokens, s.Fraction, s.MaxDelay, s.SlowestTask)
	}
}
