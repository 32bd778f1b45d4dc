//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/request"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func execCommand(a *app) *cobra.Command {
	var x api.Exec
	var flags request.CallFlags
	var answers request.RespondFlags
	var kill, each, stop bool
	c := a.on("exec S [flags] LINE…", "Run a line in a session's shell and exit with its status", cobra.MinimumNArgs(2),
		func(cmd *cobra.Command, s *client.Session, args []string) error {
			var err error
			if x.Call, err = flags.Call(cmd, &a.settings().Exec, a.forPerson(), a.JSON); err != nil {
				return err
			}
			if kill {
				x.OnTimeout = "kill"
			}
			if x.Respond, err = answers.Request(a.input()); err != nil {
				return err
			}
			if each {
				if x.Respond != nil {
					return exit.Usagef("rules are given with one line; --each has several")
				}
				return a.batch(cmd.Context(), s, &flags, api.Batch{Call: x.Call, Lines: args, Wait: x.Wait, StopOnError: stop})
			}
			x.Line = strings.Join(args, " ")
			return a.exec(cmd.Context(), s, &flags, x)
		})
	c.Long = `Flags stand before LINE, before or after S. All after LINE's first word belongs to LINE; a flag of exec's own
there is refused, unless -- stands before LINE.

Run LINE in a session's shell, where directory, variables, functions and jobs live on, and print what
it printed. The exit status is LINE's own. A shell that runs something else refuses, unless --wait is
given. When a clock runs out the line goes on in the background, unless --kill is given; the exit status
is 124 then, and the output so far is printed. With --each every argument is a line of its own, and the
exit status is that of the last one that ran. When LINE was refused the exit status says why: 113 no such
session, 115 it has ended, 116 the shell is busy, 117 it is no shell, 118 it waits for input (with --on-input
return also while LINE runs), 112 a line that is none; 125 when longterm failed, or the status is not known, as
with --foreign. Interrupted (Ctrl-C), it ends LINE, prints what there is, and exits with 130.`
	flags.Register(c, "background")
	f := c.Flags()
	f.BoolVar(&kill, "kill", false, "the same as --on-timeout kill")
	f.BoolVar(&x.Wait, "wait", false, "wait for the shell's prompt")
	f.BoolVar(&x.Foreign, "foreign", false, "when the shell runs something, give LINE to that program where it waits for input (a REPL, ssh); its exit status is not known")
	f.BoolVar(&x.History, "history", false, "have the shell record LINE in its history, as what is typed (shells.history)")
	f.BoolVar(&each, "each", false, "every argument is a line: run them one after the other, each with its own clocks")
	answers.Register(c)
	f.BoolVar(&stop, "stop-on-error", false, "with --each, leave the rest out after a line that failed")
	f.SetInterspersed(false) // what follows belongs to LINE
	c.Args = cobra.ArbitraryArgs
	c.RunE = execArgs(c.RunE)
	return a.JSONFlag(c)
}

// misplaced refuses a flag of exec's own that stands after LINE's first word: whether it is
// meant for exec or for LINE cannot be told, and either guess does harm.
func misplaced(cmd *cobra.Command, line []string) error {
	for _, word := range line[min(1, len(line)):] {
		name, ok := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(name, "=")
		if ok && name != "help" && cmd.Flags().Lookup(name) != nil {
			return exit.Usagef("--%s stands after LINE; put it before, or -- before LINE if it is a part of it, as in `exec S -- %s`", name, strings.Join(line, " "))
		}
	}
	return nil
}

// execArgs lets flags stand before and after the session's name, and nowhere else.
func execArgs(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			name := args[0]
			if err := cmd.Flags().Parse(args[1:]); err != nil {
				return exit.Usagef("%w; see `%s --help`", err, cmd.CommandPath())
			}
			line := cmd.Flags().Args()
			if cmd.Flags().ArgsLenAtDash() < 0 {
				if err := misplaced(cmd, line); err != nil {
					return err
				}
			}
			args = append([]string{name}, line...)
		}
		if len(args) < 2 {
			return exit.Usagef("a session and a line are needed; usage: %s", cmd.UseLine())
		}
		return run(cmd, args)
	}
}

