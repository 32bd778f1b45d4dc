//go:build unix

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/client"
)

func screenCommand(a *app) *cobra.Command {
	var q client.ScreenQuery
	var format string
	c := a.on("screen S", "Print a session's screen", cobra.ExactArgs(1),
		func(cmd *cobra.Command, s *client.Session, _ []string) error {
			if a.json {
				format = "json"
			}
			if err := checkFormat(format); err != nil {
				return err
			}
			b, err := s.ScreenAs(cmd.Context(), q, format)
			if err != nil {
				return err
			}
			return a.printScreen(b, format)
		})
	f := c.Flags()
	f.StringVar(&format, "format", "text", "format: "+strings.Join(screenFormats, ", "))
	f.Uint64Var(&q.Since, "since", 0, "only rows that changed after this version (json)")
	f.StringVar(&q.Screen, "screen", "active", "which one: active, primary, alternate")
	f.StringVar(&q.Scrollback, "scrollback", "", "lines A:B of the history as well; 0 is the oldest, negative counts from the newest")
	f.StringVar(&q.At, "at", "", "the screen as it stood at a moment: "+momentForms)
	return a.jsonFlag(c)
}

// momentForms says how a moment of a session is given.
const momentForms = "an offset, a time (15:04, 2026-01-31 15:04:05), -5m (ago) or +90s (after the start)"
