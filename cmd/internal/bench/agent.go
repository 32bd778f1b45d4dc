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

// agentReport is what `bench agent` found.
type agentReport struct {
	Schema int         `json:"schema_tokens"` // of the list of tools, once in a conversation
	Tasks  []agentTask `json:"tasks"`
	Sums   []agentSum  `json:"sums"`
}

// agentTask is a task as it was done in each way.
type agentTask struct {
	Name   string        `json:"task"`
	Events int           `json:"events"` // that the agent had to learn of
	Ways   []agentResult `json:"ways"`
}

// agentResult is a task done in one way.
type agentResult struct {
	Way     string  `json:"way"`
	Calls   int     `json:"calls"`
	Tokens  int     `json:"tokens"` // bytes of what was asked and answered, by four
	Asked   int     `json:"asked_tokens"`
	Seconds float64 `json:"seconds"`
	// Told is how long after the true ends the agent was told, in milliseconds; -1: no end was measured.
	Told    float64 `json:"told_ms_median"`
	ToldMax float64 `json:"told_ms_max"`
	Wrong   string  `json:"wrong,omitempty"` // why the task was not done
}

// agentSum is all tasks that were done both in a way and over longterm.
type agentSum struct {
	Way       string  `json:"way"`
	Done      int     `json:"tasks_done"`
	Events    int     `json:"events"`
	Calls     int     `json:"calls"`
	PerEvent  float64 `json:"calls_per_event"`
	Tokens    int     `json:"tokens"`
	Longterm  int     `json:"longterm_tokens"` // of the same tasks
	Fraction  float64 `json:"fraction"`        // longterm's tokens by this way's
	ToldMax   float64 `json:"told_ms_max"`
	ToldWorst string  `json:"told_ms_max_task,omitempty"`
}

// step is one thing that an agent does, and the event that it then has to learn of.
type step struct {
	on    string   // the terminal that it is about
	run   string   // a line for a shell, or
	typed string   // a text for the program there, with Enter after it, or
	keys  []string // keys for it
	// until is the event: "end" of the line, "text" that is printed, or "input" that the program asks for; empty: it
	// goes on in the background.
	until string
	want  string // what the agent has to have read then, a regular expression
	find  string // what the agent looks for where it was not shown that
	stamp string // the file with the true time of the event; empty: none is known
	does  string // what happens meanwhile: "crash" of the server, "restart" of the agent; or the file that is written
	stays bool   // the line is a program to be talked to, not a command
}

// way is how an agent does things.
type way interface {
	name() string
	// do does a step and comes back when the agent knows of its event, with all that it was shown.
	do(ctx context.Context, s *step) (shown string, err error)
	crash(ctx context.Context) error
	restart(ctx context.Context) error
	spent() (calls, asked, bytes int) // bytes of what was asked, and of all
	close()
}

// errCannot says that a way cannot do a step at all.
var errCannot = errors.New("it cannot: the program wants a terminal")

// agentStepTime bounds a step.
const agentStepTime = 3 * time.Minute

func agentCommand(e *Program) *cobra.Command {
	o := agentOptions{poll: 5 * time.Second, silent: 50 * time.Second}
	c := &cobra.Command{
		Use: "agent", Short: "Measure calls, tokens and delays of an agent over longterm, tmux and a background shell", Args: cobra.NoArgs,
		Long: `Do twelve tasks as an agent does them: by calls of the MCP server; by tmux, with send-keys and capture-pane,
of a pane that is cleared before each line (tmux), or with 200 lines above it, as agents are told to (tmux-history); and
by a shell tool that runs commands in the background and hands out what is new. All but the first look a second after
each step and then every --poll, as agents do that cannot be told. Counted are calls, tokens (bytes asked and answered,
by four; of longterm's two forms of an answer the longer one) and how long after the true event the agent was told.
Agents are asked about nothing meanwhile (policy.agents = off).`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := benchAgent(cmd.Context(), e, &o)
			if err != nil {
				return err
			}
			return e.Print(r, func(w io.Writer) { writeAgent(w, r) })
		},
	}
	f := c.Flags()
	f.DurationVar(&o.poll, "poll", o.poll, "how often an agent looks that cannot be told")
	f.DurationVar(&o.silent, "silent", o.silent, "how long the silent job takes")
	f.StringSliceVar(&o.only, "task", nil, "only these tasks")
	f.StringSliceVar(&o.ways, "way", nil, "only these ways: longterm, tmux, tmux-history, shell")
	return e.JSONFlag(c)
}

