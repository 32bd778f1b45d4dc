//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/listing"
)

func lsVerb(a *app, c *cobra.Command) {
	var labels []string
	var format string
	var all, running bool
	c.Long = `List sessions. On a terminal, rows fit its width and ~ is the home directory. --format writes each by a
template instead of the table, on a separate line: Go's text/template over the fields that --json has, \t and \n as usual.

  longterm ls -F '{{.name}}\t{{.state}}\t{{.cwd}}'
  longterm ls -F '{{short .id}} {{elapsed .duration_ms}} {{with .needs_input.kind}}asks: {{.}}{{end}}'

Besides Go's functions there are short (of an id), elapsed (of milliseconds), shorten N, upper, quote, join SEP and
json; labels are {{index .labels "NAME"}}. Control characters in texts are replaced.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		var template *output.Template
		if format != "" {
			var err error
			if template, err = output.NewTemplate(cmd.Context(), "--format", format, api.Session{}); err != nil {
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
		if all {
			return a.listAll(cmd.Context(), b, labels, running, template)
		}
		if !a.JSON && template == nil && !running {
			table, err := b.client.TableWithin(cmd.Context(), termio.Width(a.Stdout), labels...)
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
		if running {
			list = slices.DeleteFunc(list, hasEnded)
		}
		if template != nil {
			return template.WriteAll(cmd.Context(), a.Stdout, list)
		}
		if a.JSON {
			return a.Print(list, nil)
		}
		home, _ := os.UserHomeDir() // "": directories stay whole
		return listing.Fit(a.Stdout, list, termio.Width(a.Stdout), home)
	}
	c.Flags().StringVarP(&format, "format", "F", "", "template for each session, as in '{{.name}} {{.state}}'")
	c.Flags().BoolP("all", "a", false, "those that have ended, too; they are listed without it as well") // what people type whose tools hide them
	c.Flags().BoolVar(&running, "running", false, "only those that run")
	c.Flags().BoolVar(&all, "all-hosts", false, "those of this host and of all of hosts.names, as HOST/NAME; a host that does not answer is named")
	c.Flags().StringArrayVar(&labels, "label", nil, "only sessions with this label, NAME or NAME=VALUE, repeatable")
}

func hasEnded(s api.Session) bool { return s.State != "running" }

// listAll lists the sessions of several hosts. Those that do not answer are told of, and make the exit status.
func (a *app) listAll(ctx context.Context, b *backend, labels []string, running bool, template *output.Template) error {
	h, err := a.hosts()
	if err != nil {
		return err
	}
	list, missing := h.ListAll(ctx, b.options, labels)
	if running {
		list = slices.DeleteFunc(list, hasEnded)
	}
	switch {
	case template != nil:
		err = template.WriteAll(ctx, a.Stdout, list)
	case a.JSON:
		err = a.Print(list, nil)
	default:
		for i := range list {
			if s := &list[i]; s.Host != "" {
				s.Name = s.Host + "/" + s.Name
			}
		}
		home, _ := os.UserHomeDir()
		err = listing.Fit(a.Stdout, list, termio.Width(a.Stdout), home)
	}
	if err != nil || len(missing) == 0 {
		return err
	}
	for _, m := range missing[1:] {
		a.Tell(m, a.JSON)
	}
	return missing[0]
}
