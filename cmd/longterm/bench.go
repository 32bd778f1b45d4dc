package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/companion"
)

func benchVerb(a *app, c *cobra.Command) {
	c.Use, c.Long = "bench [MEASUREMENT …]", `Measure longterm on this machine and compare it with other programs. The measurements are a separate program,
ltbench, which must be beside this program or in PATH.

  longterm bench --help        # list the measurements
  longterm bench emulator`
	passOn(c)
}

// passOn makes c run ltbench with the arguments in before, followed by c's own.
func passOn(c *cobra.Command, before ...string) {
	c.DisableFlagParsing = true
	c.RunE = func(_ *cobra.Command, args []string) error {
		path, err := companion.Find("ltbench")
		if err != nil {
			return err
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		return companion.Replace(path, append(before, args...), []string{companion.Env + "=" + self})
	}
}
