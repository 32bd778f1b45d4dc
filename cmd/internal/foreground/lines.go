//go:build unix

package foreground

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

// Exec runs a line in a session's shell, and exits as it does.
func (c *Caller) Exec(ctx context.Context, s *client.Session, flags *request.CallFlags, x api.Exec) error {
	all := flags.Format == "" && c.allOfIt(&x.Call)
	refused, stop := &refusals{w: c.Stderr}, func() {}
	if x.Respond != nil && !c.JSON {
		stop = c.followRefusals(ctx, s, refused)
	}
	hintCtx, stopHint := context.WithCancel(ctx)
	if x.Respond == nil && !c.JSON && flags.OnInput == "wait" && !x.Background {
		go c.hintInput(hintCtx, s, c.Named)
	}
	r, interrupted, err := c.execLine(ctx, s, x)
	stopHint()
	stop()
	if err != nil {
		return exit.Refusal(err)
	}
	for i := range r.Answers {
		if !c.JSON {
			refused.note(&r.Answers[i])
		}
	}
	switch {
	case c.JSON:
		err = c.Print(r, nil)
	case flags.Format == "text":
		_, err = io.WriteString(c.Stdout, output.ForAgent(output.Labelled(x.Line, &r)))
	case x.Background:
		_, err = fmt.Fprintln(c.Stdout, r.Job)
	default:
		err = c.printExec(context.WithoutCancel(ctx), s, &r, all)
		c.TellLeftOut(&r)
		c.TellRefused(&r)
		c.TellNoStatus(&r)
	}
	switch {
	case interrupted:
		return errors.Join(err, c.interruption(&r))
	case x.Background:
		return err
	}
	return errors.Join(err, Status(&r, c.Named, flags.Timeout, flags.Idle))
}

// ShortAnswer is how many bytes of output the answer has if the output is read from the history.
const ShortAnswer = 4096

// allOfIt says that all output is to be printed. It is read from the history then: the
// answer needs little of it.
func (c *Caller) allOfIt(r *api.Call) bool {
	all := !c.JSON && r.MaxOutput == 0 && r.MaxLine == 0
	if all {
		r.MaxOutput = ShortAnswer
	}
	return all
}

// execLine runs a line. When it is interrupted, what there is of a result comes back.
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
	after, cancel := c.parting(ctx)
	defer cancel()
	if x.OnTimeout == "background" || errors.As(err, &e) && e.Code == api.CodeEnded {
		j, err = c.Client.Job(after, x.Job, max(x.MaxOutput, output.DefaultBudget))
	}
	if err != nil || j.Result == nil { // it was not begun
		return r, true, ctx.Err()
	}
	r = *j.Result
	if !output.IsOpen(r.State) {
		r.Aborted, r.Message = true, "Ended: it was interrupted"
	}
	return r, true, nil
}

// stopJob ends an interrupted job and waits for its end. Each further interrupt starts the next step of the kill ladder at once. An
// interrupt after the last step ends the wait, while the daemon continues.
func (c *Caller) stopJob(ctx context.Context, id string) (api.Job, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if c.Client.IsAway() {
		defer time.AfterFunc(partingAway, cancel).Stop()
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

// partingTime bounds requests after an interrupt, partingAway those to an unreachable host.
const partingTime, partingAway = 10 * time.Second, time.Second

// parting is for what is done after an interruption.
func (c *Caller) parting(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := partingTime
	if c.Client.IsAway() {
		limit = partingAway
	}
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}

// interruption says what became of a line that was interrupted.
func (c *Caller) interruption(r *api.Result) error {
	if !output.IsOpen(r.State) {
		what := "the line was ended"
		if r.State == "killed" && r.Command == 0 && r.Range.End == 0 {
			what = "the line was taken back before it began"
		}
		return exit.With(api.ExitInterrupted, errors.New("interrupted; "+what))
	}
	return exit.With(api.ExitInterrupted, fmt.Errorf("interrupted; the line continues: `longterm jobs wait %s` waits for its end", api.ShortID(r.Job)))
}

// Batch runs lines one after the other and exits as the last one that was run. Each one's
// output is printed when it ended.
func (c *Caller) Batch(ctx context.Context, s *client.Session, flags *request.CallFlags, b api.Batch) error {
	all := flags.Format == "" && c.allOfIt(&b.Call)
	if b.Background || b.YieldMS > 0 {
		return exit.Usagef("--each runs lines one after the other, and none in the background; run them one by one")
	}
	if b.Job != "" {
		return exit.Usagef("--id names one line, and --each runs several; run them one by one")
	}
	out := api.Batched{Results: []api.Result{}}
	var status, err error
	for i, line := range b.Lines {
		r, interrupted, runErr := c.execLine(ctx, s, api.Exec{Call: b.Call, Asking: b.Asking, Line: line, Wait: b.Wait || i > 0, Sandbox: b.Sandbox, OnDifference: b.OnDifference})
		if runErr != nil && i == 0 {
			return exit.Refusal(runErr)
		}
		if runErr != nil { // what was run has been run
			status, out.Left = exit.Refusal(runErr), len(b.Lines)-i
			break
		}
		out.Results = append(out.Results, r)
		switch {
		case c.JSON:
		case flags.Format == "text":
			_, err = io.WriteString(c.Stdout, output.ForAgent(output.Labelled(line, &r)))
		default:
			err = errors.Join(err, c.printExec(context.WithoutCancel(ctx), s, &r, all))
			c.TellLeftOut(&r)
			c.TellRefused(&r)
			c.TellNoStatus(&r)
		}
		out.Left = len(b.Lines) - i - 1
		if status = Status(&r, c.Named, flags.Timeout, flags.Idle); interrupted {
			status = c.interruption(&r)
		}
		if interrupted || r.State != "exited" || b.StopOnError && status != nil {
			break
		}
	}
	if c.JSON {
		err = c.Print(out, nil)
	}
	if out.Left > 0 {
		fmt.Fprintf(c.Stderr, "longterm: %s not run\n", output.HowMany(out.Left, "line was", "lines were"))
	}
	return errors.Join(err, status)
}

// printExec prints a line's output, from the history where the answer has not all of it.
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
