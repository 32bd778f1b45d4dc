//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/values"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// eventsFlags are what `events` is told.
type eventsFlags struct {
	subscriptionFlags
	name       string
	follow     bool
	wait       time.Duration
	limit      int
	ackPrinted bool
	each       string
	output     bool
}

// subscriptionFlags say what a subscription is of.
type subscriptionFlags struct {
	kinds   []string
	session string
}

func (s *subscriptionFlags) register(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&s.kinds, "kind", nil, "only of this kind: job, command, session (they ended), input (a program asks), approval (a person has to allow something); repeatable")
	f.StringVar(&s.session, "session", "", "only of this session")
}

// request is a subscription as the flags have it.
func (s *subscriptionFlags) request(hook string) (api.NewSubscription, error) {
	for _, kind := range s.kinds {
		if err := values.OneOf("--kind", kind, "job", "command", "session", "input", "approval"); err != nil {
			return api.NewSubscription{}, err
		}
	}
	return api.NewSubscription{Kinds: s.kinds, Session: s.session, Hook: hook}, nil
}

func eventsVerb(a *app, c *cobra.Command) {
	var f eventsFlags
	c.Long = `Without a subscription: print what happens to sessions and jobs from now on, until interrupted.

With --subscription NAME: print what ended, or wants a person, and was not acknowledged yet. A subscription begins when
it is first named and outlives its reader, the daemon and a reboot: what happens while nobody reads is printed when
somebody does, each completion once, in order, with a number that grows. It comes again until it is acknowledged:

  longterm events ack NAME NUMBER     that one and all before it were dealt with
  --each LINE                         run LINE for each, and acknowledge it when that exits with 0
  --ack-printed                       acknowledge what was printed; a reader that is killed then misses it

So a completion is delivered at least once until it is acknowledged, and never after. A subscription has one reader: a
newer one takes it, and the older one ends with status 4. ` + "`longterm events hook NAME LINE`" + ` has the daemon run a line for each, once,
also over restarts and kills of the daemon; hooks in the configuration ([[hooks]]) are listed with these. The newest 20000 completions are kept; who comes later is told how many are
missing. A subscription that nobody reads for 30 days is forgotten, unless it has a hook.`
	c.RunE = func(cmd *cobra.Command, _ []string) error { return a.events(cmd.Context(), &f) }
	f.register(c)
	fl := c.Flags()
	fl.StringVarP(&f.name, "subscription", "s", "", "print what this subscription has not acknowledged; made if there is none of this name")
	fl.BoolVarP(&f.follow, "follow", "f", false, "go on with what comes, until interrupted")
	fl.DurationVar(&f.wait, "wait", 0, "where there is none, wait so long for a completion; without a subscription: end after this time")
	fl.IntVar(&f.limit, "limit", 0, "print at most so many completions; 0: all there are")
	fl.BoolVar(&f.ackPrinted, "ack-printed", false, "acknowledge what was printed")
	fl.StringVar(&f.each, "each", "", "run this line with sh for each, with the completion as JSON in LONGTERM_COMPLETION, and acknowledge it when it exits with 0; ends when it does not")
	fl.BoolVar(&f.output, "output", false, "without a subscription: also tell of what is printed")
	c.MarkFlagsMutuallyExclusive("ack-printed", "each")
	c.MarkFlagsMutuallyExclusive("follow", "wait")
	c.AddCommand(a.eventsAck(), a.eventsHook(), a.eventsLs(), a.eventsRm())
}

func (a *app) events(ctx context.Context, f *eventsFlags) error {
	b, err := a.connect()
	if err != nil {
		return err
	}
	if f.name != "" {
		if f.output {
			return exit.Usagef("--output is for events without a subscription")
		}
		return a.completions(ctx, b.client, f)
	}
	if f.ackPrinted || f.each != "" || f.limit != 0 || len(f.kinds) > 0 || f.session != "" {
		return exit.Usagef("--kind, --session, --limit, --each and --ack-printed need a subscription; give --subscription NAME")
	}
	if f.wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.wait)
		defer cancel()
	}
	return a.liveEvents(ctx, b.client, f.output)
}

// liveEvents prints events until ctx ends, over daemons that are replaced or die.
func (a *app) liveEvents(ctx context.Context, c *client.Client, printed bool) error {
	follow := c.FollowEvents
	if printed {
		follow = c.FollowEventsWithOutput
	}
	err := follow(ctx, func(e api.Event) error {
		if e.Kind == "listening" {
			return nil
		}
		return a.PrintCompact(e, func(w io.Writer) { writeEvent(w, &e) })
	})
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil
	}
	return err
}

