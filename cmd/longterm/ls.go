//go:build unix

package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/listing"
)

func lsVerb(a *app, c *cobra.Command) {
	var labels []string
	var format string
	c.Long = `List sessions. --format writes each by a template instead of the table, in a line of its own: Go's
text/template over the fields that --json has, \t and \n as usual.

  longterm ls -F '{{.name}}\t{{.state}}\t{{.cwd}}'
  longterm ls -F '{{short .id}} {{elapsed .duration_ms}} {{with .needs_input.kind}}asks: {{.}}{{end}}'

Besides Go's functions there are short (of an id), elapsed (of milliseconds), shorten N, upper, quote, join SEP and
json; labels are {{index .labels "NAME"}}. Control characters in texts are replaced.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		var template *output.Template
		if format != "" {
			var err error
			if template, err = output.NewTemplate("--format", format, api.Session{}); err != nil {
				return err
			}
			if a.JSON {
				return exit.Usagef("--format and --json: choose one")
			}
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		if !a.JSON && template == nil {
			table, err := b.client.Table(cmd.Context(), labels...)
			if err == nil {
				_, err = a.Stdout.Write(table)
			}
			if e := new(api.Error); !errors.As(err, &e) || e.Code != api.CodeNotFound {
				return err
			} // a daemon of before there were tables
		}
		list, err := b.client.List(cmd.Context(), labels...)
		if err != nil {
			return err
		}
		if template != nil {
			return template.WriteAll(a.Stdout, list)
		}
		if a.JSON {
			return a.Print(list, nil)
		}
		return listing.Table(a.Stdout, list)
	}
	c.Flags().StringVarP(&format, "format", "F", "", "template for each session, as in '{{.name}} {{.state}}'")
	c.Flags().StringArrayVar(&labels, "label", nil, "only sessions with this label, NAME or NAME=VALUE, repeatable")
}
