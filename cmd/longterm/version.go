package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/shortcut"
)

// version names this build: the release, else the commit it was made from.
func version() string {
	if shortcut.Release != "" {
		return shortcut.Release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	rev, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			rev = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if rev == "" {
		return "devel"
	}
	return "devel-" + rev + dirty
}

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
			_, _ = io.WriteString(w, shortcut.VersionLine(v.Version))
		})
	}
	c.Flags().BoolVar(&probe, "probe", false, "say what an upgrade asks")
	_ = c.Flags().MarkHidden("probe") // it is there
}