func writeEvent(w io.Writer, e *api.Event) {
	parts := []string{e.Kind}
	if e.Session != nil {
		parts = append(parts, e.Session.Name, output.StateText(e.Session))
	}
	for _, text := range []string{e.Title, e.Text} {
		if text != "" {
			parts = append(parts, output.Printable(output.Shorten(text, 200)))
		}
	}
	if e.Job != nil {
		parts = append(parts, "job "+api.ShortID(e.Job.ID), output.Printable(output.Shorten(e.Job.Line, 60)))
	}
	if e.Approval != nil {
		parts = append(parts, e.Approval.ID, output.Printable(output.Shorten(e.Approval.Line, 60)))
	}
	if h := e.Hook; h != nil {
		parts = append(parts, h.Name, "for "+h.On, output.Printable(output.Shorten(h.Reason, 200)))
	}
	if e.Lost > 0 {
		parts = append(parts, strconv.FormatUint(e.Lost, 10))
	}
	fmt.Fprintln(w, strings.Join(parts, "  "))
}

// readAtOnce is how many completions are asked for at a time, readWait how long a request for them waits.
const (
	readAtOnce = 500
	readWait   = 45 * time.Second
)

// completions prints what a subscription has not acknowledged.
func (a *app) completions(ctx context.Context, c *client.Client, f *eventsFlags) error {
	if f.limit < 0 || f.wait < 0 {
		return exit.Usagef("--limit and --wait cannot be negative")
	}
	if err := a.subscribed(ctx, c, f); err != nil {
		return err
	}
	in := api.ReadCompletions{Reader: uuid.NewString(), Take: true, Limit: readAtOnce}
	until := time.Now().Add(f.wait)
	for left := f.limit; ; in.Take = false {
		if f.limit > 0 {
			in.Limit = min(left, readAtOnce)
		}
		in.WaitMS = int(min(readWait, time.Until(until)).Milliseconds())
		if f.follow {
			in.WaitMS = int(readWait.Milliseconds())
		}
		in.WaitMS = max(in.WaitMS, 0)
		got, err := c.Completions(ctx, f.name, in)
		if err != nil {
			return err
		}
		if got.Lost > 0 && in.After == 0 {
			fmt.Fprintf(a.Stderr, "longterm: %d completions of any kind were dropped before they were acknowledged\n", got.Lost)
		}
		for i := range got.Completions {
			if err := a.completion(ctx, c, f, &got.Completions[i], in.Reader); err != nil {
				return err
			}
		}
		in.After, in.Ack = got.Cursor, 0
		if f.ackPrinted || f.each != "" {
			in.Ack = got.Cursor // also of what was of no interest
		}
		n := len(got.Completions)
		left -= n
		done := f.limit > 0 && left == 0
		if !done && (f.follow || got.More || n == 0 && time.Now().Before(until)) {
			continue
		}
		if in.Ack == 0 || n == 0 {
			return nil
		}
		_, err = c.Acknowledge(ctx, f.name, api.AckCompletions{Cursor: in.Ack, Reader: in.Reader})
		return err
	}
}

// subscribed makes the subscription, unless it is there.
func (a *app) subscribed(ctx context.Context, c *client.Client, f *eventsFlags) error {
	list, err := c.Subscriptions(ctx)
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].Name == f.name && len(f.kinds) == 0 && f.session == "" {
			return nil
		}
	}
	n, err := f.request("")
	if err != nil {
		return err
	}
	s, err := c.Subscribe(ctx, f.name, n)
	if err == nil && time.Since(s.Created) < time.Second && !a.JSON {
		fmt.Fprintf(a.Stderr, "longterm: the subscription %s begins now\n", s.Name)
	}
	return err
}

// completion prints one, or runs a line for it and acknowledges it.
func (a *app) completion(ctx context.Context, c *client.Client, f *eventsFlags, v *api.Completion, reader string) error {
	if f.each == "" {
		return a.PrintCompact(v, func(w io.Writer) { writeCompletion(w, v) })
	}
	about, err := json.Marshal(v)
	if err != nil {
		return err
	}
	run := exec.CommandContext(ctx, "sh", "-c", f.each)
	run.Env = append(os.Environ(), "LONGTERM_COMPLETION="+string(about))
	run.Stdout, run.Stderr = a.Stdout, a.Stderr
	if err := run.Run(); err != nil {
		return exit.With(api.ExitFailure, fmt.Errorf("the line failed for completion %d, which is not acknowledged: %w", v.Seq, err))
	}
	_, err = c.Acknowledge(ctx, f.name, api.AckCompletions{Cursor: v.Seq, Reader: reader})
	return err
}

