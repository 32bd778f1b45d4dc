//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/waitrun"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/listing"
)

func jobsVerb(a *app, c *cobra.Command) {
	var q client.JobQuery
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			q.Session = args[0]
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		list, err := b.client.Jobs(cmd.Context(), q)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			a.PrintEmpty("no jobs; `longterm run` and `longterm exec` start them")
		}
		return a.Print(list, func(w io.Writer) { jobTable(w, jobColumns, list, a.TableLook()) })
	}
	c.Long = `List jobs, which are the commands started by run and exec: unfinished jobs and the newest finished ones, oldest
first. A job continues when its client exits or the daemon is replaced.

  longterm jobs
  longterm jobs wait 3f2a

A job is identified by its id or a unique prefix. The columns are id, state, duration, session and line. States:
waiting (for a free shell), running, background (running without a waiting caller), needs A3 (approval request A3
is pending), needs input, or the outcome with the exit status, such as exited(0).`
	f := c.Flags()
	f.BoolVar(&q.Running, "running", false, "only unfinished jobs")
	f.IntVar(&q.Limit, "limit", 100, "maximum `NUMBER` of jobs, the newest")
	c.AddCommand(a.jobsShow(), a.jobsRead(), a.jobsWait(), a.jobsStop(), a.jobsBackground(), a.jobsRemove())
}

var jobColumns = []listing.Column{
	{Head: "ID", Style: listing.AsFaint}, {Head: "STATE", MinWidth: 12, Style: listing.StateStyle}, {Head: "TIME", MinWidth: 7, AlignRight: true}, {Head: "SESSION", MinWidth: 10, ShrinkTo: 8}, {Head: "LINE", ShrinkTo: 10},
}

func jobTable(w io.Writer, columns []listing.Column, list []api.Job, look listing.TableFormat) {
	rows := make([][]string, 0, len(list))
	for _, j := range list {
		where := jobEnd(j.Result)
		switch {
		case j.State == "needs_approval":
			where = "needs " + j.Approval
		case j.State == "waiting":
			where = "waiting"
		case j.State == "needs_input":
			where = "needs input"
		case j.State == "running" && j.Background:
			where = "background"
		case j.State == "running":
			where = "running"
		}
		first, _, _ := strings.Cut(j.Line, "\n")
		rows = append(rows, []string{j.ID[:min(8, len(j.ID))], where, output.Elapsed(j.DurationMS), output.Printable(j.Name), output.Printable(first)})
	}
	_ = listing.WriteTable(w, columns, rows, look) // fails only if the reader has closed the output
}

// jobEnd returns a job's outcome in a word.
func jobEnd(r *api.Result) string {
	switch {
	case r == nil:
		return "ended"
	case r.ExitCode != nil:
		return fmt.Sprintf("%s(%d)", r.State, *r.ExitCode)
	case r.State == "waiting":
		return "not started"
	}
	return r.State
}

// onJobs returns a verb that calls do for each job in its arguments.
func (a *app) onJobs(use, short string, do func(cmd *cobra.Command, c *client.Client, id string) error) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use: use, Short: short, Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := a.connect()
			if err != nil {
				return err
			}
			var last error
			for _, id := range args {
				if last = do(cmd, b.client, id); last != nil && !isStatus(last) {
					return last
				}
			}
			return last
		},
	})
}

// isStatus reports whether err is the outcome of one job, after which the remaining jobs are still handled.
func isStatus(err error) bool {
	var exit *exit.Error
	return errors.As(err, &exit) && !errors.Is(exit.Err, context.DeadlineExceeded)
}

func (a *app) jobsShow() *cobra.Command {
	return a.onJobs("show JOB…", "Describe jobs", func(cmd *cobra.Command, c *client.Client, id string) error {
		j, err := c.Job(cmd.Context(), id, 0)
		if err != nil {
			return err
		}
		return a.Print(j, func(w io.Writer) { describeJob(w, &j) })
	})
}

func describeJob(w io.Writer, j *api.Job) {
	jobTable(w, listing.WithoutHeads(jobColumns), []api.Job{*j}, listing.TableFormat{})
	r := j.Result
	if r == nil {
		return
	}
	switch {
	case r.ExitCode != nil:
		fmt.Fprintf(w, "%s, status %d\n", r.State, *r.ExitCode)
	case r.Signal != "":
		fmt.Fprintf(w, "%s by %s\n", r.State, r.Signal)
	case r.Needs != "":
		fmt.Fprintf(w, "waits for input: %s\n", r.Needs)
	case r.Error != "":
		fmt.Fprintf(w, "%s: %s\n", r.State, output.Printable(r.Error))
	default:
		fmt.Fprintln(w, r.State)
	}
}

