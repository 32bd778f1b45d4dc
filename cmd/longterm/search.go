//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/places"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/listing"
	"github.com/longterm-dev/longterm/session/pattern"
)

func searchVerb(a *app, c *cobra.Command) {
	var f searchFlags
	var open bool
	c.Long = `Search the output of all sessions, running and ended ones, newest lines first. QUERY is a text, found anywhere
in a line, in upper or lower case; with --regex a regular expression (RE2), with --word whole words in any
order. Each hit is printed as session:offset, time and line; use the offset with
` + "`longterm screen S --at OFFSET` and `longterm output S --from OFFSET`" + `. Exit status 1 when nothing is found. What was
printed a moment ago is searched, too, and so are unfinished lines.`
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
		if err := a.Print(found, func(w io.Writer) { writeHits(w, &found, termio.Width(a.Stdout)) }); err != nil {
			return err
		}
		switch {
		case found.Truncated:
			return fmt.Errorf("the search stopped early: the pattern contains no fixed text; narrow it, or continue with --before %s", found.Next)
		case len(found.Hits) == 0:
			f.hintRegexp(a, strings.Join(args, " "))
			return exit.Silent(api.ExitFailure)
		}
		return nil
	}
	f.bind(c)
	flags := c.Flags()
	flags.BoolVar(&open, "open", false, "open the newest line that names a place, as in main.go:7, in an editor ($VISUAL, $EDITOR or editor.command of the configuration)")
	flags.StringVar(&f.q.Session, "session", "", "only in this session")
	flags.IntVarP(&f.q.Limit, "limit", "n", 50, "at most this many, the newest")
	flags.StringVar(&f.q.Before, "before", "", "continue an earlier search at its next value")
}

// searchFlags are the flags of the verbs that search, which say what QUERY is.
type searchFlags struct {
	q            client.SearchQuery
	regex, words bool
}

func (f *searchFlags) bind(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVarP(&f.regex, "regex", "E", false, "QUERY is a regular expression (RE2)")
	flags.BoolVarP(&f.words, "word", "w", false, "QUERY is words, each of which occurs as a whole word")
	flags.BoolVar(&f.q.CaseSensitive, "case", false, "match case")
	flags.StringVar(&f.q.Since, "since", "", "printed at this time or later: 15:04, 2026-01-31, -2h")
	flags.StringVar(&f.q.Until, "until", "", "printed before this time")
}

// query is what the flags and QUERY ask for.
func (f *searchFlags) query(args []string) (client.SearchQuery, error) {
	q := f.q
	switch {
	case f.regex && f.words:
		return q, exit.Usagef("--regex and --word do not go together")
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
	fmt.Fprintf(a.Stderr, "longterm: not found: QUERY is a text unless -E is given: `longterm search -E '%s'`\n", output.Printable(re))
}

// openHit opens the newest place that a found line names.
func (a *app) openHit(ctx context.Context, c *client.Client, found *api.Found) error {
	for i := range found.Hits {
		p, ok, err := places.InHit(ctx, c, &found.Hits[i], a.host)
		if err != nil {
			return err
		}
		if ok {
			return a.openPlace(ctx, []places.Place{p}, 1)
		}
	}
	if len(found.Hits) == 0 {
		return errors.New("nothing was found")
	}
	return fmt.Errorf("none of the %d lines found names a place in a file, as in main.go:7", len(found.Hits))
}

func writeHits(w io.Writer, found *api.Found, width int) {
	rows := make([][]string, 0, len(found.Hits))
	for _, h := range found.Hits {
		text := h.Text
		if h.Cut {
			text = "…" + text + "…"
		}
		rows = append(rows, []string{fmt.Sprintf("%s:%d", output.Printable(h.Name), h.From), h.Time.Local().Format("2006-01-02 15:04:05"), output.Printable(text)})
	}
	_ = listing.Write(w, []listing.Column{{Head: "WHERE", Least: 12, Tail: true}, {Head: "TIME"}, {Head: "TEXT", Least: 10}}, rows, width)
}
