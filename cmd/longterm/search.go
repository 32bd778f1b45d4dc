//go:build unix

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func searchVerb(a *app, c *cobra.Command) {
	var q client.SearchQuery
	var regex, words bool
	c.Long = `Search the output of all sessions, running and ended ones, newest lines first. QUERY is a text, found anywhere
in a line, in upper or lower case; with --regex a regular expression (RE2), with --word whole words in any
order. Each hit is printed as session:offset, time and line; use the offset with
` + "`longterm screen S --at OFFSET` and `longterm output S --from OFFSET`" + `. Exit status 1 when nothing is found.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case regex && words:
			return exit.Usagef("--regex and --word do not go together")
		case regex:
			q.Regexp = strings.Join(args, " ")
		case words:
			q.Words = args
		default:
			q.Text = strings.Join(args, " ")
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		found, err := b.client.Search(cmd.Context(), q)
		if err != nil {
			return err
		}
		if err := a.Print(found, func(w io.Writer) { writeHits(w, &found) }); err != nil {
			return err
		}
		switch {
		case found.Truncated:
			return fmt.Errorf("the search stopped early: the pattern contains no fixed text; narrow it, or continue with --before %s", found.Next)
		case len(found.Hits) == 0:
			return exit.Silent(api.ExitFailure)
		}
		return nil
	}
	f := c.Flags()
	f.BoolVarP(&regex, "regex", "E", false, "QUERY is a regular expression (RE2)")
	f.BoolVarP(&words, "word", "w", false, "QUERY is words, each of which occurs as a whole word")
	f.BoolVar(&q.CaseSensitive, "case", false, "match case")
	f.StringVar(&q.Session, "session", "", "only in this session")
	f.StringVar(&q.Since, "since", "", "printed at this time or later: 15:04, 2026-01-31, -2h")
	f.StringVar(&q.Until, "until", "", "printed before this time")
	f.IntVarP(&q.Limit, "limit", "n", 50, "at most this many, the newest")
	f.StringVar(&q.Before, "before", "", "continue an earlier search at its next value")
}

func writeHits(w io.Writer, found *api.Found) {
	for _, h := range found.Hits {
		text := h.Text
		if h.Cut {
			text = "…" + text + "…"
		}
		fmt.Fprintf(w, "%s:%d  %s  %s\n", output.Printable(h.Name), h.From, h.Time.Local().Format("2006-01-02 15:04:05"), output.Printable(text))
	}
}