func (a *app) exec(ctx context.Context, s *client.Session, flags *request.CallFlags, x api.Exec) error {
	all := flags.Format == "" && a.allOfIt(&x.Call)
	r, interrupted, err := a.execLine(ctx, s, x)
	if err != nil {
		return exit.Refusal(err)
	}
	switch {
	case a.JSON:
		err = a.Print(r, nil)
	case flags.Format == "text":
		_, err = io.WriteString(a.Stdout, output.Labelled(x.Line, &r))
	case x.Background:
		_, err = fmt.Fprintln(a.Stdout, r.Job)
	default:
		err = a.printExec(context.WithoutCancel(ctx), s, &r, all)
		a.TellLeftOut(&r)
	}
	switch {
	case interrupted:
		return errors.Join(err, a.interruption(&r))
	case x.Background:
		return err
	}
	return errors.Join(err, resultStatus(&r, flags.Timeout, flags.Idle))
}

// allOfIt says that all output is to be printed. It is read from the history then: the
// answer needs little of it.
func (a *app) allOfIt(c *api.Call) bool {
	all := !a.JSON && c.MaxOutput == 0 && c.MaxLine == 0
	if all {
		c.MaxOutput = 4096
	}
	return all
}

// execLine runs a line. When it is interrupted, what there is of a result comes back.
func (a *app) execLine(ctx context.Context, s *client.Session, x api.Exec) (r api.Result, interrupted bool, err error) {
	if x.Job == "" {
		x.Job = uuid.NewString()
	}
	r, err = s.Exec(ctx, x)
	if ctx.Err() == nil {
		return r, false, err
	}
	b, connErr := a.connect()
	if connErr != nil {
		return r, true, err
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), partingTime)
	defer cancel()
	var j api.Job
	var e *api.Error
	if x.OnTimeout != "background" { // the daemon saw us leave, and ends it too
		j, err = b.client.StopJob(after, x.Job, api.JobStop{})
	}
	if x.OnTimeout == "background" || errors.As(err, &e) && e.Code == api.CodeEnded {
		j, err = b.client.Job(after, x.Job, max(x.MaxOutput, output.DefaultBudget))
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

// partingTime is how long what was interrupted has to end and to be told of.
const partingTime = 10 * time.Second

// interruption says what became of a line that was interrupted.
func (a *app) interruption(r *api.Result) error {
	if !output.IsOpen(r.State) {
		return exit.With(api.ExitInterrupted, errors.New("interrupted; the line was ended"))
	}
	return exit.With(api.ExitInterrupted, fmt.Errorf("interrupted; the line goes on: `longterm jobs wait %s` waits for its end", r.Job[:min(8, len(r.Job))]))
}

// batch runs lines one after the other and exits as the last one that was run. Each one's
// output is printed when it ended.
func (a *app) batch(ctx context.Context, s *client.Session, flags *request.CallFlags, b api.Batch) error {
	all := flags.Format == "" && a.allOfIt(&b.Call)
	if b.Background || b.YieldMS > 0 {
		return exit.Usagef("--each runs lines one after the other, and none in the background; run them one by one")
	}
	out := api.Batched{Results: []api.Result{}}
	var status, err error
	for i, line := range b.Lines {
		r, interrupted, runErr := a.execLine(ctx, s, api.Exec{Call: b.Call, Line: line, Wait: b.Wait || i > 0})
		if runErr != nil && i == 0 {
			return exit.Refusal(runErr)
		}
		if runErr != nil { // what was run has been run
			status, out.Left = exit.Refusal(runErr), len(b.Lines)-i
			break
		}
		out.Results = append(out.Results, r)
		switch {
		case a.JSON:
		case flags.Format == "text":
			_, err = io.WriteString(a.Stdout, output.Labelled(line, &r))
		default:
			err = errors.Join(err, a.printExec(context.WithoutCancel(ctx), s, &r, all))
			a.TellLeftOut(&r)
		}
		out.Left = len(b.Lines) - i - 1
		if status = resultStatus(&r, flags.Timeout, flags.Idle); interrupted {
			status = a.interruption(&r)
		}
		if interrupted || r.State != "exited" || b.StopOnError && status != nil {
			break
		}
	}
	if a.JSON {
		err = a.Print(out, nil)
	}
	if out.Left > 0 {
		fmt.Fprintf(a.Stderr, "longterm: %s not run\n", output.HowMany(out.Left, "line was", "lines were"))
	}
	return errors.Join(err, status)
}

// printExec prints a line's output, from the history where the answer has not all of it.
func (a *app) printExec(ctx context.Context, s *client.Session, r *api.Result, all bool) error {
	if !all || !r.Truncated {
		text := r.Output
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		_, err := io.WriteString(a.Stdout, text)
		return err
	}
	w := output.NewTextWriter(a.Stdout)
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

func commandsCommand(a *app) *cobra.Command {
	var q client.CommandQuery
	var raw, parse bool
	c := &cobra.Command{
		Use: "commands [S [N]]", Short: "List the commands that shells ran, or print what one printed", Args: cobra.MaximumNArgs(2),
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return a.commandOutput(cmd.Context(), args[0], args[1], raw, parse)
			}
			if len(args) == 1 {
				q.Session = args[0]
			}
			b, err := a.connect()
			if err != nil {
				return err
			}
			list, err := b.client.Commands(cmd.Context(), q)
			if err != nil {
				return err
			}
			return a.Print(list, func(w io.Writer) { commandTable(w, list, q.Session == "") })
		},
	}
	c.Long = `List the commands that sessions' shells ran, living sessions and dead ones: number, when, how long,
exit status, directory, line. With a session and a number, print what that command printed, however long
ago; 0 is the newest.`
	f := c.Flags()
	f.StringVar(&q.Text, "text", "", "only commands that contain this")
	f.BoolVar(&q.Failed, "failed", false, "only commands that failed")
	f.BoolVar(&q.Running, "running", false, "only commands that run")
	f.IntVar(&q.Limit, "limit", 100, "the newest so many")
	f.BoolVar(&raw, "raw", false, "print a command's output as it was printed")
	f.BoolVar(&parse, "parse", false, "print what a command's output says, as JSON: problems, tests, listings, a summary")
	return a.JSONFlag(c)
}

