//go:build unix

package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/listing"
)

func lsVerb(a *app, c *cobra.Command) {
	var labels []string
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		if !a.JSON {
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
		if a.JSON {
			return a.Print(list, nil)
		}
		return listing.Table(a.Stdout, list)
	}
	c.Flags().StringArrayVar(&labels, "label", nil, "only sessions with this label, NAME or NAME=VALUE, repeatable")
}
