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
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/flagvalues"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/listing"
)

// eventsFlags holds the flags of `events`.
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

// subscriptionFlags holds the flags that select a subscription's events.
type subscriptionFlags struct {
	kinds   []string
	session string
}

func (s *subscriptionFlags) register(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&s.kinds, "kind", nil, "only events of this `KIND`: job, command, session (ended), input (a program needs input), approval (approval required); repeatable")
	f.StringVar(&s.session, "session", "", "only events of this `SESSION`")
}

// request returns the subscription that the flags describe.
func (s *subscriptionFlags) request(hook string) (api.NewSubscription, error) {
	for _, kind := range s.kinds {
		if err := flagvalues.OneOf("--kind", kind, "job", "command", "session", "input", "approval"); err != nil {
			return api.NewSubscription{}, err
		}
	}
	return api.NewSubscription{Kinds: s.kinds, Session: s.session, Hook: hook}, nil
}

func eventsVerb(a *app, c *cobra.Command) {
	var f eventsFlags
	c.Long = `Print events of sessions and jobs from now on, until interrupted. With --subscription NAME, print the completions
of a durable subscription: jobs, commands and sessions that ended, and requests for input or approval.

  longterm events
  longterm events --subscription ci --kind job --follow --each 'notify-send done'

A subscription starts when its name is first used, and survives its reader, the daemon and a reboot. Each
completion has a number and is printed in order, again in each call until it is acknowledged:

  longterm events ack NAME NUMBER     acknowledges all completions up to NUMBER
  --each LINE                         runs LINE for each, and acknowledges it if LINE exits with 0
  --ack-printed                       acknowledges printed completions; a killed reader may miss some

A subscription has one reader at a time: a newer reader replaces the older one, which exits with status 4.
` + "`longterm events hook NAME LINE`" + ` makes the daemon run LINE once for each completion; hooks of the
configuration ([[hooks]]) are listed too. The newest 20000 completions are kept; a reader that is further
behind gets the number of missing ones. A subscription without hook is removed after 30 days without reader.`
	c.RunE = func(cmd *cobra.Command, _ []string) error { return a.events(cmd.Context(), &f) }
	f.register(c)
	fl := c.Flags()
	fl.StringVarP(&f.name, "subscription", "s", "", "`NAME` of the subscription to read; created if it does not exist")
	fl.BoolVarP(&f.follow, "follow", "f", false, "new completions too, until interrupted")
	fl.DurationVar(&f.wait, "wait", 0, "maximum time to wait for a first completion; without a subscription: time after which to exit")
	fl.IntVar(&f.limit, "limit", 0, "maximum `NUMBER` of completions; 0: all")
	fl.BoolVar(&f.ackPrinted, "ack-printed", false, "acknowledgement of printed completions")
	fl.StringVar(&f.each, "each", "", "`LINE` for sh to run for each completion (JSON in LONGTERM_COMPLETION), acknowledged on exit status 0; reading ends on another status")
	fl.BoolVar(&f.output, "output", false, "events for new output too (not with a subscription)")
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
			return exit.Usagef("--output excludes --subscription")
		}
		return a.completions(ctx, b.client, f)
	}
	if f.ackPrinted || f.each != "" || f.limit != 0 || len(f.kinds) > 0 || f.session != "" {
		return exit.Usagef("--kind, --session, --limit, --each and --ack-printed require --subscription NAME")
	}
	if f.wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.wait)
		defer cancel()
	}
	return a.liveEvents(ctx, b.client, f.output)
}

// liveEvents prints events until ctx ends, across restarts of the daemon.
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
	if e.Port != nil {
		parts = append(parts, listing.PortText(e.Port))
	}
	if h := e.Hook; h != nil {
		parts = append(parts, h.Name, "for "+h.On, output.Printable(output.Shorten(h.Reason, 200)))
	}
	if e.Lost > 0 {
		parts = append(parts, strconv.FormatUint(e.Lost, 10))
	}
	fmt.Fprintln(w, strings.Join(parts, "  "))
}

// readAtOnce is the number of completions per request, readWait the longest wait of one request.
const (
	readAtOnce = 500
	readWait   = 45 * time.Second
)

// completions prints a subscription's unacknowledged completions.
func (a *app) completions(ctx context.Context, c *client.Client, f *eventsFlags) error {
	if f.limit < 0 || f.wait < 0 {
		return exit.Usagef("--limit and --wait cannot be negative")
	}
	if err := a.ensureSubscription(ctx, c, f); err != nil {
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
			in.Ack = got.Cursor // also acknowledges completions that the filter skipped
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

// ensureSubscription creates the subscription if it does not exist or has other filters.
func (a *app) ensureSubscription(ctx context.Context, c *client.Client, f *eventsFlags) error {
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
		fmt.Fprintf(a.Stderr, "longterm: subscription %s created; it starts with new events\n", s.Name)
	}
	return err
}

// completion prints v, or runs the --each line for it and acknowledges it.
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
		return exit.With(api.ExitFailure, fmt.Errorf("completion %d not acknowledged: --each line failed: %w", v.Seq, err))
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
	c := &cobra.Command{Use: "ack NAME NUMBER", Short: "Acknowledge completions up to a number", Args: cobra.ExactArgs(2)}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		n, err := strconv.ParseUint(args[1], 10, 64)
		if err != nil || n == 0 {
			return exit.Usagef("%q: invalid completion number", args[1])
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
		Use: "hook NAME LINE", Short: "Run a line in the daemon for each completion", Args: cobra.ExactArgs(2),
		Long: `Make the daemon run LINE for each new completion, in the user's shell and on pipes, one after the other. Each
completion runs once, even if the daemon is killed or upgraded. The completion is JSON in LONGTERM_COMPLETION.

  longterm events hook ci 'curl -d "$LONGTERM_COMPLETION" https://ci.example/done' --kind job

A run is limited to five minutes. A failed run is counted (` + "`longterm events ls`" + `) and not repeated. Each run
is a job with the name hook-…-NUMBER.`,
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if args[1] == "" {
			return exit.Usagef("LINE: empty")
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
		return a.Print(s, func(w io.Writer) { fmt.Fprintf(w, "%s: runs for each completion after %d\n", s.Name, s.Cursor) })
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
			writeSubscriptions(w, list, a.TableLook())
			for i := range list {
				if f := list[i].Failure; f != nil {
					fmt.Fprintf(w, "%s failed at %s: %s\n", f.Name, f.At.Local().Format("15:04:05"), output.Printable(f.Reason))
				}
			}
		})
	}
	return a.JSONFlag(c)
}

func writeSubscriptions(w io.Writer, list []api.Subscription, look listing.TableFormat) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no subscriptions; create one with `longterm events --subscription NAME`")
		return
	}
	columns := []listing.Column{
		{Head: "NAME", ShrinkTo: 8, Style: listing.AsBold}, {Head: "OF", ShrinkTo: 6}, {Head: "SESSION"}, {Head: "ACKNOWLEDGED", CanDrop: true}, {Head: "NEWEST"},
		{Head: "FAILED", Style: listing.StatusStyle}, {Head: "HOOK", ShrinkTo: 10},
	}
	rows := make([][]string, 0, len(list))
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
			hook = output.Printable(s.Hook)
		}
		rows = append(rows, []string{output.Printable(s.Name), of, session, fmt.Sprint(s.Cursor), fmt.Sprint(s.Newest), fmt.Sprint(s.Failed), hook})
	}
	_ = listing.WriteTable(w, columns, rows, look) // fails only if the reader has closed the output
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
