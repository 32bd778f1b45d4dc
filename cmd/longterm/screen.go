//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/flagvalues"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/client"
)

func screenVerb(a *app, c *cobra.Command) {
	var q client.ScreenQuery
	var o output.ScreenFlags
	var reveal bool
	c.Long = `Print a session's screen as text, JSON, HTML or an image.

  longterm screen work
  longterm screen work --format png > work.png
  longterm screen work --at -5m`
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, _ []string) error {
		if err := o.Check(&a.Printer); err != nil {
			return err
		}
		if err := flagvalues.OneOf("--screen", q.Screen, "active", "primary", "alternate"); err != nil {
			return err
		}
		if q.MaxOutput < 0 || q.MaxOutput > output.MaxBudget {
			return exit.Usagef("--max-output: out of range (1 to %d bytes, or 0 for all)", output.MaxBudget)
		}
		if reveal {
			s = s.Reveal()
		}
		l := &o.Look
		q.Picture = client.Picture{
			Theme: l.Theme, Scale: l.Scale, Padding: l.Padding, Window: l.Window, Margin: l.Margin, MarginColor: l.MarginColor, NoCursor: l.NoCursor, Cursor: l.CursorShape,
			Fonts: l.Fonts, Styles: l.Styles,
		}
		q.NoColor, q.Trim = l.NoColor, l.Trim
		b, err := s.ScreenAs(cmd.Context(), q, o.Format)
		if err != nil {
			return err
		}
		return a.PrintScreen(b, &o)
	})
	f := c.Flags()
	f.BoolVar(&reveal, "reveal", false, revealHelp)
	o.Add(f)
	f.Uint64Var(&q.Since, "since", 0, "only rows that changed after this screen `VERSION` (json)")
	f.StringVar(&q.Screen, "screen", "active", "`SCREEN`: active, primary, alternate")
	f.StringVar(&q.Scrollback, "scrollback", "", "lines `A:B` of the scrollback too; 0 is the oldest, negative counts from the newest")
	f.StringVar(&q.At, "at", "", "screen at an earlier `MOMENT`: "+flagvalues.MomentForms)
	f.IntVar(&q.MaxOutput, "max-output", 0, "text, ansi, md: maximum `BYTES`, head and tail (default: all)")
}