func writeCompletion(w io.Writer, c *api.Completion) {
	what := c.Kind
	switch {
	case c.Job != "":
		what += " " + api.ShortID(c.Job)
	case c.Command > 0:
		what += " " + strconv.Itoa(c.Command)
	case c.Approval != "":
		what += " " + c.Approval
	}
	how := c.State
	switch {
	case c.Signal != "":
		how += " (" + c.Signal + ")"
	case c.ExitCode != nil:
		how += " " + strconv.Itoa(*c.ExitCode)
	}
	fmt.Fprintf(w, "%d  %s  %s  %s  %s\n", c.Seq, what, c.Name, how, output.Printable(output.Shorten(c.Text, 100)))
}

func (a *app) eventsAck() *cobra.Command {
	c := &cobra.Command{Use: "ack NAME NUMBER", Short: "Acknowledge completions up to a number: they do not come again", Args: cobra.ExactArgs(2)}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		n, err := strconv.ParseUint(args[1], 10, 64)
		if err != nil || n == 0 {
			return exit.Usagef("%q is no number of a completion", args[1])
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		s, err := b.client.Acknowledge(cmd.Context(), args[0], api.AckCompletions{Cursor: n})
		if err != nil {
			return err
		}
		return a.Print(s, func(w io.Writer) { fmt.Fprintf(w, "acknowledged up to %d\n", s.Cursor) })
	}
	return a.JSONFlag(c)
}

func (a *app) eventsHook() *cobra.Command {
	var f subscriptionFlags
	c := &cobra.Command{
		Use: "hook NAME LINE", Short: "Have the daemon run a line for each completion, once", Args: cobra.ExactArgs(2),
		Long: `Have the daemon run LINE, with the user's shell and on pipes, for each completion from now on: one after the other, each
once, also when the daemon is killed or upgraded meanwhile. The completion is JSON in LONGTERM_COMPLETION. A run ends after
five minutes; one that fails is counted (` + "`longterm events ls`" + `) and not repeated. Each is the job hook-…-NUMBER.`,
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if args[1] == "" {
			return exit.Usagef("the line is empty")
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		n, err := f.request(args[1])
		if err != nil {
			return err
		}
		s, err := b.client.Subscribe(cmd.Context(), args[0], n)
		if err != nil {
			return err
		}
		return a.Print(s, func(w io.Writer) { fmt.Fprintf(w, "%s runs for each completion after %d\n", s.Name, s.Cursor) })
	}
	f.register(c)
	return a.JSONFlag(c)
}

func (a *app) eventsLs() *cobra.Command {
	c := &cobra.Command{Use: "ls", Short: "List subscriptions", Args: cobra.NoArgs}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		list, err := b.client.Subscriptions(cmd.Context())
		if err != nil {
			return err
		}
		return a.Print(list, func(w io.Writer) {
			writeSubscriptions(w, list)
			for i := range list {
				if f := list[i].Failure; f != nil {
					fmt.Fprintf(w, "%s failed at %s: %s\n", f.Name, f.At.Local().Format("15:04:05"), output.Printable(f.Reason))
				}
			}
		})
	}
	return a.JSONFlag(c)
}

func writeSubscriptions(w io.Writer, list []api.Subscription) {
	if len(list) == 0 {
		fmt.Fprintln(w, "there are no subscriptions; `longterm events --subscription NAME` makes one")
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tOF\tSESSION\tACKNOWLEDGED\tNEWEST\tFAILED\tHOOK")
	for i := range list {
		s := &list[i]
		of, session, hook := "all", "all", "-"
		if len(s.Kinds) > 0 {
			of = strings.Join(s.Kinds, ",")
		}
		if s.Session != "" {
			session = api.ShortID(s.Session)
		}
		if s.Hook != "" {
			hook = output.Printable(output.Shorten(s.Hook, 60))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%d\t%s\n", s.Name, of, session, s.Cursor, s.Newest, s.Failed, hook)
	}
	_ = t.Flush() // to a writer that keeps its errors
}

func (a *app) eventsRm() *cobra.Command {
	c := &cobra.Command{Use: "rm NAME…", Short: "Remove subscriptions", Args: cobra.MinimumNArgs(1)}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		for _, name := range args {
			if err := b.client.Unsubscribe(cmd.Context(), name); err != nil {
				return err
			}
		}
		return a.Print(struct {
			Removed []string `json:"removed"`
		}{args}, func(io.Writer) {})
	}
	return a.JSONFlag(c)
}
