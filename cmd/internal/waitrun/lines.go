//go:build unix

package waitrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// Exec runs a line in a session's shell, and returns its exit status as the error.
func (c *Caller) Exec(ctx context.Context, s *client.Session, flags *request.CallFlags, x api.Exec) error {
	all := flags.Format == "" && c.printsAll(&x.Call)
	refused, stop := &refusals{w: c.Stderr}, func() {}
	if x.Respond != nil && !c.JSON {
		stop = c.followRefusals(ctx, s, refused)
	}
	hintCtx, stopHint := context.WithCancel(ctx)
	if x.Respond == nil && !c.JSON && flags.OnInput == "wait" && !x.Background {
		go c.hintInput(hintCtx, s, c.SessionRef)
	}
	r, interrupted, err := c.execLine(ctx, s, x)
	stopHint()
	stop()
	if err != nil {
		return exit.Refusal(err)
	}
	if !c.JSON {
		refused.printAll(r.Answers)
	}
	switch {
	case c.JSON:
		err = c.Print(r, nil)
	case flags.Format == "text":
		_, err = io.WriteString(c.Stdout, output.ForAgent(output.LabelledText(x.Line, &r)))
	case x.Background:
		_, err = fmt.Fprintln(c.Stdout, r.Job)
	default:
		err = c.printExec(context.WithoutCancel(ctx), s, &r, all)
		c.PrintOmitted(&r)
		c.PrintRefused(&r)
		c.NoteNoStatus(&r)
	}
	switch {
	case interrupted:
		return errors.Join(err, c.interruption(&r))
	case x.Background:
		return err
	}
	return errors.Join(err, Status(&r, c.SessionRef, flags.Timeout, flags.Idle))
}

// ShortAnswer is the output limit of the answer, in bytes, if the output is read from the history.
const ShortAnswer = 4096

// printsAll reports whether all output will be printed. It is then read from the history, and the answer needs little of
// it.
func (c *Caller) printsAll(r *api.Call) bool {
	all := !c.JSON && r.MaxOutput == 0 && r.MaxLine == 0
	if all {
		r.MaxOutput = ShortAnswer
	}
	return all
}

// execLine runs a line. After an interrupt it returns the partial result.
func (c *Caller) execLine(ctx context.Context, s *client.Session, x api.Exec) (r api.Result, interrupted bool, err error) {
	if x.Job == "" {
		x.Job = uuid.NewString()
	}
	r, err = s.Exec(ctx, x)
	if ctx.Err() == nil {
		return r, false, err
	}
	var j api.Job
	var e *api.Error
	if x.OnTimeout != "background" { // the daemon saw us leave, and ends it too
		j, err = c.stopJob(ctx, x.Job)
	}
	after, cancel := c.cleanupContext(ctx)
	defer cancel()
	if x.OnTimeout == "background" || errors.As(err, &e) && e.Code == api.CodeEnded {
		j, err = c.Client.Job(after, x.Job, max(x.MaxOutput, output.DefaultBudget))
	}
	if err != nil || j.Result == nil { // the line was not started
		return r, true, ctx.Err()
	}
	r = *j.Result
	if !output.IsUnfinished(r.State) {
		r.Aborted, r.Message = true, "Ended: interrupted"
	}
	return r, true, nil
}