func (a *app) jobsRead() *cobra.Command {
	var from string
	var tail int
	c := a.onJobs("read JOB…", "Print the output of jobs", func(cmd *cobra.Command, c *client.Client, id string) error {
		j, err := c.Job(cmd.Context(), id, 0)
		if err != nil {
			return err
		}
		return a.readJob(cmd.Context(), c, &j, from, tail)
	})
	c.Flags().StringVar(&from, "from", "", "start `OFFSET` in bytes (default: the job's start)")
	c.Flags().IntVar(&tail, "tail", 0, "only the last `NUMBER` of lines")
	return c
}

func (a *app) readJob(ctx context.Context, c *client.Client, j *api.Job, from string, tail int) error {
	if j.Result == nil || j.State == "waiting" || j.Session == "" {
		return a.printRead(j, "")
	}
	start, end := j.Result.Range.Start, j.Result.Range.End
	if from != "" {
		n, err := strconv.ParseUint(from, 10, 64)
		if err != nil {
			return exit.Usagef("--from %q: not an offset", from)
		}
		start = max(start, n)
	}
	s := c.Session(j.Session)
	info, err := s.Info(ctx)
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeNotFound {
		return api.Errorf(api.CodeNotFound, "output of job %s: removed with its session", j.ID[:min(8, len(j.ID))]).
			WithHint("`run` keeps failed and long runs for a day; use --keep or --background to keep every run")
	}
	if err != nil {
		return err
	}
	if end == 0 {
		end = info.Output.End
	}
	if tail == 0 && !a.JSON {
		w := output.NewTextWriter(a.Stdout)
		w.OnBinary = a.PrintBinaryOmitted
		return errors.Join(output.ReadRange(ctx, s, start, end, w.Put), w.Flush())
	}
	var b strings.Builder
	w := output.NewTextWriter(&b)
	w.OnBinary = a.PrintBinaryOmitted
	err = errors.Join(output.ReadRange(ctx, s, start, end, w.Put), w.Flush())
	return errors.Join(err, a.printRead(j, tailOf(b.String(), tail)))
}

// printRead prints the text read of a job; with --json it prints the job with that text as its output.
func (a *app) printRead(j *api.Job, text string) error {
	if a.JSON && j.Result != nil {
		j.Result.Output, j.Result.Truncated = text, false
	}
	return a.Print(j, func(w io.Writer) { io.WriteString(w, text) })
}

// tailOf returns the last n lines of text, or all of it if n is 0.
func tailOf(text string, n int) string {
	if n <= 0 {
		return text
	}
	at := len(strings.TrimSuffix(text, "\n"))
	for ; n > 0 && at >= 0; n-- {
		at = strings.LastIndexByte(text[:at], '\n')
	}
	return text[at+1:]
}

func (a *app) jobsWait() *cobra.Command {
	var given time.Duration
	c := a.onJobs("wait JOB…", "Wait for jobs and return the last one's exit status", func(cmd *cobra.Command, c *client.Client, id string) error {
		timeout := given
		ctx := cmd.Context()
		if os.Getenv(identity.Env) != "" {
			timeout = request.FlagOr(cmd, "timeout", timeout, a.settings().Exec.Timeout)
		}
		if timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, timeout)
			defer cancel()
		}
		j, err := c.AwaitJob(ctx, id, client.AwaitOptions{OnApproval: a.reportPending})
		if errors.Is(err, context.DeadlineExceeded) {
			return exit.With(api.ExitTimeout, fmt.Errorf("timeout after %s: job %s still running; see `longterm jobs show %s`", timeout, id, id))
		}
		if err != nil {
			return err
		}
		if err := a.Print(j, func(w io.Writer) { describeJob(w, &j) }); err != nil || j.Result == nil {
			return err
		}
		return waitrun.Status(j.Result, j.Name, timeout, 0)
	})
	c.Flags().DurationVar(&given, "timeout", 0, "time limit; 0: no limit (default: no limit; for agents exec.timeout, 1m)")
	return c
}

func (a *app) jobsStop() *cobra.Command {
	var grace time.Duration
	c := a.onJobs("stop JOB…", "End jobs with all their processes", func(cmd *cobra.Command, c *client.Client, id string) error {
		j, err := c.StopJob(cmd.Context(), id, api.JobStop{GraceMS: request.GraceMS(cmd, grace)})
		if err != nil {
			return err
		}
		return a.Print(j, nil)
	})
	c.Flags().DurationVar(&grace, "grace", 0, request.GraceHelp)
	return c
}

func (a *app) jobsBackground() *cobra.Command {
	return a.onJobs("background JOB…", "Move jobs to the background: their callers return", func(cmd *cobra.Command, c *client.Client, id string) error {
		j, err := c.BackgroundJob(cmd.Context(), id)
		if err != nil {
			return err
		}
		return a.Print(j, nil)
	})
}

func (a *app) jobsRemove() *cobra.Command {
	return a.onJobs("rm JOB…", "Remove finished jobs and their own sessions", func(cmd *cobra.Command, c *client.Client, id string) error {
		return c.ForgetJob(cmd.Context(), id)
	})
}
