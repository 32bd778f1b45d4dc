package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/companion"
)

func benchVerb(a *app, c *cobra.Command) {
	c.Use, c.Long = "bench [MEASUREMENT …]", `Measure longterm on this machine, and compare it with others. The measurements are a separate program, ltbench, which is looked
for beside this one and in PATH. "longterm bench --help" lists them.`
	passOn(c)
}

// passOn makes a verb run ltbench, with before and all arguments of the verb.
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
