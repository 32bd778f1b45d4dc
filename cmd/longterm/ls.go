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
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/listing"
)

func lsVerb(a *app, c *cobra.Command) {
	var labels []string
	var format string
	var all, running bool
	c.Long = `List sessions. On a terminal, rows are cut to its width, ~ is the home directory, progress has a bar, and the first
error of a shell's newest command is shown. --format prints each session by a template instead, one per line:
Go's text/template over the fields of --json, with \t and \n.

  longterm ls
  longterm ls -F '{{.name}}\t{{.state}}\t{{.cwd}}'
  longterm ls -F '{{short .id}} {{elapsed .duration_ms}} {{with .needs_input.kind}}asks: {{.}}{{end}}'

Template functions besides Go's: short (id), elapsed (milliseconds), shorten N, upper, quote, join SEP, json.
A label is {{index .labels "NAME"}}. Control characters in texts are replaced.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		var template *output.Template
		if format != "" {
			var err error
			if template, err = output.NewTemplate(cmd.Context(), "--format", format, api.Session{}); err != nil {
				return err
			}
			if a.JSON {
				return exit.Usagef("--format and --json exclude each other")
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
			table, err := b.client.TableWithin(cmd.Context(), a.TableLook().Width, a.TableLook().Colour, labels...)
			if err == nil {
				_, err = a.Stdout.Write(table)
			}
			if e := new(api.Error); !errors.As(err, &e) || e.Code != api.CodeNotFound {
				return err
			} // a daemon from before tables existed
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
		return listing.WriteSessions(a.Stdout, list, a.TableLook(), home)
	}
	c.Flags().StringVarP(&format, "format", "F", "", "`TEMPLATE` per session, such as '{{.name}} {{.state}}'")
	c.Flags().BoolP("all", "a", false, "ended sessions too (always on; accepted for habit)") // users of other tools type it
	c.Flags().BoolVar(&running, "running", false, "only running sessions")
	c.Flags().BoolVar(&all, "all-hosts", false, "sessions of this host and all of hosts.names, as HOST/NAME; silent hosts are reported")
	c.Flags().StringArrayVar(&labels, "label", nil, "only sessions with this `LABEL`, NAME or NAME=VALUE; repeatable")
}

func hasEnded(s api.Session) bool { return s.State != "running" }

// listAll lists the sessions of several hosts. It reports hosts that do not answer, and returns the first one's error.
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
		err = listing.WriteSessions(a.Stdout, list, a.TableLook(), home)
	}
	if err != nil || len(missing) == 0 {
		return err
	}
	for _, m := range missing[1:] {
		a.PrintError(m, a.JSON)
	}
	return missing[0]
}
