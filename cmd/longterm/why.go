//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/listing"
)

func whyVerb(a *app, c *cobra.Command) {
	c.Long = `Explain why a command failed: compare it with the newest good run of the same command in the same directory
or project, in any session. The answer has the first line of output that the good run did not have, new errors,
newly failing tests, and what changed in between: commits, files, variables, versions, time.

  longterm why                  # the newest failure
  longterm why build            # the newest failed command of session build
  longterm why build:12         # its command 12
  longterm why build:12 ci:3    # two runs of your choice

A job's id (longterm jobs) names its command or session. Numbers, times, durations, ids, directories, colours and the
order of lines count as equal. See ` + "`longterm help why`" + ` for the limits.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := a.explainFailure(cmd.Context(), args)
		if err != nil {
			return err
		}
		return a.printComparison(&w)
	}
}

// printComparison prints a comparison of two runs.
func (a *app) printComparison(w *api.Why) error {
	return a.Print(w, func(out io.Writer) {
		for _, l := range listing.WhyLines(w) {
			fmt.Fprintln(out, l)
		}
	})
}

// explainFailure compares the first run with the second, or with the newest good run of the same command. Without arguments it
// takes the newest failure.
func (a *app) explainFailure(ctx context.Context, args []string) (api.Why, error) {
	b, err := a.connect()
	if err != nil {
		return api.Why{}, err
	}
	var runs [2]runRef
	for i := range min(len(args), len(runs)) {
		if runs[i], err = parseRunRef(args[i]); err != nil {
			return api.Why{}, err
		}
	}
	if len(args) == 0 {
		if runs[0], err = newestFailure(ctx, b.client); err != nil {
			return api.Why{}, err
		}
	}
	return b.client.Session(runs[0].session).Why(ctx, runs[0].n, runs[1].session, runs[1].n)
}

// runRef names a run: command n of a session, or with n 0 a job, the newest failed command of a session, or its program.
type runRef struct {
	session string
	n       int
}

// parseRunRef parses S, S:N and a job's id.
func parseRunRef(arg string) (runRef, error) {
	i := strings.LastIndexByte(arg, ':')
	if i < 0 {
		return runRef{session: arg}, nil
	}
	n, err := strconv.Atoi(arg[i+1:])
	if err != nil || n < 1 || i == 0 {
		return runRef{}, exit.Usagef("%q: invalid run; give SESSION:NUMBER, a session or a job", arg)
	}
	return runRef{arg[:i], n}, nil
}

// newestFailure returns the newest failed command of all shells, programs and jobs.
func newestFailure(ctx context.Context, c *client.Client) (runRef, error) {
	var best runRef
	var at time.Time
	list, err := c.Commands(ctx, client.CommandQuery{Failed: true, Limit: 1})
	if err != nil {
		return best, err
	}
	if len(list) > 0 {
		best, at = runRef{list[0].Session, list[0].N}, list[0].Started
	}
	for _, labels := range [][]string{nil, {api.KeptRunLabel}} {
		sessions, err := c.List(ctx, labels...)
		if err != nil {
			return best, err
		}
		for i := range sessions {
			s := &sessions[i]
			if failed := s.State == "exited" && (s.Signal != "" || s.ExitCode != nil && *s.ExitCode != 0); failed && s.Shell == nil && s.Created.After(at) {
				best, at = runRef{session: s.ID}, s.Created
			}
		}
	}
	if best.session == "" {
		return best, api.Errorf(api.CodeNotFound, "no failed command is known").
			WithHint("`longterm commands` lists commands, `longterm why S:N` compares any of them; runs of `longterm watch` are not kept, those of `longterm run` are")
	}
	return best, nil
}