type agentOptions struct {
	poll, silent time.Duration
	only, ways   []string
}

func benchAgent(ctx context.Context, e *Program, o *agentOptions) (*agentReport, error) {
	b, err := newSessionBench(e, 0, 0)
	if err != nil {
		return nil, err
	}
	defer b.close()
	if err := writeAgentFiles(b.dir); err != nil {
		return nil, err
	}
	// What is measured are answers; a person who allows the tasks' programs is not part of it.
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
		for _, begin := range []func(context.Context, *agentBench) (way, error){newLongtermWay, newTmuxWay, newTmuxHistoryWay, newShellWay} {
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

// agentBench is what a way is given.
type agentBench struct {
	*sessionBench
	at     string // directory of the task
	o      *agentOptions
	report *agentReport
}

// doTask does a task in a way.
func doTask(ctx context.Context, w way, t *agentWork, dir string) (agentResult, error) {
	res := agentResult{Way: w.name(), Told: -1, ToldMax: -1}
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
			res.Wrong = fmt.Sprintf("step %d: %v", i+1, err)
			break
		}
		if ms >= 0 {
			told = append(told, ms)
		}
	}
	calls, asked, bytes := w.spent()
	res.Calls, res.Asked, res.Tokens, res.Seconds = calls, asked/4, bytes/4, time.Since(began).Seconds()
	if len(told) > 0 {
		res.Told, res.ToldMax = median(told), slices.Max(told)
	}
	return res, nil
}

// doStep does a step; it says how long after the true event the agent was told, -1 where that is not known.
func doStep(ctx context.Context, w way, s *step, dir string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, agentStepTime)
	defer cancel()
	meanwhile := make(chan error, 1)
	go func() { meanwhile <- happens(ctx, w, s, dir) }()
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

// happens makes happen what happens meanwhile.
func happens(ctx context.Context, w way, s *step, dir string) error {
	if s.does == "" {
		return nil
	}
	select {
	case <-time.After(meanwhileTime):
	case <-ctx.Done():
		return nil
	}
	switch s.does {
	case "crash":
		return w.crash(ctx)
	case "restart":
		return nil // by the way itself, which is the agent
	}
	return os.WriteFile(filepath.Join(dir, s.does), []byte("changed\n"), 0o600)
}

// meanwhileTime is how long after the beginning of a step something happens.
const meanwhileTime = 3 * time.Second

// stampOf is the time that `date +%s%N` wrote.
func stampOf(path string) (time.Time, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return time.Time{}, err
	}
	ns, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return time.Unix(0, ns), err
}

// sum adds up what was done.
func (r *agentReport) sum() {
	for _, name := range []string{"longterm", "tmux", "tmux-history", "shell"} {
		s := agentSum{Way: name}
		for i := range r.Tasks {
			ours, theirs := r.Tasks[i].by("longterm"), r.Tasks[i].by(name)
			if theirs == nil || theirs.Wrong != "" || ours == nil || ours.Wrong != "" {
				continue
			}
			s.Done++
			s.Events += r.Tasks[i].Events
			s.Calls += theirs.Calls
			s.Tokens += theirs.Tokens
			s.Longterm += ours.Tokens
			if theirs.ToldMax > s.ToldMax {
				s.ToldMax, s.ToldWorst = theirs.ToldMax, r.Tasks[i].Name
			}
		}
		if s.Done == 0 {
			continue
		}
		s.PerEvent, s.Fraction = float64(s.Calls)/float64(s.Events), float64(s.Longterm)/float64(max(s.Tokens, 1))
		r.Sums = append(r.Sums, s)
	}
}

func (t *agentTask) by(way string) *agentResult {
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
			if x.Told >= 0 {
				told = fmt.Sprintf("%.0f (%.0f)", x.Told, x.ToldMax)
			}
			fmt.Fprintf(tw, "%s\t%d\t%s\t%d\t%d\t%d\t%s\t%.1f\t%s\t\n", t.Name, t.Events, x.Way, x.Calls, x.Tokens, x.Asked, told, x.Seconds, x.Wrong)
		}
	}
	_ = tw.Flush()
	fmt.Fprintf(w, "the list of longterm's tools: %d tokens, once\n", r.Schema)
	for _, s := range r.Sums {
		fmt.Fprintf(w, "%s: %d tasks done, %.2f calls an event, %d tokens (longterm's are %.3f of them), told after %.0f ms at most (%s)\n",
			s.Way, s.Done, s.PerEvent, s.Tokens, s.Fraction, s.ToldMax, s.ToldWorst)
	}
}