func commandTable(w io.Writer, list []api.Command, sessions bool) {
	for _, c := range list {
		status := "…"
		switch {
		case c.ExitCode != nil:
			status = strconv.Itoa(*c.ExitCode)
		case c.State != "running":
			status = "?"
		}
		where := ""
		if sessions {
			where = fmt.Sprintf("%-10s ", output.Printable(c.Name))
		}
		first, rest, more := strings.Cut(c.Text, "\n")
		if more && rest != "" {
			first += " …"
		}
		fmt.Fprintf(w, "%s%4d  %s  %7s  %3s  %s  %s\n", where, c.N, c.Started.Local().Format("15:04:05"),
			output.Elapsed(c.Duration), status, output.Printable(output.Shorten(c.Cwd, 30)), output.Printable(first))
	}
}

// commandOutput prints what a command printed.
func (a *app) commandOutput(ctx context.Context, ref, number string, raw, parse bool) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return exit.Usagef("%q is no number of a command", number)
	}
	s, err := a.session(ref)
	if err != nil {
		return err
	}
	c, err := s.Command(ctx, n)
	if err != nil {
		return err
	}
	switch {
	case parse:
		r, err := s.Parsed(ctx, n)
		a.JSON = true
		return errors.Join(err, a.Print(r, nil))
	case a.JSON:
		return a.Print(c, nil)
	}
	end := c.Output.End
	if end == 0 {
		info, err := s.Info(ctx)
		if err != nil {
			return err
		}
		end = info.Output.End
	}
	w := a.Writer(raw)
	return errors.Join(output.ReadRange(ctx, s, c.Output.Start, end, w.Put), w.Flush())
}

func suggestCommand(a *app) *cobra.Command {
	return a.JSONFlag(a.on("suggest S", "Suggest what to do after a session's newest command", cobra.ExactArgs(1),
		func(cmd *cobra.Command, s *client.Session, _ []string) error {
			list, err := s.Suggest(cmd.Context(), 0)
			if err != nil {
				return err
			}
			return a.Print(list, func(w io.Writer) {
				for _, x := range list {
					fmt.Fprintf(w, "%s  # %s\n", output.Printable(x.Command), output.Printable(x.Reason))
				}
			})
		}))
}
