//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/sourcepos"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/listing"
	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/shellquote"
)

func searchVerb(a *app, c *cobra.Command) {
	var f searchFlags
	var open bool
	c.Long = `Search the output of all sessions, running and ended, newest lines first. QUERY is text anywhere in a line,
without regard to case; with --regex a regular expression (RE2), with --word whole words in any order.

  longterm search connection refused
  longterm search -E 'error: .*timeout' --since -2h

A hit is session:offset, time and line. Use the offset with ` + "`longterm screen S --at OFFSET`" + ` and
` + "`longterm output S --from OFFSET`" + `. The newest output and unfinished lines are included. The exit status is 1 if
nothing is found.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		q, err := f.query(args)
		if err != nil {
			return err
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		found, err := b.client.Search(cmd.Context(), q)
		if err != nil {
			return err
		}
		if found.Note != "" {
			fmt.Fprintf(a.Stderr, "longterm: %s\n", found.Note)
		}
		if open {
			return a.openHit(cmd.Context(), b.client, &found)
		}
		if err := a.Print(found, func(w io.Writer) { writeHits(w, &found, a.TableLook()) }); err != nil {
			return err
		}
		switch {
		case found.Truncated:
			return fmt.Errorf("search incomplete (the pattern contains no fixed text); narrow it, or continue with --before %s", found.Next)
		case len(found.Hits) == 0:
			f.hintRegexp(a, strings.Join(args, " "))
			return exit.Silent(api.ExitFailure)
		}
		return nil
	}
	f.bind(c)
	flags := c.Flags()
	flags.BoolVar(&open, "open", false, "open the newest hit with file and line, such as main.go:7, in an editor (editor.command, $VISUAL or $EDITOR)")
	flags.StringVar(&f.q.Session, "session", "", "only hits of this `SESSION`")
	flags.IntVarP(&f.q.Limit, "limit", "n", 50, "maximum `NUMBER` of hits, the newest")
	flags.StringVar(&f.q.Before, "before", "", "`POSITION` at which to continue: the next value of an earlier search")
}

// searchFlags holds the flags that the searching verbs share.
type searchFlags struct {
	q            client.SearchQuery
	regex, words bool
}

func (f *searchFlags) bind(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVarP(&f.regex, "regex", "E", false, "QUERY as a regular expression (RE2)")
	flags.BoolVarP(&f.words, "word", "w", false, "QUERY as whole words, all of which must occur")
	flags.BoolVar(&f.q.CaseSensitive, "case", false, "match case")
	flags.StringVar(&f.q.Since, "since", "", "output from this `TIME` on: 15:04, 2026-01-31, -2h")
	flags.StringVar(&f.q.Until, "until", "", "output before this `TIME`")
}

// query returns the search that the flags and QUERY describe.
func (f *searchFlags) query(args []string) (client.SearchQuery, error) {
	q := f.q
	switch {
	case f.regex && f.words:
		return q, exit.Usagef("--regex and --word exclude each other")
	case f.regex:
		q.Regexp = strings.Join(args, " ")
	case f.words:
		q.Words = args
	default:
		q.Text = strings.Join(args, " ")
	}
	return q, nil
}

// regexpSigns matches a text that is probably meant as a regular expression.
var regexpSigns = pattern.Lazy(`\\[|dswbDSWB().]|\.[*+]|\[[^\]]+\][*+]?|\(.*\|.*\)|^\^|\$$`)

// hintRegexp prints the command that searches for a regular expression, if the text that was not found looks like one.
func (f *searchFlags) hintRegexp(a *app, text string) {
	re := strings.NewReplacer(`\|`, "|", `\(`, "(", `\)`, ")").Replace(text)
	if f.words || a.JSON || !regexpSigns.MatchString(text) || f.regex && re == text {
		return
	}
	fmt.Fprintf(a.Stderr, "longterm: not found as text; for a regular expression use `longterm search -E %s`\n", output.Printable(shellquote.Word(re)))
}

// openHit opens the newest hit that has a file and line.
func (a *app) openHit(ctx context.Context, c *client.Client, found *api.Found) error {
	for i := range found.Hits {
		p, ok, err := sourcepos.InHit(ctx, c, &found.Hits[i], a.host)
		if err != nil {
			return err
		}
		if ok {
			return a.openPlace(ctx, []sourcepos.Place{p}, 1)
		}
	}
	if len(found.Hits) == 0 {
		return errors.New("nothing found")
	}
	return fmt.Errorf("no hit has a file and line, such as main.go:7 (%d lines found)", len(found.Hits))
}

func writeHits(w io.Writer, found *api.Found, look listing.TableFormat) {
	rows := make([][]string, 0, len(found.Hits))
	var marks []string
	for _, h := range found.Hits {
		text := h.Text
		if h.Cut {
			text = "…" + text + "…"
		}
		for _, m := range h.Matches {
			if mark := output.Printable(h.Text[m[0]:m[1]]); !slices.Contains(marks, mark) {
				marks = append(marks, mark)
			}
		}
		rows = append(rows, []string{fmt.Sprintf("%s:%d", output.Printable(h.Name), h.From), h.Time.Local().Format("2006-01-02 15:04:05"), output.Printable(text)})
	}
	slices.SortFunc(marks, func(a, b string) int { return len(b) - len(a) }) // the longest of several at one place is shown
	_ = listing.WriteTable(w, []listing.Column{{Head: "WHERE", ShrinkTo: 12, KeepsTail: true}, {Head: "TIME", Style: listing.AsFaint}, {Head: "TEXT", ShrinkTo: 10, Marks: marks}}, rows, look)
}