// stopJob ends an interrupted job and waits for its end. Each further interrupt starts the next step of the kill ladder at once. An
// interrupt after the last step ends the wait, while the daemon continues.
func (c *Caller) stopJob(ctx context.Context, id string) (api.Job, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if c.Client.IsUnreachable() {
		defer time.AfterFunc(cleanupTimeUnreachable, cancel).Stop()
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel()
	watch.Go(func() {
		hint := time.NewTimer(skipHintAfter)
		defer hint.Stop()
		for steps := 1; ; {
			select {
			case <-ctx.Done():
				return
			case <-hint.C:
				if !c.JSON {
					fmt.Fprintln(c.Stderr, "longterm: interrupted, waiting for the end; Ctrl-C again sends the next signal at once (SIGTERM, then SIGKILL)")
				}
			case <-interrupts:
				if steps++; steps > ladderSteps {
					cancel()
					return
				}
				watch.Go(func() { _, _ = c.Client.StopJob(ctx, id, api.JobStop{Next: true}) }) // the call below returns the job at its end
			}
		}
	})
	return c.Client.StopJob(ctx, id, api.JobStop{})
}

const (
	// skipHintAfter is the time after which stopJob prints how to skip a step.
	skipHintAfter = time.Second
	// ladderSteps is the largest number of steps of a kill ladder.
	ladderSteps = 4
)

// cleanupTime is the timeout of requests after an interrupt; cleanupTimeUnreachable is that for an unreachable host.
const cleanupTime, cleanupTimeUnreachable = 10 * time.Second, time.Second

// cleanupContext returns a context for requests after an interrupt.
func (c *Caller) cleanupContext(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := cleanupTime
	if c.Client.IsUnreachable() {
		limit = cleanupTimeUnreachable
	}
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}

// interruption returns the error for a line that was interrupted.
func (c *Caller) interruption(r *api.Result) error {
	if !output.IsUnfinished(r.State) {
		what := "line ended"
		if r.State == "killed" && r.Command == 0 && r.Range.End == 0 {
			what = "line canceled before its start"
		}
		return exit.With(api.ExitInterrupted, errors.New("interrupted; "+what))
	}
	return exit.With(api.ExitInterrupted, fmt.Errorf("interrupted; line still running, see `longterm jobs wait %s`", api.ShortID(r.Job)))
}

// Batch runs lines in order and returns the status of the last one that ran. The output of each is printed when it has
// ended.
func (c *Caller) Batch(ctx context.Context, s *client.Session, flags *request.CallFlags, b api.Batch) error {
	all := flags.Format == "" && c.printsAll(&b.Call)
	if b.Background || b.YieldMS > 0 {
		return exit.Usagef("--each excludes --background and --yield; run the lines one by one")
	}
	if b.Job != "" {
		return exit.Usagef("--id excludes --each; run the lines one by one")
	}
	out := api.Batched{Results: []api.Result{}}
	var status, err error
	for i, line := range b.Lines {
		r, interrupted, runErr := c.execLine(ctx, s, api.Exec{Call: b.Call, ApprovalOptions: b.ApprovalOptions, Line: line, Wait: b.Wait || i > 0, Sandbox: b.Sandbox, OnDifference: b.OnDifference})
		if runErr != nil && i == 0 {
			return exit.Refusal(runErr)
		}
		if runErr != nil { // what was run has been run
			status, out.LeftOut = exit.Refusal(runErr), len(b.Lines)-i
			break
		}
		out.Results = append(out.Results, r)
		switch {
		case c.JSON:
		case flags.Format == "text":
			_, err = io.WriteString(c.Stdout, output.ForAgent(output.LabelledText(line, &r)))
		default:
			err = errors.Join(err, c.printExec(context.WithoutCancel(ctx), s, &r, all))
			c.PrintOmitted(&r)
			c.PrintRefused(&r)
			c.NoteNoStatus(&r)
		}
		out.LeftOut = len(b.Lines) - i - 1
		if status = Status(&r, c.SessionRef, flags.Timeout, flags.Idle); interrupted {
			status = c.interruption(&r)
		}
		if interrupted || r.State != "exited" || b.StopOnError && status != nil {
			break
		}
	}
	if c.JSON {
		err = c.Print(out, nil)
	}
	if out.LeftOut > 0 {
		fmt.Fprintf(c.Stderr, "longterm: %s not run\n", output.CountNoun(out.LeftOut, "line", "lines"))
	}
	return errors.Join(err, status)
}

// printExec prints a line's output. It reads what the answer lacks from the history.
func (c *Caller) printExec(ctx context.Context, s *client.Session, r *api.Result, all bool) error {
	if !all || !r.Truncated {
		text := r.Output
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		_, err := io.WriteString(c.Stdout, output.ForAgent(text))
		return err
	}
	w := output.NewTextWriter(c.Stdout)
	end := r.Range.End
	if end == 0 {
		info, err := s.Info(ctx)
		if err != nil {
			return err
		}
		end = info.Output.End
	}
	err := output.ReadRange(ctx, s, r.Range.Start, end, w.Put)
	return errors.Join(err, w.Flush())
}
