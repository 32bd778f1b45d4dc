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
	"github.com/longterm-dev/longterm/cmd/internal/foreground"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
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
		return a.Print(list, func(w io.Writer) { jobTable(w, jobColumns, list, termio.Width(a.Stdout)) })
	}
	c.Long = `List what run and exec started: the unfinished jobs and the newest finished ones, oldest first. A job is
named by its id or a unique prefix of it. The daemon keeps its timeouts and its record: a client that exits,
or a daemon that is replaced, changes nothing.

How each stands is in the second column: waiting, for the shell to be ready for it; running, with a caller who waits for its
end; background, running without one; needs and the approval that it waits for; needs input, if it waits for an answer; or how it ended, with its exit code, as in
exited(0). Then come how long it took, the name of its session, and its line.`
	f := c.Flags()
	f.BoolVar(&q.Running, "running", false, "only unfinished jobs")
	f.IntVar(&q.Limit, "limit", 100, "at most this many, the newest")
	c.AddCommand(a.jobsShow(), a.jobsRead(), a.jobsWait(), a.jobsStop(), a.jobsBackground(), a.jobsRemove())
}

var jobColumns = []listing.Column{
	{Head: "ID"}, {Head: "STATE", Wide: 12}, {Head: "TIME", Wide: 7, Right: true}, {Head: "SESSION", Wide: 10, Least: 8}, {Head: "LINE", Least: 10},
}

func jobTable(w io.Writer, columns []listing.Column, list []api.Job, width int) {
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
	_ = listing.Write(w, columns, rows, width) // fails only if the reader has closed the output
}

// jobEnd says in a word how a job ended.
func jobEnd(r *api.Result) string {
	switch {
	case r == nil:
		return "ended"
	case r.ExitCode != nil:
		return fmt.Sprintf("%s(%d)", r.State, *r.ExitCode)
	case r.State == "waiting":
		return "not begun"
	}
	return r.State
}

// onJobs makes a verb for jobs that are named.
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

// isStatus says that an error is how a job ended, and no reason to leave out the others.
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
	jobTable(w, listing.WithoutHeads(jobColumns), []api.Job{*j}, 0)
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
	c := a.onJobs("read JOB…", "Print what jobs printed so far", func(cmd *cobra.Command, c *client.Client, id string) error {
		j, err := c.Job(cmd.Context(), id, 0)
		if err != nil {
			return err
		}
		return a.readJob(cmd.Context(), c, &j, from, tail)
	})
	c.Flags().StringVar(&from, "from", "", "from this offset on (default: the job's beginning)")
	c.Flags().IntVar(&tail, "tail", 0, "only this many lines, the last")
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
			return exit.Usagef("--from %q is no offset", from)
		}
		start = max(start, n)
	}
	s := c.Session(j.Session)
	info, err := s.Info(ctx)
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeNotFound {
		return api.Errorf(api.CodeNotFound, "the output of job %s was removed with its session", j.ID[:min(8, len(j.ID))]).
			WithHint("`run` keeps what failed or was long for a day; give --keep or --background to keep anything")
	}
	if err != nil {
		return err
	}
	if end == 0 {
		end = info.Output.End
	}
	if tail == 0 && !a.JSON {
		w := output.NewTextWriter(a.Stdout)
		w.LeftOut = a.BinaryLeft
		return errors.Join(output.ReadRange(ctx, s, start, end, w.Put), w.Flush())
	}
	var b strings.Builder
	w := output.NewTextWriter(&b)
	w.LeftOut = a.BinaryLeft
	err = errors.Join(output.ReadRange(ctx, s, start, end, w.Put), w.Flush())
	return errors.Join(err, a.printRead(j, tailOf(b.String(), tail)))
}

// printRead prints what was read of a job; as JSON the job with that as its output.
func (a *app) printRead(j *api.Job, text string) error {
	if a.JSON && j.Result != nil {
		j.Result.Output, j.Result.Truncated = text, false
	}
	return a.Print(j, func(w io.Writer) { io.WriteString(w, text) })
}

// tailOf is the last n lines of a text; all of it when n is 0.
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
	c := a.onJobs("wait JOB…", "Wait for jobs to end and exit with the last one's status", func(cmd *cobra.Command, c *client.Client, id string) error {
		timeout := given
		ctx := cmd.Context()
		if os.Getenv(actor.Env) != "" {
			timeout = request.GivenOr(cmd, "timeout", timeout, a.settings().Exec.Timeout)
		}
		if timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, timeout)
			defer cancel()
		}
		j, err := c.AwaitJob(ctx, id, client.AwaitHow{OnApproval: a.tellWaiting})
		if errors.Is(err, context.DeadlineExceeded) {
			return exit.With(api.ExitTimeout, fmt.Errorf("job %s has not ended within %s (--timeout); `longterm jobs show %s` says what it does", id, timeout, id))
		}
		if err != nil {
			return err
		}
		if err := a.Print(j, func(w io.Writer) { describeJob(w, &j) }); err != nil || j.Result == nil {
			return err
		}
		return foreground.Status(j.Result, j.Name, timeout, 0)
	})
	c.Flags().DurationVar(&given, "timeout", 0, "time limit; 0: no limit (default: no limit; for agents exec.timeout of the configuration, 1m)")
	return c
}

func (a *app) jobsStop() *cobra.Command {
	var grace time.Duration
	c := a.onJobs("stop JOB…", "End jobs and all their descendants: interrupt, terminate, kill", func(cmd *cobra.Command, c *client.Client, id string) error {
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
	return a.onJobs("background JOB…", "Let the callers that wait for jobs return; the jobs continue", func(cmd *cobra.Command, c *client.Client, id string) error {
		j, err := c.BackgroundJob(cmd.Context(), id)
		if err != nil {
			return err
		}
		return a.Print(j, nil)
	})
}

func (a *app) jobsRemove() *cobra.Command {
	return a.onJobs("rm JOB…", "Forget finished jobs, and the sessions that were made for them", func(cmd *cobra.Command, c *client.Client, id string) error {
		return c.ForgetJob(cmd.Context(), id)
	})
}
