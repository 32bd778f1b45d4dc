package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/shortcut"
)

// version names this build: the release, else the commit it was made from.
func version() string { return shortcut.Version() }

// probeLine is what this program says of itself to one whose place it is to take; nil: it
// takes none's.
var probeLine func() string

func versionVerb(a *app, c *cobra.Command) {
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
			_, _ = io.WriteString(w, shortcut.VersionLine())
		})
	}
	c.Flags().BoolVar(&probe, "probe", false, "say what an upgrade asks")
	_ = c.Flags().MarkHidden("probe") // it is there
}
