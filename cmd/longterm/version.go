package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/fastpath"
)

// version returns the name of this build: the release, or the commit it was built from.
func version() string { return fastpath.Version() }

// probeLine returns the line with which an upgrade checks this executable; nil: this system has no daemon.
var probeLine func() string

func versionVerb(a *app, c *cobra.Command) {
	c.Long = "Print the version of longterm, with --json also those of Go, system and architecture.\n\n  longterm version --json"
	probe := false
	c.RunE = func(*cobra.Command, []string) error {
		if probe && probeLine != nil {
			_, err := fmt.Fprintln(a.Stdout, probeLine())
			return err
		}
		v := struct {
			Version string `json:"version"`
			Go      string `json:"go"`
			OS      string `json:"os"`
			Arch    string `json:"arch"`
		}{version(), runtime.Version(), runtime.GOOS, runtime.GOARCH}
		return a.Print(v, func(w io.Writer) {
			_, _ = io.WriteString(w, fastpath.VersionLine())
		})
	}
	c.Flags().BoolVar(&probe, "probe", false, "check line for an upgrade")
	_ = c.Flags().MarkHidden("probe") // the flag exists
}
